// Providers as the fleet sees them, plugins with their versions and instances.
import { ActionButton } from '../action';
import { rollBackPlugin } from '../actions';
import { pathOf } from '../api';
import type { Plugin, Plugins, Provider, ProviderDetail, ProviderList } from '../api_types';
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
              { name: 'Trouble', wide: true, cell: provider => provider.trouble && <><Folded text={provider.trouble} /> <span class="quiet">since <Time at={provider.troubleSince} /></span></> },
            ]} />
        )}
      </Loaded>
    </Section>
  );
}

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
                <div key={version.sha256}>{version.version} <Badge kind={version.state} /> <span class="quiet">{version.isolation} <Time at={version.since} /></span> {version.reason && <Folded text={version.reason} />}</div>)) },
              { name: 'Instances', wide: true, cell: plugin => plugin.instances.map((instance: Instance) => (
                <div key={instance.instanceId}>
                  {instance.instanceId} <Badge kind={instance.state} />{' '}
                  <span class="quiet">{instance.isolation}{instance.pid ? `, cell ${instance.pid}` : ''}; {count(instance.calls ?? 0)} calls, {count(instance.failedCalls ?? 0)} failed, {count(instance.restarts ?? 0)} restarts</span>
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
              {value.trouble && <p class="bad"><Folded text={value.trouble} /> <span class="quiet">since <Time at={value.troubleSince} /></span></p>}
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

export function Providers({ chosen }: { chosen?: string }) {
  if (chosen) return <ProviderPage key={chosen} id={chosen} />;
  return <><h1>Providers and plugins</h1><ProviderTable /><PluginTable /></>;
}
