// What happens at the host, as it happens: its events, and which pools have other figures. A page that nobody sees has no
// connection; when it is seen again, it goes on behind the last event that it has.
import { signal } from '@preact/signals';

import { base, session } from './api';
import type { Event as FleetEvent, FleetChange } from './api_types';
import { satisfies } from './scopes';

/** Whether the host is heard. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
export const lostSince = signal(0);

/** What a page gets: an event, changed figures, or `reset` if something may have been missed. */
export type News =
  | { type: 'event'; event: FleetEvent }
  | { type: 'change'; change: FleetChange }
  | { type: 'reset' };
type Listener = (news: News) => void;

const listeners = new Set<Listener>();
let streams: EventSource[] = [];
let lastEvent = 0;
let wasLost = false;

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(news: News): void {
  for (const listener of listeners) listener(news);
}

function setState(state: 'live' | 'lost'): void {
  if (connection.value === state) return;
  if (state === 'lost') {
    lostSince.value = Date.now();
    wasLost = true;
  } else if (wasLost) {
    wasLost = false;
    tell({ type: 'reset' });
  }
  connection.value = state;
}

function open(path: string, kinds: (source: EventSource) => void): void {
  const source = new EventSource(base + path, { withCredentials: false });
  source.addEventListener('open', () => setState('live'));
  source.addEventListener('error', () => {
    setState('lost');
    // A browser gives up if the answer is no stream: the host is starting, or the session is over.
    if (source.readyState === EventSource.CLOSED) retry();
  });
  kinds(source);
  streams.push(source);
}

let waiting: ReturnType<typeof setTimeout> | undefined;

function retry(): void {
  close();
  waiting ??= setTimeout(() => {
    waiting = undefined;
    start();
  }, 2000);
}

function close(): void {
  for (const source of streams) source.close();
  streams = [];
}

function onEvent(message: MessageEvent<string>): void {
  const event = JSON.parse(message.data) as FleetEvent;
  lastEvent = Math.max(lastEvent, event.number);
  tell({ type: 'event', event });
}

// EventSource hears only the kinds that it is told of.
const eventKinds = [
  ...['created', 'updated', 'removed', 'fault'].map(what => `worker-pool-${what}`),
  ...['requested', 'launched', 'running', 'draining', 'quarantined', 'released', 'stopping', 'stopped', 'error']
    .map(what => `worker-${what}`),
  ...['created', 'updated', 'archived', 'paused', 'resumed'].map(what => `launch-configuration-${what}`),
  'hold-began', 'hold-ended', 'provider-up', 'provider-down', 'instance-unknown', 'listing-doubted', 'listing-believed',
  'relay-registration', 'machine-refused', 'plugin-activated', 'plugin-refused', 'plugin-stopped',
  'configuration-accepted', 'configuration-refused', 'configuration-emptied', 'store-repaired', 'store-incomplete',
  'client-created', 'client-changed', 'client-removed', 'audit',
];

export function start(): void {
  close();
  const scopes = session.value?.scopes;
  if (!scopes || document.hidden) return;
  if (satisfies(scopes, 'muster:get:events'))
    open(lastEvent > 0 ? `events?after=${lastEvent}` : 'events', source => {
      for (const kind of eventKinds) source.addEventListener(kind, onEvent);
      source.addEventListener('reset', () => tell({ type: 'reset' }));
    });
  if (satisfies(scopes, 'muster:get:pools'))
    open('changes', source => source.addEventListener('change', message =>
      tell({ type: 'change', change: JSON.parse((message as MessageEvent<string>).data) as FleetChange })));
  if (streams.length === 0) connection.value = 'live';
}

/** Connects while somebody is logged in and looks. */
export function followFleet(): void {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      wasLost = true;
      connection.value = 'connecting';
    }
    start();
  });
  session.subscribe(() => {
    if (!session.value) lastEvent = 0;
    connection.value = 'connecting';
    start();
  });
}
