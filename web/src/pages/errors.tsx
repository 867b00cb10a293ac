import type { ErrorStatistics, PoolError, PoolErrorList } from '../api_types';
import { withQuery } from '../api';
import { Badge, Empty, Folded, Json, Loaded, Section, Table, Time } from '../components';
import { count } from '../format';
import type { News } from '../live';
import { Plot } from '../plot';
import { ofKinds, useResource } from '../resource';
import { route, setQuery, to } from '../route';

function Counts({ title, of, onChoose }: { title: string; of: Record<string, number>; onChoose?: (name: string) => void }) {
  const rows = Object.entries(of).sort((a, b) => b[1] - a[1]).slice(0, 15);
  return (
    <Section title={title}>
      <Table caption={title} rows={rows} rowKey={([name]) => name} empty="None." columns={[
        { name: '', wide: true, cell: ([name]) => onChoose ? <button type="button" class="link" onClick={() => onChoose(name)}>{name}</button> : name || '(none)' },
        { name: 'Errors', number: true, cell: ([, number]) => count(number) },
      ]} />
    </Section>
  );
}

export function ErrorCounts({ of }: { of: ErrorStatistics }) {
  if (of.total === 0) return <Empty>No errors are recorded.</Empty>;
  const hours = Object.entries(of.byHour).sort(([a], [b]) => (a < b ? -1 : 1));
  const times = hours.map(([hour]) => Date.parse(hour.length === 13 ? `${hour}:00Z` : hour) / 1000);
  return (
    <>
      {hours.length > 1 && times.every(Number.isFinite) && (
        <Section title="By hour"><Plot title="Errors of the last 24 hours" height={140} times={times} lines={[{ name: 'errors', colour: '--plot-6', values: hours.map(([, number]) => number), filled: true }]} /></Section>
      )}
      <div class="columns">
        <Counts title="By class" of={of.byKind as Record<string, number>} onChoose={kind => setQuery({ kind, before: undefined })} />
        <Counts title="By title" of={of.byTitle as Record<string, number>} />
        <Counts title="By code" of={of.byCode as Record<string, number>} />
        {of.workerPoolId === undefined && <Counts title="By pool" of={of.byWorkerPool as Record<string, number>} />}
        <Counts title="By launch configuration" of={of.byLaunchConfig as Record<string, number>} />
      </div>
    </>
  );
}

/** The newest errors of that path, in pages. */
export function ErrorTable({ path, concerns }: { path: string; concerns: (news: News) => boolean }) {
  const { query } = route.value;
  const before = query.get('before') ?? '';
  const kind = query.get('kind') ?? '';
  const list = useResource<PoolErrorList>(
    withQuery(path, { limit: 50, before, kind }),
    before ? undefined : news => concerns(news) && ofKinds('worker-error')(news));
  return (
    <Section title="Newest" aside={kind ? <button type="button" onClick={() => setQuery({ kind: undefined })}>{kind} ✕</button> : undefined}>
      <Loaded of={list} what="the errors">
        {value => (
          <>
            <Table<PoolError>
              caption="errors" rows={value.errors} rowKey={error => error.number} empty="No errors. That is good."
              columns={[
                { name: 'When', cell: error => <Time at={error.at} /> },
                { name: 'Class', cell: error => <Badge kind="refused">{error.kind}</Badge> },
                { name: 'Pool', cell: error => <a href={to.pool(error.workerPoolId)}>{error.workerPoolId}</a> },
                { name: 'Launch configuration', cell: error => <code>{error.launchConfigId}</code> },
                { name: 'What', wide: true, cell: error => (
                  <><strong>{error.title}</strong>: <Folded text={error.description} />
                    {Object.keys(error.extra).length > 0 && <details><summary>Details</summary><Json value={error.extra} /></details>}</>) },
              ]}
            />
            <div class="buttons">
              {before && <button type="button" onClick={() => setQuery({ before: undefined })}>Newest</button>}
              {value.next !== undefined && <button type="button" onClick={() => setQuery({ before: String(value.next) })}>Older</button>}
            </div>
          </>
        )}
      </Loaded>
    </Section>
  );
}

export function Errors() {
  const stats = useResource<ErrorStatistics>('errors/stats', ofKinds('worker-error'));
  return (
    <>
      <h1>Errors</h1>
      <Loaded of={stats} what="the counts of errors">{value => <ErrorCounts of={value} />}</Loaded>
      <ErrorTable path="errors" concerns={() => true} />
    </>
  );
}
