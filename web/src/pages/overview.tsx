// What needs a person first; then the fleet over time.
import type { ComponentChildren } from 'preact';

import type { History, HoldList, Pool, PoolList, ProviderList, QueueLoad, Status, WorkerConfigurations } from '../api_types';
import { session } from '../api';
import { Badge, Folded, Loaded, Section, Tile, Time } from '../components';
import { count, duration, money, plural } from '../format';
import { CapacityPlot, CostPlot } from '../history';
import { ofFleet, ofKinds, useResource } from '../resource';
import { hrefTo, to } from '../route';
import { satisfies } from '../scopes';

interface Need {
  key: string;
  serious: boolean;
  what: ComponentChildren;
  why: ComponentChildren;
  href: string;
}

/** Pools that are blocked, by cause, those with the most pending work first. */
export function byCause(pools: Pool[]): { cause: string; pools: Pool[]; pending: number }[] {
  const groups = new Map<string, Pool[]>();
  for (const pool of pools) {
    const cause = pool.verdict.cause ?? 'other';
    groups.set(cause, [...(groups.get(cause) ?? []), pool]);
  }
  return [...groups]
    .map(([cause, of]) => ({ cause, pools: of, pending: of.reduce((sum, pool) => sum + pool.pending, 0) }))
    .sort((a, b) => b.pending - a.pending || b.pools.length - a.pools.length);
}

function needsOf(status?: Status, blocked?: PoolList, providers?: ProviderList, queue?: QueueLoad): Need[] {
  const needs: Need[] = [];
  const add = (key: string, serious: boolean, what: ComponentChildren, why: ComponentChildren, href: string) =>
    needs.push({ key, serious, what, why, href });
  if (status && status.state !== 'ready')
    add('host', true, `The host is ${status.state}`, <Folded text={status.fleet.reason ?? ''} />, hrefTo(['hosts']));
  for (const problem of status?.configurationProblems ?? [])
    add(`host ${problem}`, true, "The host's configuration is refused", <Folded text={problem} />, hrefTo(['hosts']));
  const files = (status?.fleet.workerConfigurations ?? undefined) as WorkerConfigurations | undefined;
  const problems = files?.problems ?? [];
  if (problems.length > 0 || files?.sourceError || files?.heldBack)
    add('configurations', true, `Worker configurations are refused${problems.length ? `: ${plural(problems.length, 'problem')}` : ''}`,
      <Folded text={files?.sourceError ?? problems[0]?.text ?? 'the last good version stays in force'} />,
      hrefTo(['configurations']));
  for (const provider of providers?.providers ?? [])
    if (!provider.up || provider.trouble)
      add(`provider ${provider.providerId}`, !provider.up, `Provider ${provider.providerId} ${provider.up ? 'has trouble' : 'is down'}`,
        <><Folded text={provider.trouble ?? 'it does not answer'} /> {provider.troubleSince && <>(since <Time at={provider.troubleSince} />)</>}</>,
        to.provider(provider.providerId));
  for (const group of byCause(blocked?.pools ?? []))
    add(`blocked ${group.cause}`, true,
      <>{plural(group.pools.length, 'pool')} blocked: {group.cause} <span class="quiet">({count(group.pending)} pending)</span></>,
      <>
        {group.pools.slice(0, 5).map(pool => <><a href={to.pool(pool.workerPoolId)}>{pool.workerPoolId}</a>{' '}</>)}
        {group.pools.length > 5 && <a href={hrefTo(['pools'], { verdict: 'blocked' })}>and {group.pools.length - 5} more</a>}
        <br /><Folded text={group.pools[0]?.verdict.text ?? ''} />
      </>,
      hrefTo(['pools'], { verdict: 'blocked' }));
  for (const source of status?.fleet.demand ?? []) {
    if (source.error || source.stalePools > 0)
      add(`demand ${source.name}`, false, `Demand of ${source.name} is stale`,
        <Folded text={source.error ?? plural(source.stalePools, 'pool has', 'pools have') + ' no answer'} />, hrefTo(['hosts']));
  }
  if (queue?.oldestWaitSeconds && queue.oldestWaitSeconds > 600)
    add('wait', false, `The oldest request waits for ${duration(queue.oldestWaitSeconds)}`, plural(queue.waiting, 'request waits', 'requests wait'), hrefTo(['queue']));
  if (status?.rowsSetAside)
    add('rows', false, `${plural(status.rowsSetAside, 'row')} of the store cannot be read`, <code>muster set-aside list</code>, hrefTo(['hosts']));
  return needs.sort((a, b) => Number(b.serious) - Number(a.serious));
}

