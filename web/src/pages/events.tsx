// What happens, as it happens. Older events are read in pages.
import { useEffect, useState } from 'preact/hooks';

import { ApiError, get, withQuery } from '../api';
import type { Event, EventPage } from '../api_types';
import { Empty, Folded, Json, Problem, Search, Section, Time } from '../components';
import { listen } from '../live';
import { route, setQuery, to } from '../route';

const most = 500; // that are kept in the page

const fits = (event: Event, kind: string, pool: string) =>
  (!kind || (kind.endsWith('*') ? event.kind.startsWith(kind.slice(0, -1)) : event.kind === kind)) && (!pool || event.workerPoolId === pool);

function hrefOf(event: Event): string | undefined {
  if (event.workerPoolId && event.workerGroup && event.workerId) return to.worker(event.workerPoolId, event.workerGroup, event.workerId);
  if (event.workerPoolId) return to.pool(event.workerPoolId);
  return event.providerId ? to.provider(event.providerId) : undefined;
}

const subjectOf = (event: Event) =>
  event.workerId ? `${event.workerGroup ?? ''}/${event.workerId}` : event.workerPoolId ?? event.providerId ?? '';

const groups = ['', 'worker-*', 'worker-error', 'worker-pool-*', 'launch-configuration-*', 'hold-*', 'provider-*', 'configuration-*', 'plugin-*', 'client-*', 'audit'];

export function Events() {
  const { query } = route.value;
  const kind = query.get('kind') ?? '';
  const pool = query.get('pool') ?? '';
  const after = query.get('after') ?? '';
  const search = query.get('search') ?? '';
  const [events, setEvents] = useState<Event[]>();
  const [error, setError] = useState<ApiError>();
  const [waiting, setWaiting] = useState<Event[]>([]);
  const [paused, setPaused] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const path = withQuery('events', { kind, workerPoolId: pool, limit: 200, ...(after ? { after } : { last: 200 }) });
    get<EventPage>(path, stop.signal).then(
      page => { setEvents(page.events.slice().reverse()); setWaiting([]); setError(undefined); },
      (failure: unknown) => { if (!stop.signal.aborted && failure instanceof ApiError) { setError(failure); setEvents([]); } });
    const end = after ? () => {} : listen(news => {
      if (news.type === 'event' && fits(news.event, kind, pool)) setWaiting(before => [news.event, ...before].slice(0, most));
    });
    return () => { stop.abort(); end(); };
  }, [kind, pool, after]);
  // While one reads further down, or has paused, new ones wait.
  useEffect(() => {
    if (paused || waiting.length === 0 || scrollY > 200) return;
    const known = new Set((events ?? []).map(event => event.number));
    setEvents(before => [...waiting.filter(event => !known.has(event.number)), ...(before ?? [])].slice(0, most));
    setWaiting([]);
  }, [waiting, paused]);
  const shown = (events ?? []).filter(event => !search || `${event.kind} ${subjectOf(event)} ${event.text}`.toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <h1>Events</h1>
      <div class="bar">
        <Search label="Text of these events" value={search} onChange={text => setQuery({ search: text })} />
        <label class="choice">Kind <select value={kind} onChange={event => setQuery({ kind: event.currentTarget.value })}>
          {[...new Set([...groups, kind])].map(each => <option key={each} value={each}>{each || 'all'}</option>)}
        </select></label>
        {pool && <button type="button" onClick={() => setQuery({ pool: undefined })}>{pool} ✕</button>}
        {after ? <button type="button" onClick={() => setQuery({ after: undefined })}>Live</button>
          : <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>{paused ? 'Go on' : 'Pause'}</button>}
        {waiting.length > 0 && <button type="button" class="main" onClick={() => { setPaused(false); scrollTo({ top: 0 }); setWaiting([...waiting]); }}>{waiting.length} new</button>}
      </div>
      <Section title={after ? `After event ${after}` : 'Newest first'}>
        {error && <Problem title="Reading events failed">{error.message}</Problem>}
        {events && shown.length === 0 && !error && <Empty>No events fit. They appear here as they happen.</Empty>}
        <ol class="line" aria-live="off">
          {shown.map(event => (
            <li key={event.number} class={event.kind === 'worker-error' ? 'bad-point' : ''}>
              <div>
                <strong>{event.kind}</strong> {hrefOf(event) ? <a href={hrefOf(event)}>{subjectOf(event)}</a> : subjectOf(event)}{' '}
                <span class="quiet"><Time at={event.at} /> · <a href={to.event(event.number)}>{event.number}</a></span>
              </div>
              <Folded text={event.text} />
              {event.details && <details><summary>Details</summary><Json value={event.details} /></details>}
            </li>
          ))}
        </ol>
      </Section>
    </>
  );
}
