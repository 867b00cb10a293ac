// The calls of Azure Resource Manager that this Azure knows: what they need, and what they do.
import { group, groupPath, imageId, locations, sizes, subnets, subscription, withZones } from './catalogue.mjs';
import { notFound, Refusal } from './refusal.mjs';
import { idOf, types } from './resources.mjs';

const inGroup = `/subscriptions/[^/]+/resourcegroups/([^/]+)/providers/`;
const versions = {
  compute: ['2020-12-01', '2021-07-01', '2022-03-01', '2022-08-01', '2022-11-01', '2023-03-01', '2023-07-01', '2023-09-01', '2024-03-01', '2024-07-01', '2024-11-01'],
  disks: ['2022-07-02', '2023-04-02', '2023-10-02', '2024-03-02'], skus: ['2019-04-01', '2021-07-01'],
  network: ['2020-11-01', '2022-07-01', '2023-05-01', '2023-09-01', '2023-11-01', '2024-01-01', '2024-03-01', '2024-05-01'],
  resources: ['2020-06-01', '2021-04-01', '2022-09-01', '2023-07-01', '2024-03-01', '2024-07-01', '2024-11-01', '2025-04-01'], authorization: ['2015-07-01', '2018-07-01', '2022-04-01'],
};
const route = (method, pattern, call) => ({ method, pattern: new RegExp(`^${pattern}$`, 'i'), ...call });
const ofType = (type, source, className, mapper) => ({ type, source, className, mapper });
const kinds = [ofType(types.disk, 'disks', 'Disk', 'compute'), ofType(types.nic, 'network', 'NetworkInterface', 'network'), ofType(types.address, 'network', 'PublicIPAddress', 'network')];

