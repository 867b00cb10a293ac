import type { Worker, WorkerList } from '../api_types';
import { Badge, Choice, Search, Time } from '../components';
import { ofKinds } from '../resource';
import { route, setQuery, to } from '../route';
import { VirtualList, type ListColumn } from '../virtual_list';

export const workerName = (worker: Worker) =>
  worker.workerId ? `${worker.workerGroup}/${worker.workerId}` : `launch ${worker.number}`;

const stateOf = (worker: Worker) => (worker.drain !== 'none' ? worker.drain : worker.state);

export const workerColumns: ListColumn<Worker>[] = [
  {
    name: 'Worker', width: 'minmax(8rem, 2fr)',
    cell: worker => worker.workerId
      ? <a href={to.worker(worker.workerPoolId, worker.workerGroup, worker.workerId)}>{workerName(worker)}</a>
      : <span class="quiet">{workerName(worker)}</span>,
  },
  { name: 'State', width: '7rem', cell: worker => <Badge kind={worker.drain === 'none' ? worker.state : 'draining'}>{stateOf(worker)}</Badge> },
  { name: 'Pool', width: 'minmax(9rem, 1.5fr)', cell: worker => <a href={to.pool(worker.workerPoolId)}>{worker.workerPoolId}</a>, extra: true },
  { name: 'Why', width: 'minmax(8rem, 2fr)', cell: worker => <span title={worker.reason}>{worker.reason}</span>, extra: true },
  { name: 'Provider', width: '7rem', cell: worker => worker.providerId, extra: true },
  { name: 'Launch configuration', width: '11rem', cell: worker => worker.launchConfigId, extra: true },
  { name: 'Busy', width: '4.5rem', cell: worker => (worker.busy === undefined ? '–' : `${worker.busy}/${worker.capacity}`), number: true },
  { name: 'Created', width: '6rem', cell: worker => <Time at={worker.created} />, extra: true },
];

const states: [string, string][] = [
  ['', 'alive'], ['requested', 'requested'], ['running', 'running'], ['stopping', 'stopping'], ['stopped', 'stopped'],
];

/** `pool`: only its workers. */
export function WorkerTable({ pool }: { pool?: string }) {
  const { query } = route.value;
  const text = (name: string) => query.get(name) ?? '';
  return (
    <>
      <div class="bar">
        <Search label="Worker or pool" value={text('search')} onChange={search => setQuery({ search })} />
        <Choice label="State" value={text('state')} options={states} onChange={state => setQuery({ state })} />
        {['launchConfigId', 'providerId'].map(name => text(name) && (
          <button key={name} type="button" onClick={() => setQuery({ [name]: undefined })}>{text(name)} ✕</button>
        ))}
      </div>
      <VirtualList<Worker>
        caption="workers" path={pool ? `pools/${encodeURIComponent(pool)}/workers` : 'workers'}
        columns={pool ? workerColumns.filter(column => column.name !== 'Pool') : workerColumns}
        concerns={ofKinds('worker-')} rowKey={worker => String(worker.number)}
        query={{ search: text('search'), state: text('state'), launchConfigId: text('launchConfigId'), providerId: text('providerId') }}
        read={(document: never) => ({ rows: (document as WorkerList).workers, total: (document as WorkerList).total ?? 0 })}
        empty={query.size ? 'No worker fits. Change the search or the filter.' : 'No workers. They are launched when there is work for them.'}
      />
    </>
  );
}

export function Workers() {
  return (
    <>
      <h1>Workers</h1>
      <WorkerTable />
    </>
  );
}
