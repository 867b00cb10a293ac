import { ActionButton } from '../action';
import { createClient, rotateClient, setClientEnabled } from '../actions';
import { session } from '../api';
import type { Client, ClientList, Role, RoleList } from '../api_types';
import { Badge, Folded, Id, Loaded, Search, Section, Table, Time } from '../components';
import { plural } from '../format';
import { ofKinds, useResource } from '../resource';
import { route, setQuery } from '../route';

/** Clients that name the role themselves; who may do everything has all roles. */
const clientsWith = (clients: Client[], role: string) => {
  const scope = `assume:${role}`;
  const fits = (held: string) => held === scope || (role.endsWith('*') && held.startsWith(scope.slice(0, -1)))
    || (held.startsWith('assume:') && held.endsWith('*') && scope.startsWith(held.slice(0, -1)));
  return clients.filter(client => client.scopes.some(fits)).map(client => client.clientId);
};

function Scopes({ of }: { of: string[] }) {
  if (of.length === 0) return <span class="quiet">none</span>;
  if (of.length <= 2) return <>{of.map(scope => <div key={scope}><code>{scope}</code></div>)}</>;
  return <details><summary>{plural(of.length, 'scope')}</summary>{of.map(scope => <div key={scope}><code>{scope}</code></div>)}</details>;
}

function Roles({ clients }: { clients: Client[] }) {
  const roles = useResource<RoleList>('roles', ofKinds('client', 'audit', 'configuration'));
  return (
    <Section title="Roles" aside={<span class="quiet">A client with the scope <code>assume:NAME</code> has the scopes of the role.</span>}>
      <Loaded of={roles} what="roles">
        {value => (
          <Table<Role> caption="roles" rows={value.roles} rowKey={role => role.role} empty="No roles. They are in the host's configuration, auth.roles." columns={[
            { name: 'Role', cell: role => <Id text={role.role} /> },
            { name: 'Scopes', wide: true, cell: role => <Scopes of={role.scopes} /> },
            { name: 'With other roles', wide: true, cell: role => <Scopes of={role.expandedScopes} /> },
            { name: 'Clients', wide: true, cell: role => <Folded text={clientsWith(clients, role.role).join(', ') || 'none'} /> },
          ]} />
        )}
      </Loaded>
    </Section>
  );
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
            <Roles clients={value.clients} />
          </>
        )}
      </Loaded>
    </>
  );
}
