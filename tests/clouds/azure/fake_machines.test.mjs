// The fake Resource Manager, driven by Microsoft's own clients.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';

import { group, groupPath, imageId, subnetId, subscription } from './lib/catalogue.mjs';
import { FakeAzure, machineBody } from './lib/fake_azure.mjs';
import { officialClient } from './lib/official_client.mjs';

const quickly = { updateIntervalInMs: 1 };
// The client's spelling of a body: it has no `properties`.
const flat = ({ properties, ...rest }) => ({
  ...rest, ...properties,
  networkProfile: {
    ...properties.networkProfile,
    networkInterfaceConfigurations: properties.networkProfile.networkInterfaceConfigurations.map(({ name, properties: nic }) => ({
      name, ...nic,
      ipConfigurations: nic.ipConfigurations.map(({ name: ip, properties: { publicIPAddressConfiguration: open, ...inside } }) => ({ name: ip, ...inside, ...(open && { publicIPAddressConfiguration: { name: open.name, ...open.properties } }) })),
    })),
  },
});

describe('the fake Resource Manager', () => {
  let fake;
  let compute;
  let network;
  const create = (name, more = {}) => compute.virtualMachines.beginCreateOrUpdateAndWait(group, name, flat(machineBody('westus2', { name, ...more })), quickly);
  const remove = name => compute.virtualMachines.beginDeleteAndWait(group, name, quickly);
  const refused = (promise, code, words = /./) => assert.rejects(promise, error => ((error.code ?? /has failed\. (\w+)\./.exec(error.message)?.[1]) === code && words.test(error.message)) || assert.fail(`${error.code}: ${error.message}`));
  const raw = async (method, path, body, headers = {}) => {
    const answer = await fetch(`${fake.url}${path}${path.includes('?') ? '' : '?api-version=2024-07-01'}`, {
      method, body: body && JSON.stringify(body), headers: { authorization: `Bearer ${fake.identities.grant('tests').access_token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, ...(text && JSON.parse(text)) };
  };
  const machinePath = name => `${groupPath}/providers/Microsoft.Compute/virtualMachines/${name}`;
  const all = async pages => {
    const found = [];
    for await (const item of pages) found.push(item);
    return found;
  };

  beforeEach(async () => {
    await fake?.close();
    fake = await FakeAzure.start();
    compute = officialClient('compute', fake);
    network = officialClient('network', fake);
  });
  after(() => fake.close());

  it('refuses_what_is_not_in_Microsofts_mappers', async () => {
    const wrong = async (change, words) => {
      const body = machineBody('westus2', { name: 'a' });
      change(body);
      const { status, error } = await raw('PUT', machinePath('a'), body);
      assert.equal(status, 400);
      assert.match(`${error.code} ${error.message}`, words);
    };
    await wrong(body => (body.colour = 'red'), /InvalidRequestContent .*Could not find member 'colour'/);
    await wrong(body => (body.properties.prioritty = 'Spot'), /Could not find member 'prioritty'.*Path 'properties\.prioritty'/);
    await wrong(body => (body.properties.priority = 'Cheap'), /InvalidParameter .*Cheap.*Spot/);
    await wrong(body => (body.properties.storageProfile.osDisk.caching = 'Sometimes'), /ReadOnly, ReadWrite/);
    await wrong(body => (body.properties.storageProfile.osDisk.deleteOption = 'Erase'), /Delete/);
    await wrong(body => (body.properties.storageProfile.osDisk.diskSizeGB = '30'), /Number/);
    await wrong(body => (body.properties.networkProfile.networkInterfaceConfigurations[0].primary = true), /Could not find member 'primary'/);
    await wrong(body => (body.properties.vmId = 'mine'), /Azure alone sets this/);
    await wrong(body => (body.tags = { a: 1 }), /String/);
    await wrong(body => (body.properties.hardwareProfile = []), /object/);
    assert.equal((await raw('PUT', `${machinePath('a')}?api-version=1999-01-01`, machineBody('westus2', { name: 'a' }))).error.code, 'NoRegisteredProviderFound');
    assert.equal((await raw('GET', `${machinePath('a')}?x=1`)).error.code, 'MissingApiVersionParameter');
    assert.equal((await raw('GET', `/subscriptions/other/resourceGroups/${group}`)).error.code, 'SubscriptionNotFound');
    assert.equal((await raw('GET', `/subscriptions/${subscription}/resourceGroups/other`)).error.code, 'ResourceGroupNotFound');
    assert.equal(fake.machines.all.size, 0);
    assert.deepEqual(fake.resources.left, []);
  });

  it('refuses_sizes_images_networks_zones_and_markets_that_are_wrong', async () => {
    await refused(create('a', { size: 'Standard_Z99' }), 'InvalidParameter', /Standard_Z99/);
    await refused(create('a', { zones: ['7'] }), 'InvalidAvailabilityZone');
    await refused(create('a', { evictionPolicy: 'Delete' }), 'OperationNotAllowed', /Spot/);
    await refused(create('a', { storageProfile: { imageReference: { id: `${imageId}x` }, osDisk: { createOption: 'FromImage' } } }), 'InvalidParameter', /image/);
    const body = machineBody('westus2', { name: 'a' });
    body.properties.networkProfile.networkInterfaceConfigurations[0].properties.ipConfigurations[0].properties.subnet.id = 'elsewhere';
    assert.equal((await raw('PUT', machinePath('a'), body)).error.code, 'InvalidResourceReference');
    assert.deepEqual(fake.resources.left, []);
  });

  it('creates_shows_and_deletes_with_all_that_belongs_to_it', async () => {
    const made = await create('one', { tags: { owner: 'us' }, address: true, priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } });
    assert.deepEqual([made.provisioningState, made.tags.owner, made.priority], ['Succeeded', 'us', 'Spot']);
    assert.equal(made.osProfile.adminPassword, undefined);
    assert.deepEqual(fake.resources.left.sort(), ['disks/disk-one', 'networkInterfaces/nic-one', 'publicIPAddresses/ip-one']);
    const view = await compute.virtualMachines.instanceView(group, 'one');
    assert.deepEqual(view.statuses.map(status => status.code), ['ProvisioningState/succeeded', 'PowerState/running']);
    const nic = await network.networkInterfaces.get(group, 'nic-one');
    assert.match(nic.virtualMachine.id, /one$/);
    await refused(network.networkInterfaces.beginDeleteAndWait(group, 'nic-one', quickly), 'NicInUse');
    await refused(network.publicIPAddresses.beginDeleteAndWait(group, 'ip-one', quickly), 'PublicIPAddressCannotBeDeleted');
    await refused(compute.disks.beginDeleteAndWait(group, 'disk-one', quickly), 'OperationNotAllowed', /attached/);
    await remove('one');
    assert.deepEqual(fake.resources.left, []);
    await refused(compute.virtualMachines.get(group, 'one'), 'ResourceNotFound');
    assert.equal((await raw('DELETE', machinePath('one'))).status, 204);
  });

  it('leaves_what_deleteOption_does_not_name', async () => {
    await create('one', { address: true, deleteOption: 'Detach' });
    await remove('one');
    assert.deepEqual(fake.resources.left.sort(), ['disks/disk-one', 'networkInterfaces/nic-one', 'publicIPAddresses/ip-one']);
    await network.networkInterfaces.beginDeleteAndWait(group, 'nic-one', quickly);
    await network.publicIPAddresses.beginDeleteAndWait(group, 'ip-one', quickly);
    await compute.disks.beginDeleteAndWait(group, 'disk-one', quickly);
    assert.deepEqual(fake.resources.left, []);
  });

  it('changes_nothing_where_a_creation_must_be_new', async () => {
    const body = machineBody('westus2', { name: 'one' });
    assert.equal((await raw('PUT', machinePath('one'), body, { 'if-none-match': '*' })).status, 201);
    assert.deepEqual((({ status, error }) => [status, error.code])(await raw('PUT', machinePath('one'), body, { 'if-none-match': '*' })), [412, 'PreconditionFailed']);
    assert.equal((await raw('PUT', machinePath('one'), body)).status, 200);
    assert.equal((await raw('PUT', machinePath('one'), machineBody('westus2', { name: 'one', size: 'Standard_D4s_v5' }))).error.code, 'PropertyChangeNotAllowed');
    assert.equal(fake.machines.history.length, 1);
  });

  it('fails_at_each_step_and_leaves_what_came_before', async () => {
    const left = async (step, code = 'AllocationFailed') => {
      fake.configure({ createErrors: [{ step, code, times: 1 }] });
      await refused(create(step, { address: true }), code);
      const found = fake.resources.left.map(name => name.split('/')[0]).sort().join(' ');
      const machine = fake.machines.all.get(step);
      if (machine) await remove(step);
      for (const resource of [...fake.resources.all.values()]) fake.resources.drop(resource);
      return [found, machine ? 'Failed' : 'no machine'];
    };
    assert.deepEqual(await left('address'), ['', 'Failed']);
    assert.deepEqual(await left('nic'), ['publicIPAddresses', 'Failed']);
    assert.deepEqual(await left('accept', 'SkuNotAvailable'), ['networkInterfaces publicIPAddresses', 'no machine']);
    assert.deepEqual(await left('disk'), ['networkInterfaces publicIPAddresses', 'Failed']);
    assert.deepEqual(await left('allocation'), ['disks networkInterfaces publicIPAddresses', 'Failed']);
  });

  it('knows_capacity_quotas_and_what_is_not_available', async () => {
    fake.configure({ capacity: { 'westus2 Standard_D2s_v5': 1 }, notAvailable: { 'westus2 Standard_F4s_v2': true }, quotas: { 'westus2 standardDSv5Family': 10, lowPriorityCores: 3 } });
    await create('one');
    await refused(create('two'), 'AllocationFailed', /sufficient capacity/);
    await remove('two');
    await refused(create('three', { size: 'Standard_F4s_v2' }), 'SkuNotAvailable', /Standard_F4s_v2.*westus2/);
    await create('four', { size: 'Standard_D8s_v5' });
    await refused(create('five', { size: 'Standard_D4s_v5' }), 'OperationNotAllowed', /standardDSv5Family Cores quota.*Current Limit: 10, Current Usage: 10, Additional Required: 4/);
    await refused(create('six', { size: 'Standard_D4s_v5', priority: 'Spot' }), 'OperationNotAllowed', /LowPriorityCores/);
    const usage = await all(compute.usageOperations.list('westus2'));
    assert.deepEqual(usage.filter(({ name }) => name.value === 'standardDSv5Family').map(({ currentValue, limit }) => [currentValue, limit]), [[10, 10]]);
    const skus = await all(compute.resourceSkus.list({ filter: 'location eq \'westus2\'' }));
    assert.equal(skus.find(({ name }) => name === 'Standard_D8s_v5').capabilities.find(({ name }) => name === 'vCPUs').value, '8');
  });

  it('takes_its_time_if_told', async () => {
    fake.configure({ operationMs: 3_600_000, retryAfter: 7, visibleAfterMs: 1_800_000 });
    const made = await raw('PUT', machinePath('one'), machineBody('westus2', { name: 'one' }));
    assert.deepEqual([made.status, made.properties.provisioningState, made.headers.get('retry-after')], [201, 'Creating', '7']);
    const operation = new URL(made.headers.get('azure-asyncoperation'));
    assert.equal((await raw('GET', operation.pathname + operation.search)).headers.get('retry-after'), '7');
    assert.equal((await all(compute.virtualMachines.list(group))).length, 0);
    fake.clockOffset = 3_600_001;
    assert.deepEqual((({ status }) => status)(await raw('GET', operation.pathname + operation.search)), 'Succeeded');
  });

  it('shows_pages_and_instance_views', async () => {
    fake.seed(450, { tags: { owner: 'us' } });
    const before = fake.count('virtualMachines.list');
    assert.equal((await all(compute.virtualMachines.list(group))).length, 450);
    assert.equal(fake.count('virtualMachines.list') - before, 3);
    const states = await all(compute.virtualMachines.listAll({ statusOnly: 'true' }));
    assert.equal(states[0].instanceView.statuses[1].code, 'PowerState/running');
    assert.equal((await all(network.networkInterfaces.list(group))).length, 450);
    assert.equal((await all(compute.disks.listByResourceGroup(group))).length, 450);
    assert.match((await raw('GET', `${machinePath('').slice(0, -1)}?api-version=2024-07-01&$expand=instanceView`)).error.message, /filter/);
  });

  it('deploys_templates', async () => {
    const resources = officialClient('resources', fake);
    const { properties, ...machine } = machineBody('westus2', { name: 'x' });
    const template = {
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#', contentVersion: '1.0.0.0',
      parameters: { vmName: { type: 'string' }, location: { type: 'string', defaultValue: '[resourceGroup().location]' }, adminPassword: { type: 'secureString' }, tags: { type: 'object', defaultValue: {} } },
      variables: { nic: '[concat(\'nic-\', parameters(\'vmName\'))]' },
      resources: [
        {
          ...machine, type: 'Microsoft.Compute/virtualMachines', apiVersion: '2024-07-01', name: '[parameters(\'vmName\')]', location: '[parameters(\'location\')]', tags: '[parameters(\'tags\')]',
          dependsOn: ['[resourceId(\'Microsoft.Network/networkInterfaces\', variables(\'nic\'))]'],
          properties: {
            ...properties, osProfile: { ...properties.osProfile, adminPassword: '[parameters(\'adminPassword\')]' },
            networkProfile: { networkInterfaces: [{ id: '[resourceId(\'Microsoft.Network/networkInterfaces\', variables(\'nic\'))]', properties: { deleteOption: 'Delete' } }] },
          },
        },
        { type: 'Microsoft.Network/networkInterfaces', apiVersion: '2023-11-01', name: '[variables(\'nic\')]', location: '[parameters(\'location\')]', properties: { ipConfigurations: [{ name: 'ip0', properties: { subnet: { id: subnetId('westus2') } } }] } },
      ],
    };
    const deploy = (name, parameters, change = {}) => resources.deployments.beginCreateOrUpdateAndWait(group, name, { properties: { mode: 'Incremental', template: { ...template, ...change }, parameters: { adminPassword: { value: 'Aa1!secret' }, ...parameters } } }, quickly);
    const done = await deploy('deploy-one', { vmName: { value: 'one' }, tags: { value: { owner: 'us' } } });
    assert.equal(done.properties.provisioningState, 'Succeeded', JSON.stringify(done.properties.error));
    assert.ok(!JSON.stringify(done).includes('Aa1!secret'));
    assert.deepEqual([fake.machines.living()[0].tags.owner, fake.resources.left.sort()], ['us', ['disks/disk-x', 'networkInterfaces/nic-one']]);
    assert.equal((await all(resources.deploymentOperations.list(group, 'deploy-one'))).length, 2);
    await resources.deployments.beginDeleteAndWait(group, 'deploy-one', quickly);
    await remove('one');
    assert.deepEqual(fake.resources.left, []);
    await refused(deploy('bad', {}), 'InvalidTemplate', /vmName/);
    await refused(deploy('bad', { vmName: { value: 'a' }, colour: { value: 'red' } }), 'InvalidTemplate', /colour/);
    fake.configure({ createErrors: [{ step: 'accept', code: 'SkuNotAvailable', times: 1 }] });
    await deploy('two', { vmName: { value: 'two' } }).then(result => assert.equal(result.properties.provisioningState, 'Failed'), error => assert.match(JSON.stringify(error), /Failed|SkuNotAvailable/));
    const failed = await raw('GET', `${groupPath}/providers/Microsoft.Resources/deployments/two`);
    assert.deepEqual([failed.properties.provisioningState, failed.properties.error.details[0].code], ['Failed', 'SkuNotAvailable']);
    assert.deepEqual(fake.resources.left, ['networkInterfaces/nic-two']);
  });

  it('evicts', async () => {
    const spot = { priority: 'Spot', evictionPolicy: 'Deallocate' };
    await create('one', spot);
    fake.machines.evict(fake.instance('one'));
    assert.equal((await compute.virtualMachines.instanceView(group, 'one')).statuses[1].code, 'PowerState/deallocated');
    await create('two', { ...spot, evictionPolicy: 'Delete' });
    fake.machines.evict(fake.instance('two'));
    await refused(compute.virtualMachines.get(group, 'two'), 'ResourceNotFound');
  });

  it('knows_who_may_do_what_and_goes_wrong_on_request', async () => {
    await refused(officialClient('compute', fake, { token: 'wrong' }).virtualMachines.get(group, 'a'), 'InvalidAuthenticationToken');
    fake.identities.denied.add('Microsoft.Compute/virtualMachines/write');
    await refused(create('a'), 'AuthorizationFailed', /Microsoft\.Compute\/virtualMachines\/write/);
    const { value } = await raw('GET', `${groupPath}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01`);
    assert.deepEqual([value[0].actions, value[0].notActions], [['*'], ['Microsoft.Compute/virtualMachines/write']]);
    fake.identities.denied.clear();
    fake.configure({ remaining: { writes: 3, machines: 2 }, throttle: { 'virtualMachines.list': { burst: 0, perSecond: 0 } }, retryAfter: 11 });
    const put = await raw('PUT', machinePath('b'), machineBody('westus2', { name: 'b' }));
    assert.deepEqual([put.headers.get('x-ms-ratelimit-remaining-subscription-writes'), put.headers.get('x-ms-ratelimit-remaining-resource').split(',')[0]], ['3', 'Microsoft.Compute/PutVM3Min;2']);
    const throttled = await raw('GET', machinePath('').slice(0, -1));
    assert.deepEqual([throttled.status, throttled.headers.get('retry-after'), throttled.error.code], [429, '11', 'TooManyRequests']);
    fake.faults.add({ kind: 'cut', action: 'virtualMachines.put', times: 1 });
    await assert.rejects(raw('PUT', machinePath('lost'), machineBody('westus2', { name: 'lost' })));
    assert.ok(fake.instance('lost'), 'the answer is lost, the machine is there');
    for (const kind of ['truncated', 'html', 'big', 'refuse', 'login']) {
      fake.faults.add({ kind, action: 'virtualMachines.get', times: 1 });
      await assert.rejects(raw('GET', machinePath('lost')), undefined, kind);
    }
  });
});
