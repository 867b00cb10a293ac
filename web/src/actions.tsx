// Everything that a person can do here, each with the command that does the same.
import { timeFrom, type Action, type Field, type Values } from './action';
import { pathOf, withQuery } from './api';
import type { Client, ClientWithSecret, Hold, LaunchConfig, QueueRequest, Worker } from './api_types';
import { Id } from './components';
import { shellWord } from './format';

const command = (...words: (string | false | undefined)[]) =>
  ['muster', ...words.filter((word): word is string => !!word)].map(shellWord).join(' ');
const reasonOf = ({ reason }: Values) => (reason ? ['--reason', reason] : []);
const endless = '9999-12-31T23:59:59.999Z';

const until: Field = { id: 'until', label: 'Until', hint: '+2h, +3d, or a time such as 2030-01-31T12:00Z; empty: until it is ended' };

// The command line takes both forms, too.
function endOf({ until: text }: Values): string[] {
  if (!text) return [];
  const span = /^\+?(\d+)\s*(s|min|h|d)$/.exec(text.trim());
  return span ? ['--for', span[1] + (span[2] === 'min' ? 'm' : span[2])] : ['--until', timeFrom(text, 0) ?? text];
}

function pauseBody(values: Values) {
  const end = values.until ? timeFrom(values.until, Date.now()) : endless;
  if (!end) throw new Error(`"${values.until}" is no time; write +2h, +3d, or 2030-01-31T12:00Z`);
  return { until: end, ...(values.reason ? { reason: values.reason } : {}) };
}

// -------------------------------------------------------------------------------------------------
// Pools

export const pausePool = (pool: string): Action => ({
  name: 'Pause',
  sentence: `No workers of ${pool} are launched until the pause ends. Workers that run go on.`,
  scope: `muster:pause-launch-config:${pool}`,
  fields: [until],
  reason: true,
  command: values => command('pool', 'pause', pool, ...endOf(values), ...reasonOf(values)),
  request: values => ({ method: 'POST', path: `${pathOf('pools', pool, 'pause')}`, body: pauseBody(values) }),
});

export const resumePool = (pool: string): Action => ({
  name: 'Resume',
  sentence: `The pause of ${pool} and of all its launch configurations ends now: workers are launched if there is work.`,
  scope: `muster:resume-launch-config:${pool}`,
  command: () => command('pool', 'resume', pool),
  request: () => ({ method: 'POST', path: pathOf('pools', pool, 'resume') }),
});

export const pauseLaunchConfig = ({ workerPoolId: pool, launchConfigId: id }: LaunchConfig): Action => ({
  name: 'Pause',
  sentence: `No workers are launched from ${id} until the pause ends; the pool's other launch configurations go on.`,
  scope: `muster:pause-launch-config:${pool}`,
  fields: [until],
  reason: true,
  command: values => command('launch-config', 'pause', pool, id, ...endOf(values), ...reasonOf(values)),
  request: values => ({ method: 'POST', path: pathOf('pools', pool, 'launch-configs', id, 'pause'), body: pauseBody(values) }),
});

export const resumeLaunchConfig = ({ workerPoolId: pool, launchConfigId: id }: LaunchConfig): Action => ({
  name: 'Resume',
  sentence: `Workers may be launched from ${id} again.`,
  scope: `muster:resume-launch-config:${pool}`,
  command: () => command('launch-config', 'resume', pool, id),
  request: () => ({ method: 'POST', path: pathOf('pools', pool, 'launch-configs', id, 'resume') }),
});

const teams: Field = { id: 'teams', label: 'Teams', hint: 'with blanks between them', required: true };
const teamsOf = (values: Values) => (values.teams ?? '').split(/[\s,]+/).filter(Boolean);

const attachment = (pool: string, attach: boolean): Action => ({
  name: attach ? 'Attach teams' : 'Detach teams',
  sentence: attach
    ? `These teams get workers of ${pool}; if it is dedicated, only teams that are attached do.`
    : `These teams get no workers of ${pool} any more; a dedicated pool without teams serves nobody.`,
  scope: `muster:manage-worker-pools:${pool}`,
  fields: [teams],
  harmful: !attach,
  command: values => command('pool', attach ? 'attach' : 'detach', pool, ...teamsOf(values).flatMap(team => ['--team', team])),
  request: values => ({
    method: 'POST', path: pathOf('worker-pools', pool, attach ? 'attach' : 'detach'), body: { teams: teamsOf(values) },
  }),
});
export const attachTeams = (pool: string) => attachment(pool, true);
export const detachTeams = (pool: string) => attachment(pool, false);

