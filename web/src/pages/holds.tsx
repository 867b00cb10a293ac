import { ActionButton } from '../action';
import { releaseHold } from '../actions';
import type { Hold, HoldList } from '../api_types';
import { Badge, Folded, Loaded, Section, Table, Time } from '../components';
import { ofKinds, useResource } from '../resource';
import { to } from '../route';

export function HoldTable({ provider }: { provider?: string }) {
  const holds = useResource<HoldList>(provider ? `holds?providerId=${encodeURIComponent(provider)}` : 'holds', ofKinds('hold'));
  return (
    <Section title="Holds">
      <Loaded of={holds} what="holds">
        {value => (
          <Table<Hold>
            caption="holds" rows={value.holds} rowKey={hold => `${hold.providerId} ${hold.scope}`}
            empty="No holds: every provider is asked everywhere."
            columns={[
              { name: 'Provider', cell: hold => <a href={to.provider(hold.providerId)}>{hold.providerId}</a> },
              { name: 'About', cell: hold => hold.scope || 'everything' },
              { name: 'Class', cell: hold => <Badge kind="warning">{hold.class}</Badge> },
              { name: 'Since', cell: hold => <Time at={hold.since} /> },
              { name: 'Until', cell: hold => (hold.probing ? 'one launch tries now' : <Time at={hold.until} />) },
              { name: 'In a row', number: true, cell: hold => hold.strikes },
              { name: 'Why', wide: true, cell: hold => <>{hold.code && <code>{hold.code} </code>}<Folded text={hold.message} /></> },
              { name: '', cell: hold => <ActionButton small action={releaseHold(hold)} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

export function Holds() {
  return <><h1>Holds</h1><p class="quiet">What is not tried for a while, because a provider has refused it.</p><HoldTable /></>;
}
