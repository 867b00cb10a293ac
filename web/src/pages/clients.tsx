import { ActionButton } from '../action';
import { createClient, rotateClient, setClientEnabled } from '../actions';
import { session } from '../api';
import type { Client, ClientList } from '../api_types';
import { Badge, Id, Loaded, Search, Section, Table, Time } from '../components';
import { plural } from '../format';
import { ofKinds, useResource } from '../resource';
import { route, setQuery } from '../route';

const rolesOf = (clients: Client[]) => {
  const roles = new Map<string, string[]>();
  for (const client of clients)
    for (const scope of client.scopes)
      if (scope.startsWith('assume:')) roles.set(scope.slice(7), [...(roles.get(scope.slice(7)) ?? []), client.clientId]);
  return [...roles].sort(([a], [b]) => (a < b ? -1 : 1));
};

function Scopes({ of }: { of: string[] }) {
  if (of.length === 0) return <span class="quiet">none</span>;
  if (of.length <= 2) return <>{of.map(scope => <div key={scope}><code>{scope}</code></div>)}</>;
  return <details><summary>{plural(of.length, 'scope')}</summary>{of.map(scope => <div key={scope}><code>{scope}</code></div>)}</details>;
}

export function Clients() {
  const clients = useResource<ClientList>('clients', ofKinds('client', 'audit'));
  const search = route.value.query.get('search') ?? '';
  return (
    <>
      <div class="title"><h1>Clients and roles</h1><ActionButton action={createClient(clients.reload)} /></div>
      <Section title="You">
        <p>You are <strong>{session.value?.clientId}</strong>; this session ends <Time at={session.value?.expires} />. <Scopes of={session.value?.scopes ?? []} /></p>
      </Section>
      <Loaded of={clients} what="clients">
        {value => (
          <>
            <Section title="Clients" aside={<Search label="Client or scope" value={search} onChange={text => setQuery({ search: text })} />}>
              <Table<Client>
                caption="clients" rowKey={client => `${client.clientId} ${client.kind}`} empty="No client fits."
                rows={value.clients.filter(client => `${client.clientId} ${client.scopes.join(' ')} ${client.description ?? ''}`.toLowerCase().includes(search.toLowerCase()))}
                columns={[
                  { name: 'Client', cell: client => <Id text={client.clientId} /> },
                  { name: 'Kind', cell: client => client.kind },
                  { name: 'Made by', cell: client => client.origin },
                  { name: 'State', cell: client => <Badge kind={client.disabled ? 'disabled' : 'active'} /> },
                  { name: 'Scopes', wide: true, cell: client => <Scopes of={client.scopes} /> },
                  { name: 'For', wide: true, cell: client => client.description },
                  { name: 'Expires', cell: client => (client.expires ? <Time at={client.expires} /> : 'never') },
                  { name: '', cell: client => client.origin === 'api' && (
                    <span class="buttons"><ActionButton small action={rotateClient(client, clients.reload)} /><ActionButton small action={setClientEnabled(client, clients.reload)} /></span>) },
                ]}
              />
            </Section>
            <Section title="Roles that clients have">
              <Table caption="roles" rows={rolesOf(value.clients)} rowKey={([role]) => role} empty="No client has a role (a scope assume:NAME). Roles are in the host's configuration, auth.roles." columns={[
                { name: 'Role', cell: ([role]) => <code>{role}</code> },
                { name: 'Clients', wide: true, cell: ([, names]) => names.join(', ') },
              ]} />
            </Section>
          </>
        )}
      </Loaded>
    </>
  );
}