// -------------------------------------------------------------------------------------------------
// Workers

type Named = Pick<Worker, 'workerPoolId' | 'workerGroup' | 'workerId'>;
const nameOf = (worker: Named) => `${worker.workerGroup}/${worker.workerId}`;
const workerPath = (worker: Named, ...more: string[]) =>
  pathOf('pools', worker.workerPoolId, 'workers', worker.workerGroup, worker.workerId, ...more);
const workerCommand = (verb: string, worker: Named, ...more: string[]) =>
  command('worker', verb, nameOf(worker), '--pool', worker.workerPoolId, ...more);

export const drainWorker = (worker: Named): Action => ({
  name: 'Drain',
  sentence: `${nameOf(worker)} gets no new work and ends when it has none.`,
  scope: `muster:remove-worker:${worker.workerPoolId}`,
  reason: true,
  command: values => workerCommand('drain', worker, ...reasonOf(values)),
  request: values => ({ method: 'POST', path: workerPath(worker, 'drain'), body: values.reason ? { reason: values.reason } : {} }),
});

export const terminateWorker = (worker: Named): Action => ({
  name: 'Terminate',
  sentence: `${nameOf(worker)} ends at once. The work that it does now is lost.`,
  scope: `muster:remove-worker:${worker.workerPoolId}`,
  harmful: true,
  command: () => workerCommand('terminate', worker, '--yes'),
  request: () => ({ method: 'DELETE', path: workerPath(worker) }),
});

export const quarantineWorker = (worker: Named): Action => ({
  name: 'Quarantine',
  sentence: `${nameOf(worker)} gets no work until the quarantine ends, and is not replaced by it.`,
  scope: `muster:quarantine-worker:${worker.workerPoolId}`,
  fields: [until, { id: 'reason', label: 'Reason', required: true }],
  command: values => workerCommand('quarantine', worker, ...endOf(values), ...reasonOf(values)),
  request: values => ({ method: 'POST', path: workerPath(worker, 'quarantine'), body: pauseBody(values) }),
});

export const releaseWorker = (worker: Named): Action => ({
  name: 'Release',
  sentence: `The quarantine of ${nameOf(worker)} ends, and it gets work again.`,
  scope: `muster:quarantine-worker:${worker.workerPoolId}`,
  reason: true,
  command: values => workerCommand('release', worker, ...reasonOf(values)),
  request: values => ({
    method: 'POST', path: workerPath(worker, 'quarantine'),
    body: { until: '2000-01-01T00:00:00Z', ...(values.reason ? { reason: values.reason } : {}) },
  }),
});

// -------------------------------------------------------------------------------------------------
// Holds, requests, configurations, plugins

export const releaseHold = (hold: Hold): Action => ({
  name: 'Release',
  sentence: `Launches at ${hold.providerId} that this hold stops are tried again now: ${hold.scope || 'everything'}.`,
  scope: `muster:release-hold:${hold.providerId}`,
  command: () => command('hold', 'release', hold.providerId, '--scope', hold.scope),
  request: () => ({ method: 'DELETE', path: withQuery(pathOf('holds', hold.providerId), { scope: hold.scope }) }),
});

export const cancelRequest = ({ requestId, team, state }: QueueRequest): Action => ({
  name: state === 'held' ? 'End lease' : 'Cancel request',
  sentence: state === 'held'
    ? `The lease of request ${requestId} ends: team ${team} loses its worker.`
    : `Request ${requestId} of team ${team} waits no longer.`,
  scope: `muster:request-worker:${team}`,
  harmful: true,
  command: () => command('request', 'cancel', requestId),
  request: () => ({ method: 'DELETE', path: pathOf('teams', team, 'requests', requestId) }),
});

export const reloadConfigurations: Action = {
  name: 'Reload',
  sentence: 'The host reads its worker configurations again now. What is wrong is refused, and the last good version stays in force.',
  scope: 'muster:reload-worker-configurations',
  command: () => command('config', 'reload'),
  request: () => ({ method: 'POST', path: 'worker-configurations/reload' }),
};