// `name`: of the call, for tests and faults. `action`: the permission. `body`: [mapper's package, class]. `answer`: the same of what is answered. `perform(azure, names, asked)`
// returns {status, document, operation, list}.
export const routes = [
  route('PUT', `${inGroup}microsoft.compute/virtualmachines/([^/]+)`, {
    name: 'virtualMachines.put', action: `${types.machine}/write`, versions: versions.compute, body: ['compute', 'VirtualMachine'], answer: ['compute', 'VirtualMachine'],
    perform(azure, [name], { body, headers }) {
      const { machine, operation, created } = azure.machines.put(name, body, { onlyIfNew: headers['if-none-match'] === '*' });
      return { status: created ? 201 : 200, document: azure.machines.describe(machine), operation };
    },
  }),
  route('GET', `${inGroup}microsoft.compute/virtualmachines/([^/]+)`, {
    name: 'virtualMachines.get', action: `${types.machine}/read`, versions: versions.compute, answer: ['compute', 'VirtualMachine'],
    perform: (azure, [name], { query }) => ({ document: azure.machines.describe(azure.machines.known(name), { view: query.get('$expand') === 'instanceView', userData: query.get('$expand') === 'userData' }) }),
  }),
  route('GET', `${inGroup}microsoft.compute/virtualmachines/([^/]+)/instanceView`, {
    name: 'virtualMachines.instanceView', action: `${types.machine}/read`, versions: versions.compute, answer: ['compute', 'VirtualMachineInstanceView'],
    perform: (azure, [name]) => ({ document: azure.machines.instanceView(azure.machines.known(name)) }),
  }),
  route('DELETE', `${inGroup}microsoft.compute/virtualmachines/([^/]+)`, {
    name: 'virtualMachines.delete', action: `${types.machine}/delete`, versions: versions.compute, gone: true,
    perform: (azure, [name]) => ({ status: 202, operation: azure.machines.delete(name) }),
  }),
  route('GET', `${inGroup}microsoft.compute/virtualmachines`, {
    name: 'virtualMachines.list', action: `${types.machine}/read`, versions: versions.compute, answer: ['compute', 'VirtualMachineListResult'],
    perform(azure, names, { query }) {
      if (query.get('$expand') === 'instanceView' && !query.get('$filter')) throw new Refusal('InvalidParameter', 'The expand instanceView of a list needs a filter.');
      return { list: azure.machines.visible().map(machine => () => azure.machines.describe(machine, { view: query.get('$expand') === 'instanceView' })) };
    },
  }),
  route('GET', '/subscriptions/[^/]+/providers/microsoft.compute/virtualmachines', {
    name: 'virtualMachines.listAll', action: `${types.machine}/read`, versions: versions.compute, subscription: true, answer: ['compute', 'VirtualMachineListResult'],
    perform: (azure, names, { query }) => ({
      list: azure.machines.visible().map(machine => () => (query.get('statusOnly') === 'true'
        ? { id: idOf(types.machine, machine.name), name: machine.name, type: types.machine, location: machine.location, properties: { vmId: machine.vmId, provisioningState: azure.machines.provisioningState(machine), instanceView: azure.machines.instanceView(machine) } }
        : azure.machines.describe(machine))),
    }),
  }),
  ...kinds.flatMap(({ type, source, className, mapper }) => {
    const short = type.split('/')[1];
    const path = type.toLowerCase();
    const put = { [types.disk]: 'putDisk', [types.nic]: 'putNic', [types.address]: 'putAddress' }[type];
    return [
      route('PUT', `${inGroup}${path}/([^/]+)`, {
        name: `${short}.put`, action: `${type}/write`, versions: versions[source], body: [mapper, className], answer: [mapper, className],
        perform(azure, [name], { body }) {
          const made = azure.resources[put](name, body);
          return { status: 201, document: azure.resources.describe(made), operation: azure.operations.begin(made.location) };
        },
      }),
      route('GET', `${inGroup}${path}/([^/]+)`, {
        name: `${short}.get`, action: `${type}/read`, versions: versions[source], answer: [mapper, className], perform: (azure, [name]) => ({ document: azure.resources.describe(azure.resources.get(type, name)) }),
      }),
      route('DELETE', `${inGroup}${path}/([^/]+)`, { name: `${short}.delete`, action: `${type}/delete`, versions: versions[source], gone: true, perform: (azure, [name]) => ({ status: 202, operation: azure.resources.remove(type, name) }) }),
      route('GET', `${inGroup}${path}`, {
        name: `${short}.list`, action: `${type}/read`, versions: versions[source], answer: [mapper, { Disk: 'DiskList' }[className] ?? `${className}ListResult`], perform: azure => ({ list: azure.resources.list(type).map(resource => () => azure.resources.describe(resource)) }),
      }),
    ];
  }),
  route('GET', '/subscriptions/[^/]+/providers/microsoft.(?:compute|network)/locations/([^/]+)/operations/([^/]+)', {
    name: 'operations.get', versions: [...versions.compute, ...versions.disks, ...versions.network, ...versions.resources], subscription: true, async: true,
    perform: (azure, [, id]) => ({ document: azure.operations.describe(id) }),
  }),
  route('GET', '/subscriptions/[^/]+/providers/microsoft.compute/locations/([^/]+)/usages', {
    name: 'usage.list', action: 'Microsoft.Compute/locations/usages/read', versions: versions.compute, subscription: true, answer: ['compute', 'ListUsagesResult'],
    perform(azure, [location]) {
      if (!locations.includes(location)) throw new Refusal('NoRegisteredProviderFound', `No registered resource provider found for location '${location}'.`);
      return { list: azure.machines.usages(location).map(entry => () => entry) };
    },
  }),
  route('GET', '/subscriptions/[^/]+/providers/microsoft.compute/skus', {
    name: 'resourceSkus.list', action: 'Microsoft.Compute/skus/read', versions: versions.skus, subscription: true, answer: ['compute', 'ResourceSkusResult'],
    perform(azure, names, { query }) {
      const [, location] = /^location eq '([^']+)'$/.exec(query.get('$filter') ?? '') ?? [];
      if (query.get('$filter') && !location) throw new Refusal('InvalidParameter', `The filter ${query.get('$filter')} is not supported: location eq 'westus2'.`);
      return { list: locations.filter(entry => !location || entry === location).flatMap(entry => sizes.map(size => () => sku(azure, entry, size))) };
    },
  }),
  route('GET', `${inGroup}microsoft.authorization/permissions`, {
    name: 'permissions.list', action: 'Microsoft.Authorization/permissions/read', versions: versions.authorization, perform: azure => ({ list: azure.identities.permissions().map(entry => () => entry) }),
  }),
  route('PUT', `${inGroup}microsoft.resources/deployments/([^/]+)`, {
    name: 'deployments.put', action: `${types.deployment}/write`, versions: versions.resources, body: ['resources', 'Deployment'], answer: ['resources', 'DeploymentExtended'],
    perform(azure, [name], { body }) {
      const deployment = azure.deployments.put(name, body);
      return { status: 201, document: azure.deployments.describe(deployment), operation: deployment.operation };
    },
  }),
  route('GET', `${inGroup}microsoft.resources/deployments/([^/]+)`, {
    name: 'deployments.get', action: `${types.deployment}/read`, versions: versions.resources, answer: ['resources', 'DeploymentExtended'], perform: (azure, [name]) => ({ document: azure.deployments.describe(azure.deployments.known(name)) }),
  }),
  route('GET', `${inGroup}microsoft.resources/deployments`, {
    name: 'deployments.list', action: `${types.deployment}/read`, versions: versions.resources, answer: ['resources', 'DeploymentListResult'],
    perform: azure => ({ list: [...azure.deployments.all.values()].map(deployment => () => azure.deployments.describe(deployment)) }),
  }),
  route('GET', '/subscriptions/[^/]+/resourcegroups/([^/]+)/(?:providers/microsoft.resources/)?deployments/([^/]+)/operations', {
    name: 'deploymentOperations.list', action: `${types.deployment}/operations/read`, versions: versions.resources, answer: ['resources', 'DeploymentOperationsListResult'],
    perform: (azure, [name]) => ({ list: azure.deployments.operationsOf(name).map(entry => () => entry) }),
  }),
  route('DELETE', `${inGroup}microsoft.resources/deployments/([^/]+)`, {
    name: 'deployments.delete', action: `${types.deployment}/delete`, versions: versions.resources, gone: true,
    perform(azure, [name]) {
      azure.deployments.delete(name);
      return { status: 202, operation: azure.operations.begin('westus2') };
    },
  }),
  route('GET', `${inGroup}microsoft.compute/images/([^/]+)`, {
    name: 'images.get', action: 'Microsoft.Compute/images/read', versions: versions.compute,
    perform(azure, [name]) {
      if (!imageId.toLowerCase().endsWith(`/${name.toLowerCase()}`)) throw notFound(group, 'Microsoft.Compute/images', name);
      return { document: { id: imageId, name, type: 'Microsoft.Compute/images', location: 'westus2', properties: { provisioningState: 'Succeeded' } } };
    },
  }),
  route('GET', `${inGroup}microsoft.network/virtualnetworks/([^/]+)/subnets/([^/]+)`, {
    name: 'subnets.get', action: 'Microsoft.Network/virtualNetworks/subnets/read', versions: versions.network,
    perform(azure, [network, name]) {
      const id = `${groupPath}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${name}`;
      if (!subnets.includes(id)) throw notFound(group, 'Microsoft.Network/virtualNetworks/subnets', `${network}/${name}`);
      return { document: { id, name, properties: { addressPrefix: '10.0.0.0/16', provisioningState: 'Succeeded' } } };
    },
  }),
  route('GET', '/subscriptions/[^/]+/resourcegroups/([^/]+)', {
    name: 'resourceGroups.get', action: 'Microsoft.Resources/subscriptions/resourceGroups/read', versions: versions.resources, answer: ['resources', 'ResourceGroup'],
    perform: () => ({ document: { id: groupPath, name: group, type: 'Microsoft.Resources/resourceGroups', location: 'westus2', properties: { provisioningState: 'Succeeded' } } }),
  }),
  route('GET', '/subscriptions/[^/]+', {
    name: 'subscriptions.get', action: 'Microsoft.Resources/subscriptions/read', versions: [...versions.resources, '2020-01-01', '2022-12-01'], subscription: true,
    perform: () => ({ document: { id: `/subscriptions/${subscription}`, subscriptionId: subscription, displayName: 'Tests', state: 'Enabled' } }),
  }),
];

function sku(azure, location, { name, family, cpus, memory, architecture }) {
  const capability = (key, value) => ({ name: key, value: String(value) });
  const restricted = azure.settings.restricted[`${location} ${name}`];
  return {
    resourceType: 'virtualMachines', name, tier: 'Standard', size: name.replace('Standard_', ''), family, locations: [location], locationInfo: [{ location, zones: withZones.includes(location) ? ['1', '2', '3'] : [], zoneDetails: [] }],
    capabilities: [capability('vCPUs', cpus), capability('vCPUsAvailable', cpus), capability('MemoryGB', memory), capability('CpuArchitectureType', architecture), capability('LowPriorityCapable', 'True'), capability('PremiumIO', 'True')],
    restrictions: restricted ? [{ type: 'Location', values: [location], restrictionInfo: { locations: [location] }, reasonCode: restricted }] : [],
  };
}