export function Overview() {
  const may = (scope: string, path: string) => (satisfies(session.value?.scopes ?? [], scope) ? path : undefined);
  const status = useResource<Status>(may('muster:get:status', 'status'), news => news.type === 'event' || ofFleet(news));
  const blocked = useResource<PoolList>(may('muster:get:pools', 'pools?verdict=blocked&limit=1000'), ofFleet);
  const providers = useResource<ProviderList>(may('muster:get:providers', 'providers'), ofKinds('provider', 'listing', 'hold'));
  const queue = useResource<QueueLoad>(may('muster:get:queue', 'queue'), ofFleet);
  const holds = useResource<HoldList>(may('muster:get:holds', 'holds'), ofKinds('hold'));
  const history = useResource<History>(may('muster:get:pools', 'history'), news => news.type === 'change');
  const last = history.value?.points.at(-1);
  const verdicts = status.value?.fleet.verdicts ?? {};
  const needs = needsOf(status.value, blocked.value, providers.value, queue.value);
  const known = status.value || blocked.value || providers.value;
  return (
    <>
      <h1>Overview</h1>
      <Section title="Needs a person">
        {needs.length > 0 && (
          <ul class="needs">
            {needs.map(need => (
              <li key={need.key} class={need.serious ? '' : 'warning'}>
                <a href={need.href}><strong>{need.what}</strong></a>
                <div class="quiet">{need.why}</div>
              </li>
            ))}
          </ul>
        )}
        {needs.length === 0 && known && <p class="empty">Nothing: no pool is blocked, no provider is down, all configurations are in force.</p>}
        {[status, blocked, providers, queue].map((each, index) =>
          each.error && <Loaded<unknown> key={index} of={each} what={['the status', 'blocked pools', 'providers', 'the queue'][index]!}>{() => null}</Loaded>)}
      </Section>
      <div class="tiles">
        <Tile name="Pools" value={count(status.value?.fleet.pools ?? 0)} href={hrefTo(['pools'])}
          note={Object.entries(verdicts).map(([kind, number]) => <><Badge kind={kind}>{number} {kind}</Badge> </>)} />
        <Tile name="Workers" value={count(status.value?.fleet.workers ?? 0)} href={hrefTo(['workers'])} />
        <Tile name="Running" value={last ? count(last.running) : '–'} note={last ? `${count(last.busy)} busy` : undefined} />
        <Tile name="Pending" value={last ? count(last.pending) : '–'} href={hrefTo(['pools'], { sort: 'pending' })} kind={last?.pending ? 'warn' : ''} />
        <Tile name="Cost per hour" value={last ? money(last.pricePerHour) : '–'} />
        <Tile name="Requests waiting" value={count(queue.value?.waiting ?? 0)} href={hrefTo(['queue'])}
          note={queue.value?.oldest ? <>oldest <Time at={queue.value.oldest} /></> : undefined} />
        <Tile name="Holds" value={count(holds.value?.holds.length ?? 0)} href={hrefTo(['holds'])} kind={holds.value?.holds.length ? 'warn' : ''} />
      </div>
      <div class="columns">
        <Section title="Capacity and demand">
          <Loaded of={history} what="the history">{value => <CapacityPlot points={value.points} title="Fleet" />}</Loaded>
        </Section>
        <Section title="Money">
          <Loaded of={history} what="the history">{value => <CostPlot points={value.points} title="Cost per hour, all workers" />}</Loaded>
        </Section>
      </div>
    </>
  );
}