export const rollBackPlugin = (pluginId: string): Action => ({
  name: 'Roll back',
  sentence: `${pluginId} goes back to the version before, until another one is dropped in.`,
  scope: `muster:rollback-plugin:${pluginId}`,
  harmful: true,
  command: () => command('plugin', 'rollback', pluginId),
  request: () => ({ method: 'POST', path: pathOf('plugins', pluginId, 'rollback') }),
});

// -------------------------------------------------------------------------------------------------
// Clients

const clientPath = (id: string, ...more: string[]) => ['clients', ...id.split('/'), ...more].map(encodeURIComponent).join('/');

const secretOf = (answer: ClientWithSecret) => answer.token ?? answer.accessToken ?? '';

/** The secret is shown once; a token that may only read also makes a link. */
function Secret({ answer }: { answer: ClientWithSecret }) {
  const secret = secretOf(answer);
  const link = answer.kind === 'token' && answer.scopes.every(scope => scope.startsWith('muster:get:'))
    ? `${location.href.split('#')[0]}#token=${secret}` : undefined;
  return (
    <>
      <p>This is shown once. Keep it where only {answer.clientId} finds it.</p>
      <p class="command"><code><Id text={secret} /></code></p>
      {link && <p>A link that lets people read, and nothing else:<br /><code><Id text={link} /></code></p>}
    </>
  );
}
const shownSecret = (answer: never) => <Secret answer={answer as ClientWithSecret} />;
const scopesOf = (values: Values) => (values.scopes ?? '').split(/\s+/).filter(Boolean);

export const createClient = (done: () => void): Action => ({
  name: 'Create client',
  sentence: 'A new client may use the host with these scopes. You can give only scopes that you have.',
  scope: 'muster:manage-clients:*',
  fields: [
    { id: 'id', label: 'Name', required: true },
    { id: 'kind', label: 'Kind', value: 'token', options: [['token', 'token: for people and scripts'], ['hawk', 'hawk: signs its requests']] },
    { id: 'scopes', label: 'Scopes', value: 'muster:get:*', hint: 'one on each line', lines: 3 },
    { id: 'description', label: 'What it is for' },
    { id: 'until', label: 'Expires', hint: '+30d, or a time; empty: never' },
  ],
  command: values => command('client', 'create', values.id ?? '', '--kind', values.kind ?? 'token',
    ...scopesOf(values).flatMap(scope => ['--scope', scope]),
    ...(values.description ? ['--description', values.description] : []),
    ...(values.until ? ['--expires', timeFrom(values.until, Date.now()) ?? values.until] : [])),
  request: values => ({
    method: 'PUT', path: clientPath(values.id ?? ''),
    body: {
      kind: values.kind, scopes: scopesOf(values), description: values.description ?? '',
      ...(values.until ? { expires: timeFrom(values.until, Date.now()) ?? values.until } : {}),
    },
  }),
  result: shownSecret,
  done,
});

export const rotateClient = ({ clientId }: Client, done: () => void): Action => ({
  name: 'Rotate secret',
  sentence: `${clientId} gets a new secret. The old one stays good for a while, unless you end it at once; sessions end with it.`,
  scope: `muster:manage-clients:${clientId}`,
  fields: [{ id: 'when', label: 'The old secret', value: 'later', options: [['later', 'stays good for a while'], ['now', 'ends at once']] }],
  command: values => command('client', 'rotate', clientId, values.when === 'now' && '--now'),
  request: values => ({ method: 'POST', path: clientPath(clientId, 'rotate'), body: { now: values.when === 'now' } }),
  result: shownSecret,
  done,
});

export const setClientEnabled = ({ clientId, disabled }: Client, done: () => void): Action => ({
  name: disabled ? 'Enable' : 'Disable',
  sentence: disabled ? `${clientId} is let in again, with the secret that it has.` : `${clientId} is not let in any more, and its sessions end.`,
  scope: `muster:manage-clients:${clientId}`,
  harmful: !disabled,
  command: () => command('client', disabled ? 'enable' : 'disable', clientId),
  request: () => ({ method: 'POST', path: clientPath(clientId, disabled ? 'enable' : 'disable') }),
  done,
});
