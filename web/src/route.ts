// Where one is: the part of the address behind `#`. It works behind any prefix of a proxy, and no server sees it.
import { signal } from '@preact/signals';

export interface Route {
  /** Decoded segments: ['pools', 'worker-manager/build', 'workers']. */
  path: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const question = text.indexOf('?');
  const path = question < 0 ? text : text.slice(0, question);
  return {
    path: path.split('/').filter(part => part !== '').map(decoded),
    query: new URLSearchParams(question < 0 ? '' : text.slice(question + 1)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = Record<string, string | undefined>;

export function hrefTo(path: string[], query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const text = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

export const route = signal<Route>({ path: [], query: new URLSearchParams() });

export function readAddress(): void {
  route.value = parseRoute(location.hash);
}

export function followAddress(): void {
  addEventListener('hashchange', readAddress);
  readAddress();
}

export function go(href: string): void {
  location.hash = href.slice(1);
}

/** Changes the query of this page without a new entry in the history. */
export function setQuery(query: Query): void {
  const all = Object.fromEntries(route.value.query);
  history.replaceState(null, '', hrefTo(route.value.path, { ...all, ...query }));
  readAddress();
}

export const to = {
  pool: (id: string, tab?: string) => hrefTo(tab ? ['pools', id, tab] : ['pools', id]),
  worker: (pool: string, group: string, id: string) => hrefTo(['workers', pool, group, id]),
  pluginInstance: (id: string) => hrefTo(['plugin-instances', id]),
  provider: (id: string) => hrefTo(['providers', id]),
  launchConfig: (pool: string, id: string) => hrefTo(['pools', pool, 'launch-configs'], { id }),
  event: (number: number) => hrefTo(['events'], { after: String(number - 1) }),
};
