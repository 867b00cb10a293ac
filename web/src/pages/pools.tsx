import type { Pool, PoolList } from '../api_types';
import { Badge, Choice, Search } from '../components';
import { count } from '../format';
import { ofFleet } from '../resource';
import { route, setQuery, to } from '../route';
import { VirtualList, type ListColumn } from '../virtual_list';

const columns: ListColumn<Pool>[] = [
  { name: 'Pool', width: 'minmax(7rem, 2fr)', cell: pool => <a href={to.pool(pool.workerPoolId)}>{pool.workerPoolId}</a> },
  { name: 'State', width: '6rem', cell: pool => <Badge kind={pool.pausedUntil ? 'paused' : pool.verdict.kind} /> },
  { name: 'Why', width: 'minmax(10rem, 4fr)', cell: pool => <span title={pool.verdict.text}>{pool.verdict.text}</span>, extra: true },
  { name: 'Pending', width: '4rem', cell: pool => count(pool.pending), number: true },
  { name: 'Requested', width: '5.5rem', cell: pool => count(pool.capacity.requested), number: true, extra: true },
  { name: 'Running', width: '4rem', cell: pool => count(pool.capacity.running), number: true },
  { name: 'Busy', width: '4rem', cell: pool => count(pool.capacity.busy), number: true, extra: true },
  { name: 'Ending', width: '4.5rem', cell: pool => count(pool.capacity.draining + pool.capacity.stopping), number: true, extra: true },
  { name: 'Most', width: '5rem', cell: pool => (pool.maxCapacity === undefined ? '–' : count(pool.maxCapacity)), number: true, extra: true },
];

const verdicts: [string, string][] = [
  ['', 'all'], ['blocked', 'blocked'], ['waiting', 'waiting'], ['launching', 'launching'], ['placed', 'placed'],
];
const orders: [string, string][] = [['', 'name'], ['pending', 'most pending'], ['capacity', 'most capacity'], ['verdict', 'blocked first']];

export function Pools() {
  const { query } = route.value;
  const text = (name: string) => query.get(name) ?? '';
  return (
    <>
      <h1>Pools</h1>
      <div class="bar">
        <Search label="Pool, owner or description" value={text('search')} onChange={search => setQuery({ search })} />
        <Choice label="State" value={text('verdict')} options={verdicts} onChange={verdict => setQuery({ verdict })} />
        <Choice label="Order" value={text('sort')} options={orders} onChange={sort => setQuery({ sort })} />
        {text('providerId') && <button type="button" onClick={() => setQuery({ providerId: undefined })}>Provider {text('providerId')} ✕</button>}
      </div>
      <VirtualList<Pool>
        caption="pools" path="pools" columns={columns} concerns={ofFleet} rowKey={pool => pool.workerPoolId}
        query={{ search: text('search'), verdict: text('verdict'), sort: text('sort'), providerId: text('providerId') }}
        read={(document: never) => ({ rows: (document as PoolList).pools, total: (document as PoolList).total ?? 0 })}
        empty={query.size ? 'No pool fits. Change the search or the filter.' : <>No pools are configured. Write a worker configuration, or use <code>muster pool set</code>.</>}
      />
    </>
  );
}
