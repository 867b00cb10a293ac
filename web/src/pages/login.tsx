import { useState } from 'preact/hooks';

import { logIn, sessionEnd } from '../api';

export function LogIn() {
  const [kind, setKind] = useState<'token' | 'client'>('token');
  const [failure, setFailure] = useState('');
  const [running, setRunning] = useState(false);
  const submit = async (form: HTMLFormElement) => {
    const values = new FormData(form);
    const text = (name: string) => String(values.get(name) ?? '').trim();
    setRunning(true);
    setFailure('');
    try {
      await logIn(kind === 'token' ? { token: text('token') } : { clientId: text('clientId'), accessToken: text('accessToken') });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setRunning(false);
    }
  };
  return (
    <main class="login">
      <h1>muster</h1>
      <form onSubmit={event => { event.preventDefault(); void submit(event.currentTarget); }}>
        {sessionEnd.value && !failure && <p role="status">{sessionEnd.value}</p>}
        <fieldset>
          <legend>Log in with</legend>
          <label><input type="radio" name="kind" checked={kind === 'token'} onChange={() => setKind('token')} /> a token</label>
          <label><input type="radio" name="kind" checked={kind === 'client'} onChange={() => setKind('client')} /> a client and its access token</label>
        </fieldset>
        {kind === 'token' ? (
          <label>Token <input name="token" type="password" autoComplete="current-password" required /></label>
        ) : (
          <>
            <label>Client <input name="clientId" autoComplete="username" required /></label>
            <label>Access token <input name="accessToken" type="password" autoComplete="current-password" required /></label>
          </>
        )}
        {failure && <div class="problem" role="alert">{failure}</div>}
        <button type="submit" class="main" disabled={running}>Log in</button>
        <p class="quiet">
          The admin's token is in the file <code>admin-token</code> of the host's data directory. A session lasts 8 hours; it may do
          what the token may do. To make a token for reading: <code>muster client create NAME --kind token --scope 'muster:get:*'</code>
        </p>
      </form>
    </main>
  );
}
