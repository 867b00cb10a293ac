// Providers as the fleet sees them, plugins with their versions and instances.
import { ActionButton } from '../action';
import { rollBackPlugin } from '../actions';
import { pathOf } from '../api';
import type { Plugin, PluginInstance, Plugins, Provider, ProviderDetail, ProviderList } from '../api_types';
import { Badge, Fact, Facts, Folded, Id, Json, Loaded, Section, Table, Time } from '../components';
import { count } from '../format';
import { ofFleet, ofKinds, useResource } from '../resource';
import { hrefTo, to } from '../route';
import { HoldTable } from './holds';

function ProviderTable() {
  const list = useResource<ProviderList>('providers', ofFleet);
  return (
    <Section title="Providers">
      <Loaded of={list} what="providers">
        {value => (
          <Table<Provider> caption="providers" rows={value.providers} rowKey={provider => provider.providerId}
            empty={<>No providers are configured. See <code>musterd --print-default-config</code>.</>} columns={[
              { name: 'Provider', cell: provider => <a href={to.provider(provider.providerId)}>{provider.providerId}</a> },
              { name: 'State', cell: provider => <Badge kind={provider.up ? (provider.trouble ? 'warning' : 'up') : 'down'}>{provider.up ? (provider.trouble ? 'trouble' : 'up') : 'down'}</Badge> },
              { name: 'Running', number: true, cell: provider => count(provider.capacity.running) },
              { name: 'Most', number: true, cell: provider => provider.limits.maxCapacity ?? '–' },
              { name: 'Launches/s', number: true, cell: provider => `${count(provider.throttle.launchesPerSecond)} of ${count(provider.limits.launchesPerSecond)}` },
              { name: 'Calls waiting', number: true, cell: provider => `${provider.launchesWaiting} + ${provider.terminationsWaiting}` },
              { name: 'Unsure', number: true, cell: provider => provider.launchesUnsure },
              { name: 'Holds', number: true, cell: provider => (provider.holds ? <a href={to.provider(provider.providerId)}>{provider.holds}</a> : 0) },
              { name: 'Listed', cell: provider => <Time at={provider.listed} /> },
              { name: 'Trouble', wide: true, cell: provider => provider.trouble && <><Folded text={provider.trouble} /> <span class="quiet">(since <Time at={provider.troubleSince} />)</span></> },
            ]} />
        )}
      </Loaded>
    </Section>
  );
}

const placeOf = (isolation?: string) => (isolation === 'in_process' ? 'in the host' : isolation === 'process' ? 'in a cell' : isolation);

type Instance = Plugin['instances'][number];
type Version = Plugin['versions'][number];

function PluginTable() {
  const list = useResource<Plugins>('plugins', ofKinds('plugin'));
  return (
    <Section title="Plugins" aside={<span class="quiet">installed with <code>muster plugin install</code></span>}>
      <Loaded of={list} what="plugins">
        {value => (
          <>
            <Table<Plugin> caption="plugins" rows={value.plugins} rowKey={plugin => plugin.pluginId} empty="No plugins are in the plugin folders." columns={[
              { name: 'Plugin', cell: plugin => <Id text={plugin.pluginId} /> },
              { name: 'State', cell: plugin => <Badge kind={plugin.state} /> },
              { name: 'Versions', wide: true, cell: plugin => plugin.versions.map((version: Version) => (
                <div key={version.sha256}>{version.version} <Badge kind={version.state} /> <span class="quiet">{placeOf(version.isolation)} <Time at={version.since} /></span> {version.reason && <Folded text={version.reason} />}</div>)) },
              { name: 'Instances', wide: true, cell: plugin => plugin.instances.map((instance: Instance) => (
                <div key={instance.instanceId}>
                  <a href={to.pluginInstance(instance.instanceId)}>{instance.instanceId}</a> <Badge kind={instance.state} />{' '}
                  <span class="quiet">{placeOf(instance.isolation)}{instance.pid ? `, cell ${instance.pid}` : ''}; {count(instance.calls ?? 0)} calls, {count(instance.failedCalls ?? 0)} failed, {count(instance.restarts ?? 0)} restarts</span>
                  {(instance.lastFailure ?? instance.reason) && <div class="warn"><Folded text={instance.lastFailure ?? instance.reason ?? ''} /></div>}
                </div>)) },
              { name: '', cell: plugin => plugin.versions.length > 1 && <ActionButton small action={rollBackPlugin(plugin.pluginId)} /> },
            ]} />
            <p class="quiet">Folders: {value.pluginFolders.join(', ')}</p>
          </>
        )}
      </Loaded>
    </Section>
  );
}

const milliseconds = (seconds: number) => (seconds < 1 ? `${count(Math.round(seconds * 10_000) / 10)} ms` : `${count(Math.round(seconds * 100) / 100)} s`);

type Method = PluginInstance['methods'][number];
type LogLine = PluginInstance['log'][number];

