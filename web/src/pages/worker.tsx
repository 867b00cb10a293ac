// One worker: its life from intent to end, why it is still here, its lease, its output.
import { ActionButton } from '../action';
import { drainWorker, quarantineWorker, releaseWorker, terminateWorker } from '../actions';
import { pathOf, session, withQuery } from '../api';
import type { Event, EventPage, QueueRequest, QueueRequestList, Why, Worker, WorkerLog } from '../api_types';
import { Badge, Empty, Fact, Facts, Folded, Id, Loaded, Section, Time } from '../components';
import { money } from '../format';
import { ofPool, useResource } from '../resource';
import { hrefTo, to } from '../route';
import { satisfies } from '../scopes';

function Life({ worker }: { worker: Worker }) {
  const path = withQuery('events', { workerPoolId: worker.workerPoolId, workerId: worker.workerId, after: '0', limit: 200 });
  const page = useResource<EventPage>(path, news => news.type === 'event' && news.event.workerId === worker.workerId);
  return (
    <Section title="Life line">
      <ol class="line">
        <li><strong>intended</strong> <Time at={worker.created} /><div class="quiet">Launch {worker.number} by {worker.providerId}, {worker.launchConfigId}</div></li>
      </ol>
      <Loaded of={page} what="its events">
        {value => (
          <ol class="line">
            {value.events.map((event: Event) => (
              <li key={event.number} class={event.kind === 'worker-error' ? 'bad-point' : ''}>
                <a href={to.event(event.number)}><strong>{event.kind.replace('worker-', '')}</strong></a> <Time at={event.at} />
                <div><Folded text={event.text} /></div>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Section>
  );
}

function WhyHere({ worker }: { worker: Worker }) {
  const subject = `${worker.workerGroup}/${worker.workerId}`;
  const why = useResource<Why>(`why?subject=${encodeURIComponent(subject)}`, ofPool(worker.workerPoolId));
  return (
    <Section title={worker.state === 'stopped' ? 'Why it ended' : 'Why it is still here'}>
      {worker.reason && <p><Folded text={worker.reason} /></p>}
      <Loaded of={why} what="the reason">
        {value => <>{value.stories.map((story, index) => <ul key={index}>{story.story.map((sentence, at) => <li key={at}><Folded text={sentence} /></li>)}</ul>)}</>}
      </Loaded>
    </Section>
  );
}

const isOf = (worker: Worker) => (request: QueueRequest) =>
  request.worker?.workerId === worker.workerId && request.worker.workerGroup === worker.workerGroup &&
  request.worker.workerPoolId === worker.workerPoolId;

function Lease({ worker }: { worker: Worker }) {
  const held = useResource<QueueRequestList>('requests?state=held&limit=1000', ofPool(worker.workerPoolId));
  return (
    <Section title="Lease">
      <Loaded of={held} what="leases">
        {value => {
          const leases = value.requests.filter(isOf(worker));
          if (leases.length === 0) return <Empty>No team has leased it. Tasks that it takes from a queue elsewhere are not shown here.</Empty>;
          return leases.map(lease => (
            <dl class="facts" key={lease.requestId}>
              <Fact name="Request"><a href={hrefTo(['queue'], { search: lease.requestId })}>{lease.requestId}</a></Fact>
              <Fact name="Team">{lease.team}</Fact>
              <Fact name="Since"><Time at={lease.granted} /></Fact>
              <Fact name="Until"><Time at={lease.until} /></Fact>
            </dl>
          ));
        }}
      </Loaded>
    </Section>
  );
}

function Log({ worker }: { worker: Worker }) {
  const allowed = satisfies(session.value?.scopes ?? [], `muster:get:logs:${worker.workerPoolId}`);
  const path = pathOf('pools', worker.workerPoolId, 'workers', worker.workerGroup, worker.workerId, 'log');
  const log = useResource<WorkerLog>(allowed ? path : undefined, ofPool(worker.workerPoolId));
  return (
    <Section title="Newest output" aside={allowed && <button type="button" class="small" onClick={log.reload}>Read again</button>}>
      {!allowed && <Empty>This needs the scope <code>muster:get:logs:{worker.workerPoolId}</code>.</Empty>}
      <Loaded of={log} what="its output">{value => (value.text ? <pre tabIndex={0}>{value.text}</pre> : <Empty>It has reported no output.</Empty>)}</Loaded>
    </Section>
  );
}

function Parts({ worker }: { worker: Worker }) {
  const ended = worker.state === 'stopped' || worker.state === 'stopping';
  const isQuarantined = worker.drain === 'quarantined' || worker.drain === 'nonconformant';
  return (
    <>
      <div class="bar">
        <Badge kind={worker.state} />
        {worker.drain !== 'none' && <Badge kind="draining">{worker.drain}</Badge>}
        {!ended && worker.workerId && (
          <span class="buttons">
            <ActionButton action={drainWorker(worker)} />
            {isQuarantined ? <ActionButton action={releaseWorker(worker)} /> : <ActionButton action={quarantineWorker(worker)} />}
            <ActionButton action={terminateWorker(worker)} />
          </span>
        )}
      </div>
      <Section title="Facts">
        <dl class="facts">
          <Fact name="Pool"><a href={to.pool(worker.workerPoolId)}>{worker.workerPoolId}</a></Fact>
          <Fact name="Provider"><a href={to.provider(worker.providerId)}>{worker.providerId}</a></Fact>
          <Fact name="Launch configuration"><a href={to.pool(worker.workerPoolId, 'launch-configs')}>{worker.launchConfigId}</a></Fact>
          <Facts of={{ Capacity: worker.busy === undefined ? worker.capacity : `${worker.busy} of ${worker.capacity} busy`, 'Price per hour': money(worker.pricePerHour), Origin: worker.origin, Phase: worker.phase }} />
          {(['created', 'registered', 'since', 'lastActive', 'credentialsExpire', 'interruption', 'quarantinedUntil', 'expires'] as const)
            .filter(name => worker[name]).map(name => <Fact key={name} name={timeNames[name]}><Time at={worker[name]} /></Fact>)}
        </dl>
      </Section>
      <div class="columns"><WhyHere worker={worker} /><Lease worker={worker} /></div>
      <div class="columns"><Life worker={worker} />{worker.workerId && <Log worker={worker} />}</div>
    </>
  );
}

const timeNames = {
  created: 'Created', registered: 'Registered', since: 'In this state since', lastActive: 'Last active', credentialsExpire: 'Credentials expire',
  interruption: 'Interruption', quarantinedUntil: 'Quarantined until', expires: 'Expires',
};

export function WorkerPage({ pool, group, id }: { pool: string; group: string; id: string }) {
  const worker = useResource<Worker>(pathOf('pools', pool, 'workers', group, id),
    news => news.type === 'event' ? news.event.workerId === id : ofPool(pool)(news));
  return (
    <>
      <h1><Id text={`${group}/${id}`} /></h1>
      <Loaded of={worker} what="the worker">{value => <Parts worker={value} />}</Loaded>
    </>
  );
}
