// The host that serves this page, and the others that share its database.
import type { DemandSource, Hosts as HostList, Status } from '../api_types';
import { Badge, Fact, Facts, Folded, Json, Loaded, Section, Since, Table, Time } from '../components';
import { count } from '../format';
import { ofFleet, useResource } from '../resource';

type SharingHost = HostList['hosts'][number];

function SharingHosts() {
  const hosts = useResource<HostList>('hosts', ofFleet);
  return (
    <Loaded of={hosts} what="the hosts that share the database">
      {value =>
        value.hosts.length > 0 && (
          <Section title="Hosts of this database">
            <Table<SharingHost> caption="hosts that share the database" rows={value.hosts} rowKey={host => host.name} empty="No host." columns={[
              { name: 'Host', cell: host => host.name },
              { name: 'Role', cell: host => <Badge kind={host.role} /> },
              { name: 'Epoch', number: true, cell: host => host.epoch },
              { name: 'Address', cell: host => host.address },
              { name: 'Version', cell: host => host.version },
              { name: 'Seen', cell: host => `${Math.round(host.seenSecondsAgo)} s ago` },
            ]} />
          </Section>
        )
      }
    </Loaded>
  );
}

interface Condition { cause: string; subject: string; text: string; since: string; told: unknown[]; silenced: boolean }

/** What people are told of, and what could not be sent. */
function Notifications({ of }: { of: Record<string, unknown> }) {
  const conditions = Array.isArray(of.conditions) ? of.conditions as Condition[] : [];
  return (
    <Section title="Notifications">
      <Table<Condition> caption="conditions" rows={conditions} rowKey={each => `${each.cause} ${each.subject}`} empty="Nothing that people are told of." columns={[
        { name: 'What', wide: true, cell: each => <Folded text={each.text} /> },
        { name: 'Since', cell: each => <Time at={each.since} /> },
        { name: 'Told', cell: each => (each.silenced ? 'silenced' : each.told.length > 0 ? count(each.told.length) : 'nobody') },
      ]} />
      <details><summary>Recipients</summary><Json value={of.recipients ?? []} /></details>
    </Section>
  );
}

export function Hosts() {
  const status = useResource<Status>('status', news => news.type === 'event' || ofFleet(news));
  return (
    <>
      <h1>Hosts</h1>
      <Loaded of={status} what="the status">
        {value => (
          <>
            <Section title={value.address}>
              {value.configurationProblems.map(problem => <p key={problem} class="bad">Its configuration is refused: <Folded text={problem} /></p>)}
              {value.restartNeeded.length > 0 && <p class="warn">A restart is needed for: {value.restartNeeded.join(', ')}</p>}
              {value.fleet.reason && <p class="bad"><Folded text={value.fleet.reason} /></p>}
              {value.fleet.storeNotices?.map(notice => <p key={notice} class="warn"><Folded text={notice} /></p>)}
              <dl class="facts">
                <Fact name="State"><Badge kind={value.state} /> fleet <Badge kind={value.fleet.state} /></Fact>
                <Facts of={{ Version: value.version, Process: value.pid, Address: value.address, 'Data directory': value.dataDirectory, 'Configuration file': value.configurationFile ?? 'built-in defaults',
                  Pools: count(value.fleet.pools ?? 0), Workers: count(value.fleet.workers ?? 0), 'Rows set aside': value.rowsSetAside }} />
                <Fact name="Started"><Since at={value.startedAt} /> ago</Fact>
                <Fact name="Configuration read"><Time at={value.configurationLoadedAt} /></Fact>
              </dl>
            </Section>
            <SharingHosts />
            <Section title="Demand">
              <Table<DemandSource> caption="sources of demand" rows={value.fleet.demand ?? []} rowKey={source => source.name} empty="No sources of demand are configured; requests of teams are demand, too." columns={[
                { name: 'Source', cell: source => source.name },
                { name: 'Type', cell: source => source.type },
                { name: 'Pools', number: true, cell: source => count(source.pools) },
                { name: 'Pending', number: true, cell: source => count(source.pending) },
                { name: 'Stale pools', number: true, cell: source => (source.stalePools ? <span class="bad">{source.stalePools}</span> : 0) },
                { name: 'Answered', cell: source => <Time at={source.answered} /> },
                { name: 'Error', wide: true, cell: source => source.error && <><Folded text={source.error} /> <Time at={source.failedSince} /></> },
              ]} />
            </Section>
            <div class="columns">
              <Section title="Events">
                <dl class="facts">
                  <Facts of={{ 'Newest event': value.events && count(value.events.newest), Listeners: value.events && count(value.events.listeners) }} />
                </dl>
                <details><summary>Webhooks and the message broker</summary><Json value={value.events ?? {}} /></details>
              </Section>
              {value.notifications && <Notifications of={value.notifications} />}
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}
