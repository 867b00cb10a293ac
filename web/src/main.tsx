// The dashboard: which page is shown, navigation, keys, log-in.
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { ActionDialog, announcement } from './action';
import { findSession, logIn, logOut, session } from './api';
import { duration } from './format';
import { connection, followFleet, lostSince } from './live';
import { Clients } from './pages/clients';
import { Configurations } from './pages/configurations';
import { Errors } from './pages/errors';
import { Events } from './pages/events';
import { Holds } from './pages/holds';
import { Hosts } from './pages/hosts';
import { LogIn } from './pages/login';
import { Overview } from './pages/overview';
import { PoolPage } from './pages/pool';
import { Pools } from './pages/pools';
import { Providers } from './pages/providers';
import { Queue } from './pages/queue';
import { WorkerPage } from './pages/worker';
import { Workers } from './pages/workers';
import { followAddress, go, readAddress, route } from './route';
import { now, Problem } from './components';
import './style.css';

const pages: { id: string; name: string; key: string }[] = [
  { id: '', name: 'Overview', key: 'o' },
  { id: 'pools', name: 'Pools', key: 'p' },
  { id: 'workers', name: 'Workers', key: 'w' },
  { id: 'queue', name: 'Queue', key: 'q' },
  { id: 'configurations', name: 'Configurations', key: 'c' },
  { id: 'providers', name: 'Providers', key: 'v' },
  { id: 'holds', name: 'Holds', key: 'h' },
  { id: 'errors', name: 'Errors', key: 'r' },
  { id: 'events', name: 'Events', key: 'e' },
  { id: 'clients', name: 'Clients', key: 'l' },
  { id: 'hosts', name: 'Hosts', key: 's' },
];

function Page() {
  const { path } = route.value;
  const [first = '', second, third, fourth] = path;
  if (first === '') return <Overview />;
  if (first === 'pools') return second === undefined ? <Pools /> : <PoolPage key={second} id={second} tab={third ?? ''} />;
  if (first === 'workers')
    return second && third && fourth ? <WorkerPage key={path.join()} pool={second} group={third} id={fourth} /> : <Workers />;
  if (first === 'queue') return <Queue />;
  if (first === 'configurations') return <Configurations />;
  if (first === 'plugin-instances' && second) return <Providers instance={second} />;
  if (first === 'providers') return <Providers chosen={second} />;
  if (first === 'holds') return <Holds />;
  if (first === 'errors') return <Errors />;
  if (first === 'events') return <Events />;
  if (first === 'clients') return <Clients />;
  if (first === 'hosts') return <Hosts />;
  return <><h1>No such page</h1><p>There is nothing at this address. <a href="#/">To the overview</a></p></>;
}

function ConnectionBanner() {
  if (connection.value !== 'lost') return null;
  return (
    <div class="banner" role="status">
      The host does not answer for {duration((now.value - lostSince.value) / 1000)}. What you see is from before; this page tries again by itself.
    </div>
  );
}

function Keys({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="facts">
        <div><dt>/</dt><dd>search in this page</dd></div>
        {pages.map(page => <div key={page.id}><dt>g {page.key}</dt><dd>{page.name}</dd></div>)}
        <div><dt>?</dt><dd>these keys</dd></div>
        <div><dt>Esc</dt><dd>close</dd></div>
      </dl>
      <div class="buttons"><button type="button" onClick={() => dialog.current?.close()}>Close</button></div>
    </dialog>
  );
}

const typesText = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

function useKeys(showKeys: () => void): void {
  useEffect(() => {
    let before = '';
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typesText(event.target) || document.querySelector('dialog[open]')) return;
      const page = before === 'g' ? pages.find(each => each.key === event.key) : undefined;
      before = event.key;
      if (page) go(`#/${page.id}`);
      else if (event.key === '?') showKeys();
      else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-search]');
        if (!field) return;
        field.focus();
        event.preventDefault();
      }
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** A new page begins at its top, and is told to those who do not see it. */
function useFocusOnNewPage(): void {
  const first = route.value.path[0] ?? '';
  const place = route.value.path.slice(0, first === 'workers' ? 4 : 2).join('/');
  const begun = useRef(false);
  useEffect(() => {
    document.title = `${document.querySelector('h1')?.textContent ?? 'muster'} · muster`;
    if (begun.current) {
      scrollTo({ top: 0 });
      document.querySelector('main')?.focus({ preventScroll: true });
    }
    begun.current = true;
  }, [place]);
}

function Dashboard() {
  const [keys, setKeys] = useState(false);
  const [menu, setMenu] = useState(false);
  useKeys(() => setKeys(true));
  useFocusOnNewPage();
  const chosen = route.value.path[0] ?? '';
  return (
    <>
      <a class="skip" href="#main" onClick={event => { event.preventDefault(); document.querySelector('main')?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href="#/">muster</a>
        <button type="button" class="menu" aria-expanded={menu} aria-controls="pages" onClick={() => setMenu(!menu)}>Menu</button>
        <nav id="pages" class={menu ? 'open' : ''} aria-label="Pages">
          {pages.map(page => (
            <a key={page.id} href={`#/${page.id}`} aria-current={page.id === chosen ? 'page' : undefined} onClick={() => setMenu(false)}>{page.name}</a>
          ))}
        </nav>
        <div class="who">
          <span class={`state ${connection.value}`} title={`the connection to the host: ${connection.value}`}>
            {connection.value === 'live' ? 'live' : connection.value === 'lost' ? 'not connected' : 'connecting'}
          </span>
          <span class="quiet client">{session.value?.clientId}</span>
          <button type="button" class="link" onClick={() => setKeys(true)} aria-label="Keys">?</button>
          <button type="button" class="link" onClick={() => void logOut()}>Log out</button>
        </div>
      </header>
      <ConnectionBanner />
      <main id="main" tabIndex={-1}><Page /></main>
      <ActionDialog />
      {keys && <Keys onClose={() => setKeys(false)} />}
      <div class="hidden" role="status" aria-live="polite">{announcement.value}</div>
    </>
  );
}

function App({ problem }: { problem: string }) {
  if (session.value) return <Dashboard />;
  if (session.value === undefined)
    return <main>{problem ? <Problem title="The host does not answer">{problem}</Problem> : <p class="quiet loading">…</p>}</main>;
  return <LogIn />;
}

/** A link may bring a token behind the `#`, which no server sees. It becomes a session and leaves the address. */
async function useTokenOfLink(): Promise<boolean> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (!token) return false;
  history.replaceState(null, '', location.pathname);
  readAddress();
  await logIn({ token });
  return true;
}

const place = document.getElementById('app')!;
const show = (problem = '') => render(<App problem={problem} />, place);

async function begin(): Promise<void> {
  try {
    if (!(await useTokenOfLink().catch(() => false))) await findSession();
    show();
  } catch (error) {
    show(error instanceof Error ? error.message : String(error));
    setTimeout(() => void begin(), 2000);
  }
}

followAddress();
followFleet();
show();
void begin();
