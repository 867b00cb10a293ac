// One pool: why it is as it is, over time, its launch configurations, decisions, workers, errors and configuration.
import { ActionButton } from '../action';
import { attachTeams, detachTeams, pauseLaunchConfig, pausePool, resumeLaunchConfig, resumePool } from '../actions';
import { pathOf } from '../api';
import type { ErrorStatistics, History, Hold, HoldList, LaunchConfig, PoolDetail, Why } from '../api_types';
import { Badge, Fact, Facts, Folded, Id, Loaded, Section, Table, Tabs, Tile, Time, VerdictLine } from '../components';
import { compact, count, duration, money } from '../format';
import { CapacityPlot, CostPlot } from '../history';
import { ofKinds, ofPool, useResource } from '../resource';
import { hrefTo, to } from '../route';
import { Decisions } from './decisions';
import { Documentation } from './documentation';
import { ErrorCounts, ErrorTable } from './errors';
import { Explanation } from './explanation';
import { WorkerTable } from './workers';

const tabs: [string, string][] = [
  ['', 'Summary'], ['launch-configs', 'Launch configurations'], ['decisions', 'Decisions'], ['workers', 'Workers'],
  ['errors', 'Errors'], ['configuration', 'Configuration'], ['documentation', 'Documentation'],
];

function WhyStory({ pool }: { pool: string }) {
  const why = useResource<Why>(`why?subject=${encodeURIComponent(pool)}`, ofPool(pool));
  return (
    <Loaded of={why} what="the reason">
      {value => (
        <>
          {value.stories.map((story, index) => (
            <details key={index} open={index === 0}>
              <summary>{story.kind === 'workerPool' ? 'The whole story' : story.kind}</summary>
              <ol>{story.story.map((sentence, at) => <li key={at}><Folded text={sentence} /></li>)}</ol>
              {story.rule && <p class="quiet">The rule: <code>{compact(story.rule)}</code></p>}
            </details>
          ))}
        </>
      )}
    </Loaded>
  );
}

function Summary({ pool }: { pool: PoolDetail }) {
  const id = pool.workerPoolId;
  const history = useResource<History>(pathOf('pools', id, 'history'), ofPool(id));
  const { capacity } = pool;
  const last = history.value?.points.at(-1);
  const workersHref = (state?: string) => hrefTo(['pools', id, 'workers'], { state });
  return (
    <>
      <div class="tiles">
        <Tile name="Pending" value={count(pool.pending)} kind={pool.pending ? 'warn' : ''} note={pool.demandNote && <Folded text={pool.demandNote} />} />
        <Tile name="Requested" value={count(capacity.requested + capacity.lost)} href={workersHref('requested')} />
        <Tile name="Running" value={count(capacity.running)} note={`${count(capacity.busy)} busy`} href={workersHref('running')} />
        <Tile name="Ending" value={count(capacity.draining + capacity.stopping)} href={workersHref('stopping')} />
        <Tile name="Limits" value={`${count(pool.minCapacity ?? 0)} – ${count(pool.maxCapacity ?? 0)}`} />
        <Tile name="Cost per hour" value={last ? money(last.pricePerHour) : '–'} />
      </div>
      <Section title="Why"><VerdictLine verdict={pool.verdict} /><WhyStory pool={id} /></Section>
      <div class="columns">
        <Section title="Capacity and demand">
          <Loaded of={history} what="the history">{value => <CapacityPlot points={value.points} title={id} withLimit />}</Loaded>
        </Section>
        <Section title="Money">
          <Loaded of={history} what="the history">{value => <CostPlot points={value.points} title="Cost per hour" />}</Loaded>
        </Section>
      </div>
      <Section title="Facts" aside={<span class="buttons"><ActionButton small action={attachTeams(id)} /><ActionButton small action={detachTeams(id)} /></span>}>
        <dl class="facts">
          <Facts of={{ Description: pool.description, Owner: pool.owner, Strategy: pool.strategy,
            'Comes from': pool.origin || 'the API (muster pool set)',
            Providers: pool.providers?.map(provider => <><a href={to.provider(provider)}>{provider}</a>{' '}</>) }} />
          <Fact name="Created"><Time at={pool.created} /></Fact>
          <Fact name="Changed"><Time at={pool.lastModified} /></Fact>
        </dl>
      </Section>
    </>
  );
}

/** Of a pool without a worker configuration. */
function ApiConfiguration({ pool }: { pool: PoolDetail }) {
  return (
    <Section title="Configuration" aside={<a href={to.pool(pool.workerPoolId, 'launch-configs')}>Its launch configurations</a>}>
      <p>This pool was set through the API, so no rule stands behind its values. Change it with <code>muster pool set {pool.workerPoolId}</code>.</p>
      <dl class="facts">
        <Facts of={{ 'Smallest capacity': pool.minCapacity, 'Largest capacity': pool.maxCapacity, Strategy: pool.strategy, Owner: pool.owner, Description: pool.description,
          Providers: pool.providers?.join(', ') }} />
      </dl>
    </Section>
  );
}

