// Teams and their shares, requests with position and ETA, leases, and how good ETAs were.
import { ActionButton } from '../action';
import { cancelRequest } from '../actions';
import { withQuery } from '../api';
import type { Expectations, QueueLoad, QueueRequest, QueueRequestList, Team, Times } from '../api_types';
import { Badge, Choice, Folded, Id, Loaded, Section, Table, Tile, Time } from '../components';
import { count, duration } from '../format';
import { ofFleet, useResource } from '../resource';
import { route, setQuery, to } from '../route';

const resourcesOf = (request: QueueRequest) =>
  [...Object.entries(request.resources).map(([name, number]) => `${name}: ${String(number)}`), ...request.tags].join(', ') || '–';

function Requests() {
  const state = route.value.query.get('state') ?? 'waiting';
  const team = route.value.query.get('team') ?? '';
  const list = useResource<QueueRequestList>(withQuery('requests', { state, team, limit: 200 }), ofFleet);
  return (
    <Section title={state === 'held' ? 'Leases' : 'Requests'} aside={
      <span class="bar">
        {team && <button type="button" onClick={() => setQuery({ team: undefined })}>Team {team} ✕</button>}
        <Choice label="State" value={state} options={[['waiting', 'waiting'], ['held', 'leases'], ['ended', 'ended']]} onChange={next => setQuery({ state: next })} />
      </span>}>
      <Loaded of={list} what="requests">
        {value => (
          <Table<QueueRequest>
            caption="requests" rows={value.requests} rowKey={request => request.requestId}
            empty={state === 'waiting' ? 'Nobody waits.' : state === 'held' ? <>No worker is leased. A team leases one with <code>muster lease --team NAME -- COMMAND</code>.</> : 'No request has ended lately.'}
            columns={[
              { name: 'Request', cell: request => <Id text={request.requestId} /> },
              { name: 'Team', cell: request => <button type="button" class="link" onClick={() => setQuery({ team: request.team })}>{request.team}</button> },
              { name: 'Position', number: true, cell: request => request.verdict?.position ?? '–' },
              { name: 'ETA', cell: request => request.verdict?.eta ? <><Time at={request.verdict.eta.p50} />, at the latest <Time at={request.verdict.eta.p90} /></> : '–' },
              { name: 'Wants', cell: resourcesOf },
              { name: 'Worker', cell: request => request.worker ? <a href={to.worker(request.worker.workerPoolId, request.worker.workerGroup, request.worker.workerId)}>{request.worker.workerGroup}/{request.worker.workerId}</a> : request.workerPoolId ?? '–' },
              { name: 'Asked', cell: request => <Time at={request.created} /> },
              { name: 'Until', cell: request => <Time at={request.until ?? request.deadline} /> },
              { name: 'Why', wide: true, cell: request => request.verdict ? <><Badge kind={request.verdict.kind} /> <Folded text={request.verdict.text} /></> : <Folded text={request.reason ?? ''} /> },
              { name: '', cell: request => request.state === 'ended' ? null : <ActionButton small action={cancelRequest(request)} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** How often ETAs were kept, beside how often they should be. */
export function calibration(of: Expectations): { name: string; promised: number; kept: number }[] {
  if (of.expectations === 0) return [];
  return [
    { name: 'p50', promised: 50, kept: (100 * of.keptP50) / of.expectations },
    { name: 'p90', promised: 90, kept: (100 * of.keptP90) / of.expectations },
  ];
}

function Calibration({ of }: { of: Expectations }) {
  const bars = calibration(of);
  if (bars.length === 0) return <p class="empty">No ETA predictions have been scored yet.</p>;
  return (
    <svg viewBox="0 0 320 96" role="img" class="bars" width="320" height="96"
      aria-label={bars.map(bar => `${bar.name}: kept ${Math.round(bar.kept)} %, promised ${bar.promised} %`).join('; ')}>
      {bars.map((bar, index) => (
        <g key={bar.name} transform={`translate(0 ${index * 44})`}>
          <text x="0" y="22" fill="var(--text)" font-size="13">{bar.name}</text>
          <rect x="40" y="8" width="200" height="20" rx="3" fill="var(--ground)" stroke="var(--line)" />
          <rect x="40" y="8" width={2 * bar.kept} height="20" rx="3" fill="var(--plot-1)" />
          <line x1={40 + 2 * bar.promised} x2={40 + 2 * bar.promised} y1="3" y2="33" stroke="var(--plot-6)" stroke-width="2" />
          <text x="248" y="22" fill="var(--text)" font-size="13">{Math.round(bar.kept)} %</text>
        </g>
      ))}
    </svg>
  );
}

const seconds = (times: Times, name: 'start' | 'lease') => {
  const measured = times[name];
  return measured ? `p50 ${duration(measured.p50Seconds)}, p90 ${duration(measured.p90Seconds)} (last ${measured.count})` : '–';
};

export function Queue() {
  const load = useResource<QueueLoad>('queue', ofFleet);
  const expectations = useResource<Expectations>('expectations', ofFleet);
  return (
    <>
      <h1>Queue</h1>
      <Loaded of={load} what="the queue">
        {value => (
          <>
            <div class="tiles">
              <Tile name="Requests waiting" value={count(value.waiting)} kind={value.waiting ? 'warn' : ''} />
              <Tile name="Oldest wait" value={value.oldestWaitSeconds === undefined ? '–' : duration(value.oldestWaitSeconds)} />
              <Tile name="Teams" value={count(value.teams.length)} />
              <Tile name="That no pool serves" value={count(value.unserved.waiting)} kind={value.unserved.waiting ? 'bad' : ''} />
            </div>
            <Section title="Teams and shares">
              <Table<Team> caption="teams" rows={value.teams} rowKey={team => team.team} empty="No team has asked for a worker yet." columns={[
                { name: 'Team', cell: team => <button type="button" class="link" onClick={() => setQuery({ team: team.team })}>{team.team}</button> },
                { name: 'Weight', number: true, cell: team => team.weight },
                { name: 'Holds', number: true, cell: team => (team.maxHeld ? `${team.held} of ${team.maxHeld}` : team.held) },
                { name: 'Leases', number: true, cell: team => team.leases },
                { name: 'Waits', number: true, cell: team => team.pending },
                { name: 'Oldest', cell: team => <Time at={team.oldest} /> },
                { name: 'Recent use', number: true, cell: team => count(team.usage) },
                { name: 'Own pools', wide: true, cell: team => team.workerPools.map(pool => <><a href={to.pool(pool)}>{pool}</a> </>) },
              ]} />
            </Section>
          </>
        )}
      </Loaded>
      <Requests />
      <div class="columns">
        <Section title="How often ETAs were kept">
          <Loaded of={expectations} what="predictions">{value => <><Calibration of={value} />{value.expectations > 0 && <p class="quiet">{count(value.expectations)} predictions; the red line is what was promised.</p>}</>}</Loaded>
        </Section>
        <Section title="How long it takes">
          <Loaded of={expectations} what="predictions">
            {value => <Table caption="times" rows={value.launchConfigs.slice(0, 50)} rowKey={each => each.launchConfigId} empty="Nothing was measured yet." columns={[
              { name: 'Pool', cell: each => <a href={to.pool(each.workerPoolId)}>{each.workerPoolId}</a> },
              { name: 'Launch configuration', cell: each => <code>{each.launchConfigId}</code> },
              { name: 'Start', cell: each => seconds(each.times, 'start') },
              { name: 'Lease', cell: each => seconds(each.times, 'lease') },
            ]} />}
          </Loaded>
        </Section>
      </div>
    </>
  );
}