/** How long the calls of an instance take, and what it wrote. */
function InstanceSections({ id }: { id: string }) {
  const instance = useResource<PluginInstance>(pathOf('plugin-instances', id), ofKinds('plugin', 'provider', 'listing'));
  return (
    <Loaded of={instance} what={`the plugin instance ${id}`}>
      {value => (
        <>
          <Section title="Calls" aside={<span class="quiet">of the newest 500 of each method, since the host started</span>}>
            <Table<Method> caption="calls" rows={value.methods} rowKey={method => method.method} empty="It was not called yet." columns={[
              { name: 'Method', cell: method => <code>{method.method}</code> },
              { name: 'Calls', number: true, cell: method => count(method.calls) },
              { name: 'Failed', number: true, cell: method => <span class={method.failedCalls ? 'bad' : ''}>{count(method.failedCalls)}</span> },
              { name: 'p50', number: true, cell: method => milliseconds(method.p50Seconds) },
              { name: 'p90', number: true, cell: method => milliseconds(method.p90Seconds) },
              { name: 'p99', number: true, cell: method => milliseconds(method.p99Seconds) },
            ]} />
          </Section>
          <Section title="Log" aside={<span class="quiet">newest first, 200 lines at most</span>}>
            <Table<LogLine & { number: number }> caption="log" rows={value.log.map((line, number) => ({ ...line, number })).reverse()} rowKey={line => line.number} empty="It wrote nothing since the host started." columns={[
              { name: 'When', cell: line => <Time at={line.at} /> },
              { name: 'Level', cell: line => <Badge kind={line.level === 'error' ? 'refused' : line.level === 'warning' ? 'warning' : 'info'}>{line.level}</Badge> },
              { name: 'Line', wide: true, cell: line => <Folded text={line.text} /> },
            ]} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

function InstancePage({ id }: { id: string }) {
  const list = useResource<Plugins>('plugins', ofKinds('plugin'));
  const plugin = list.value?.plugins.find(each => each.instances.some((instance: Instance) => instance.instanceId === id));
  const instance = plugin?.instances.find((each: Instance) => each.instanceId === id);
  return (
    <>
      <h1>Plugin instance <Id text={id} /></h1>
      {plugin && instance && (
        <Section title="State" aside={<a href={hrefTo(['providers'])}>All plugins</a>}>
          <dl class="facts">
            <Fact name="State"><Badge kind={instance.state} /></Fact>
            <Facts of={{ Plugin: <Id text={plugin.pluginId} />, Version: instance.version, Runs: placeOf(instance.isolation), Cell: instance.pid, Restarts: count(instance.restarts ?? 0),
              Calls: count(instance.calls ?? 0), 'Failed calls': count(instance.failedCalls ?? 0), 'Last failure': instance.lastFailure && <Folded text={instance.lastFailure} />,
              Reason: instance.reason && <Folded text={instance.reason} /> }} />
          </dl>
          <p class="quiet">The same on the command line: <code>muster plugin log {id}</code></p>
        </Section>
      )}
      <InstanceSections id={id} />
    </>
  );
}

function ProviderPage({ id }: { id: string }) {
  const provider = useResource<ProviderDetail>(pathOf('providers', id), ofKinds('provider', 'listing', 'hold'));
  return (
    <>
      <h1>Provider <Id text={id} /></h1>
      <Loaded of={provider} what={`the provider ${id}`}>
        {value => (
          <>
            <Section title="State" aside={<a href={hrefTo(['pools'], { providerId: id })}>Its pools</a>}>
              {value.problem && <p class="warn"><Folded text={value.problem} /></p>}
              {value.trouble && <p class="bad"><Folded text={value.trouble} /> <span class="quiet">(since <Time at={value.troubleSince} />)</span></p>}
              <dl class="facts">
                <Fact name="State"><Badge kind={value.up ? 'up' : 'down'} /></Fact>
                <Facts of={{ Plugin: value.description && `${value.description.name} ${value.description.version}`, 'What it is': value.description?.description,
                  Running: value.capacity && count(value.capacity.running), Requested: value.capacity && count(value.capacity.requested),
                  'Launches that wait': value.launchesWaiting, 'Terminations that wait': value.terminationsWaiting, 'Launches without an answer': value.launchesUnsure,
                  'Launches per second': value.throttle && value.limits && `${value.throttle.launchesPerSecond} of ${value.limits.launchesPerSecond}`,
                  Capabilities: value.description?.capabilities?.join(', ') }} />
                <Fact name="Last good listing"><Time at={value.listed} /></Fact>
              </dl>
              <p class="quiet">What its launches need can be tried out: <code>muster provider doctor {id}</code></p>
            </Section>
            <HoldTable provider={id} />
            <InstanceSections id={id} />
            <Section title="Places">
              <Table caption="places" rows={value.placements ?? []} rowKey={place => JSON.stringify(place)} empty="It names no places."
                columns={[{ name: 'Facts', wide: true, cell: place => <code>{Object.entries(place).map(([name, fact]) => `${name}=${String(fact)}`).join(' ')}</code> }]} />
            </Section>
            {value.description && <Section title="What it understands"><details><summary>Schema of its section in worker configurations</summary><Json value={value.description.sectionSchema} /></details></Section>}
          </>
        )}
      </Loaded>
    </>
  );
}

export function Providers({ chosen, instance }: { chosen?: string; instance?: string }) {
  if (instance) return <InstancePage key={instance} id={instance} />;
  if (chosen) return <ProviderPage key={chosen} id={chosen} />;
  return <><h1>Providers and plugins</h1><ProviderTable /><PluginTable /></>;
}