const placeOf = (config: LaunchConfig) => Object.values(config.placement).map(compact).join(' ') || '–';
const isAbout = (hold: Hold, config: LaunchConfig) =>
  hold.providerId === config.providerId && (!hold.launchConfigId || hold.launchConfigId === config.launchConfigId) &&
  (!hold.instanceType || hold.instanceType === config.instanceType) &&
  (!hold.region || Object.values(config.placement).includes(hold.region)) && (!hold.zone || Object.values(config.placement).includes(hold.zone));

function LaunchConfigs({ pool }: { pool: PoolDetail }) {
  const holds = useResource<HoldList>('holds', ofKinds('hold'));
  return (
    <Section title="Launch configurations">
      <Table<LaunchConfig>
        caption="launch configurations" rows={pool.launchConfigs} rowKey={config => config.launchConfigId}
        empty="This pool has no launch configurations: its configuration names no place where a worker could start."
        columns={[
          { name: 'Launch configuration', cell: config => <Id text={config.launchConfigId} /> },
          { name: 'Place', cell: config => <>{config.providerId} {placeOf(config)}<br /><span class="quiet">{config.instanceType}</span></> },
          { name: 'State', cell: config => <><Badge kind={config.status} />{config.pausedUntil && <div class="quiet">until <Time at={config.pausedUntil} /> {config.pauseReason}</div>}</> },
          { name: 'Weight', wide: true, cell: config => config.weight === undefined ? '–' : (
            <details><summary>{config.weight.toFixed(2)}</summary><Folded text={config.arithmetic ?? ''} /></details>) },
          { name: 'Last hour', cell: config => <>{config.lastHour.tried} tried, {config.lastHour.registered} registered{config.lastHour.failed > 0 && <span class="bad">, {config.lastHour.failed} failed</span>}</> },
          { name: 'Start time', cell: config => config.times?.start ? <>p50 {duration(config.times.start.p50Seconds)}, p90 {duration(config.times.start.p90Seconds)}</> : '–' },
          { name: 'Running', number: true, cell: config => <a href={hrefTo(['pools', pool.workerPoolId, 'workers'], { launchConfigId: config.launchConfigId })}>{count(config.capacity.running)}</a> },
          { name: 'Why', wide: true, cell: config => (
            <>
              <VerdictLine verdict={config.verdict} />
              {config.outdated && <p class="warn">Outdated: <Folded text={config.outdated} /></p>}
              {holds.value?.holds.filter(hold => isAbout(hold, config)).map(hold => <p key={hold.scope} class="warn">Hold until <Time at={hold.until} />: <Folded text={hold.text} /></p>)}
            </>) },
          { name: '', cell: config => config.status === 'archived' ? null
            : <ActionButton small action={config.status === 'paused' ? resumeLaunchConfig(config) : pauseLaunchConfig(config)} /> },
        ]}
      />
    </Section>
  );
}

function PoolErrors({ id }: { id: string }) {
  const stats = useResource<ErrorStatistics>(`errors/stats?workerPoolId=${encodeURIComponent(id)}`, news => ofPool(id)(news) && ofKinds('worker-error')(news));
  return (
    <>
      <Loaded of={stats} what="the counts of errors">{value => <ErrorCounts of={value} />}</Loaded>
      <ErrorTable path={pathOf('pools', id, 'errors')} concerns={ofPool(id)} />
    </>
  );
}

export function PoolPage({ id, tab }: { id: string; tab: string }) {
  const pool = useResource<PoolDetail>(pathOf('pools', id), ofPool(id));
  return (
    <>
      <div class="title">
        <h1><Id text={id} /></h1>
        <div class="buttons"><ActionButton action={pausePool(id)} /><ActionButton action={resumePool(id)} /></div>
      </div>
      {pool.value && !pool.value.configured && <div class="notice">This pool is no longer configured; its workers drain.</div>}
      {pool.value?.pausedUntil && <div class="notice">Paused until <Time at={pool.value.pausedUntil} />: no workers are launched.</div>}
      <Tabs chosen={tab} tabs={tabs.map(([part, name]) => ({ id: part, name, href: to.pool(id, part || undefined) }))} />
      <Loaded of={pool} what={`the pool ${id}`}>
        {value => {
          if (tab === 'launch-configs') return <LaunchConfigs pool={value} />;
          if (tab === 'decisions') return <Decisions pool={id} />;
          if (tab === 'workers') return <WorkerTable pool={id} />;
          if (tab === 'errors') return <PoolErrors id={id} />;
          if (tab === 'configuration') return value.origin ? <Explanation pool={id} launchConfigs={value.launchConfigs} /> : <ApiConfiguration pool={value} />;
          if (tab === 'documentation') return <Documentation pool={id} />;
          return <Summary pool={value} />;
        }}
      </Loaded>
    </>
  );
}
