// The fake compute API, driven by Google's own client.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';

import { project, workerAccount } from './lib/catalogue.mjs';
import { FakeGoogle } from './lib/fake_google.mjs';
import { officialClient, once } from './lib/official_client.mjs';

const zone = 'us-central1-a';
const requestId = last => `11111111-2222-4333-8444-${String(last).padStart(12, '0')}`;
const machine = (name, more = {}) => ({
  name, machineType: `zones/${zone}/machineTypes/n2-standard-4`, labels: { owner: 'us' }, networkInterfaces: [{ network: 'global/networks/default' }],
  disks: [{ boot: true, autoDelete: true, initializeParams: { sourceImage: 'global/images/family/worker', diskSizeGb: '20' } }],
  serviceAccounts: [{ email: workerAccount.email, scopes: ['https://www.googleapis.com/auth/cloud-platform'] }],
  metadata: { items: [{ key: 'taskcluster', value: '{}' }] }, ...more,
});
// The client speaks of HTTP's codes in those of gRPC.
const codes = { 400: 3, 401: 16, 403: 7, 404: 5, 409: 10 };
const spot = { provisioningModel: 'SPOT', automaticRestart: false };

describe('the fake compute API', () => {
  let fake;
  let instances;
  let operations;
  const insert = (body, more = {}) => instances.insert({ project, zone, instanceResource: body, ...more }, once);
  const refused = (promise, code, words = /./) => assert.rejects(promise, error => error.code === codes[code] && words.test(error.message) || assert.fail(`${error.code} ${error.message}`));
  // What the client would never send.
  const raw = async (method, path, body) => {
    const answer = await fetch(`${fake.url}/compute/v1/projects/${project}/${path}`, {
      method, body: body && JSON.stringify(body), headers: { authorization: `Bearer ${fake.identities.grant('person@example.com').access_token}`, ...(body && { 'content-type': 'application/json' }) },
    });
    return { status: answer.status, ...(await answer.json()) };
  };
  const operation = async name => (await operations.get({ project, zone, operation: name }, once))[0];

  beforeEach(async () => {
    await fake?.close();
    fake = await FakeGoogle.start();
    instances = officialClient('Instances', fake);
    operations = officialClient('ZoneOperations', fake);
  });
  after(() => fake.close());

  it('refuses_what_is_not_in_the_description', async () => {
    const wrong = async (more, words) => {
      const { status, error } = await raw('POST', `zones/${zone}/instances`, machine('a', more));
      assert.equal(status, 400);
      assert.match(error.message, words);
      assert.ok(error.errors[0].reason && error.errors[0].domain);
    };
    await wrong({ colour: 'red' }, /Unknown name "colour" at 'instanceResource'/);
    await wrong({ scheduling: { provisioningModell: 'SPOT' } }, /Unknown name "provisioningModell" at 'instanceResource.scheduling'/);
    await wrong({ scheduling: { provisioningModel: 'AUCTION' } }, /provisioningModel.*AUCTION.*SPOT/);
    await wrong({ disks: [{ boot: 'yes' }] }, /disks\[0\]\.boot' \(TYPE_BOOL\)/);
    await wrong({ disks: { boot: true } }, /repeated/);
    await wrong({ disks: [{ boot: true, diskSizeGb: 'big' }] }, /diskSizeGb' \(TYPE_INT64\)/);
    await wrong({ labels: { owner: 7 } }, /TYPE_STRING/);
    await wrong({ name: 7 }, /TYPE_STRING/);
    assert.match((await raw('POST', `zones/${zone}/instances?requestID=x`, machine('a'))).error.message, /Cannot bind query parameter/);
    assert.match((await raw('GET', `zones/${zone}/instances?maxResults=many`)).error.message, /TYPE_UINT32/);
    assert.equal((await raw('POST', `zones/${zone}/fires`, {})).status, 404);
    assert.match((await raw('GET', 'aggregated/instances?fields=items/*/instances(id,colour)')).error.message, /colour/);
    assert.equal(fake.instances.all.size, 0);
  });

  it('refuses_names_types_images_networks_and_labels_that_are_wrong', async () => {
    await refused(insert(machine('Upper')), 400, /regex/);
    await refused(insert(machine('a', { machineType: `zones/${zone}/machineTypes/n9-huge` })), 400, /does not exist/);
    await refused(insert(machine('a', { machineType: 'zones/us-central1-b/machineTypes/n2-standard-4' })), 400, /zone/);
    await refused(insert(machine('a', { machineType: 'n2-standard-4' })), 400, /malformed/);
    await refused(insert(machine('a', { disks: [{ boot: true, initializeParams: { sourceImage: 'global/images/family/none' } }] })), 400, /image/);
    await refused(insert(machine('a', { machineType: `zones/${zone}/machineTypes/t2a-standard-4` })), 400, /architecture/);
    await refused(insert(machine('a', { networkInterfaces: [{ subnetwork: 'regions/us-east1/subnetworks/default' }] })), 400, /subnetwork/);
    await refused(insert(machine('a', { labels: { Owner: 'x' } })), 400, /Label key/);
    await refused(insert(machine('a', { labels: { owner: 'a/b' } })), 400, /Label value/);
    await refused(insert(machine('a', { scheduling: { provisioningModel: 'SPOT' } })), 400, /automaticRestart/);
    await refused(insert(machine('a', { serviceAccounts: [{ email: 'nobody@example.com' }] })), 400, /service account/);
    await refused(insert(machine('a'), { requestId: 'once' }), 400, /UUID/);
    await refused(instances.insert({ project: 'elsewhere', zone, instanceResource: machine('a') }, once), 404, /elsewhere/);
  });

  it('creates_shows_and_deletes', async () => {
    const [{ latestResponse: made }] = await insert(machine('one', { scheduling: spot }));
    const done = await operation(made.name);
    assert.deepEqual([done.status, done.operationType, done.targetId], ['DONE', 'insert', fake.instances.living()[0].id]);
    const [shown] = await instances.get({ project, zone, instance: 'one' }, once);
    assert.deepEqual([shown.status, shown.labels.owner, shown.scheduling.provisioningModel, String(shown.id)], ['RUNNING', 'us', 'SPOT', done.targetId]);
    const found = [];
    for await (const [scope, { instances: some = [] }] of instances.aggregatedListAsync({ project, filter: 'labels.owner = "us"' })) found.push(...some.map(entry => `${scope} ${entry.name}`));
    assert.deepEqual(found, [`zones/${zone} one`]);
    const [ended] = await instances.delete({ project, zone, instance: 'one' }, once);
    assert.equal((await operation(ended.latestResponse.name)).operationType, 'delete');
    await refused(instances.get({ project, zone, instance: 'one' }, once), 404, /one.*was not found/);
    await refused(instances.delete({ project, zone, instance: 'one' }, once), 404);
  });

  it('creates_once_for_a_request', async () => {
    const [first] = await insert(machine('one'), { requestId: requestId(1) });
    const [again] = await insert(machine('one'), { requestId: requestId(1) });
    assert.equal(again.latestResponse.name, first.latestResponse.name);
    await refused(insert(machine('one'), { requestId: requestId(2) }), 409, /already exists/);
    assert.equal(fake.instances.all.size, 1);
  });

  it('creates_many_at_once', async () => {
    fake.configure({ capacity: { [`${zone} n2-standard-4`]: 2 } });
    const { name, ...properties } = machine('x', { machineType: 'n2-standard-4' });
    const bulk = more => instances.bulkInsert({ project, zone, bulkInsertInstanceResourceResource: { count: '3', minCount: '1', instanceProperties: properties, perInstanceProperties: { a: {}, b: {}, c: {} }, ...more } }, once);
    const [{ latestResponse: made }] = await bulk({});
    const done = await operation(made.name);
    assert.equal(done.instancesBulkInsertOperationMetadata.perLocationStatus[`zones/${zone}`].createdVmCount, 2);
    const [each] = await operations.list({ project, zone, filter: `(operationGroupId = "${done.operationGroupId}") (operationType = "insert")` }, once);
    assert.equal(each.length, 2);
    const [failing] = await bulk({ perInstanceProperties: { d: {}, e: {}, f: {} }, minCount: '3' });
    assert.match((await operation(failing.latestResponse.name)).error.errors[0].code, /ZONE_RESOURCE_POOL_EXHAUSTED/);
    await refused(bulk({}), 409, /already exists/);
    assert.equal(fake.instances.living().length, 2);
    assert.equal(name, 'x');
  });

  it('ends_operations_with_errors_and_says_full_quotas_at_once', async () => {
    fake.configure({ capacity: { [`${zone} SPOT n2-standard-4`]: 0 } });
    const [{ latestResponse: made }] = await insert(machine('none', { scheduling: spot }));
    const done = await operation(made.name);
    assert.equal(done.error.errors[0].code, 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS');
    assert.equal(done.error.errors[0].errorDetails[0].errorInfo.metadatas.vmType, 'n2-standard-4');
    assert.equal(done.httpErrorStatusCode, 503);
    await refused(instances.get({ project, zone, instance: 'none' }, once), 404);
    fake.configure({ operationErrors: [{ code: 'QUOTA_EXCEEDED', status: 403, zone, times: 1, errorDetails: [{ quotaInfo: { metricName: 'compute.googleapis.com/cpus', limitName: 'CPUS', limit: 8, dimensions: { region: 'us-central1' } } }] }] });
    const [late] = await insert(machine('late'));
    assert.equal((await operation(late.latestResponse.name)).error.errors[0].errorDetails[0].quotaInfo.limit, 8);
    fake.configure({ quotas: { 'us-central1 N2_CPUS': 4 } });
    await insert(machine('fits'));
    await refused(insert(machine('full')), 403, /Quota 'N2_CPUS' exceeded\. {2}Limit: 4\.0 in region us-central1/);
    const [region] = await officialClient('Regions', fake).get({ project, region: 'us-central1' }, once);
    assert.deepEqual(region.quotas.filter(entry => entry.metric === 'N2_CPUS').map(({ limit, usage }) => [limit, usage]), [[4, 4]]);
  });

  it('takes_its_time_if_told_and_lists_lag', async () => {
    fake.configure({ operationMs: 3_600_000, visibleAfterMs: 1_800_000 });
    const [{ latestResponse: made }] = await insert(machine('slow'));
    assert.equal((await operation(made.name)).status, 'RUNNING');
    assert.equal((await instances.list({ project, zone }, once))[0].length, 0);
    fake.clockOffset = 1_800_001;
    const token = { token: fake.identities.grant('person@example.com').access_token };
    assert.equal((await officialClient('Instances', fake, token).list({ project, zone }, once))[0][0].status, 'PROVISIONING');
    fake.clockOffset = 3_600_001;
    assert.equal((await raw('GET', `zones/${zone}/operations/${made.name}`)).status, 'DONE');
  });

  it('shows_pages_filters_and_parts', async () => {
    fake.seed(1100, { region: 'us-central1', labels: { owner: 'us' } });
    fake.seed(10, { region: 'us-east1', labels: { owner: 'them' } });
    let pages = 0;
    let seen = 0;
    let pageToken = '';
    do {
      const answer = await raw('GET', `aggregated/instances?filter=${encodeURIComponent('labels.owner = "us"')}&maxResults=500&fields=items/*/instances(id,name),nextPageToken${pageToken && `&pageToken=${pageToken}`}`);
      for (const { instances: some = [] } of Object.values(answer.items)) seen += some.length;
      assert.deepEqual(Object.keys(Object.values(answer.items).flatMap(entry => entry.instances ?? [])[0]).sort(), ['id', 'name']);
      pageToken = answer.nextPageToken ?? '';
      pages += 1;
    } while (pageToken);
    assert.deepEqual([pages, seen], [3, 1100]);
    const { nextPageToken } = await raw('GET', 'aggregated/instances?maxResults=5');
    assert.match((await raw('GET', `aggregated/instances?filter=name=x&pageToken=${nextPageToken}`)).error.message, /page token/);
    assert.match((await raw('GET', 'aggregated/instances?maxResults=501')).error.message, /500/);
    assert.match((await raw('GET', 'aggregated/instances?filter=colour%3Dred')).error.message, /filter/);
    const names = async filter => (await instances.list({ project, zone: 'us-east1-b', filter }, once))[0].length;
    assert.deepEqual([await names('labels.owner:*'), await names('labels.other:*'), await names('(status = RUNNING) AND (labels.owner != "us")'), await names('name eq seed-us-east1-0 '), await names('status = STOPPING OR name = "seed-us-east1-3"')], [4, 0, 4, 1, 1]);
  });

  it('reaches_some_zones_only_if_told', async () => {
    fake.seed(6, { region: 'us-east1' });
    fake.configure({ unreachable: ['us-east1-b'] });
    assert.equal((await raw('GET', 'aggregated/instances')).status, 503);
    const part = await raw('GET', 'aggregated/instances?returnPartialSuccess=true');
    assert.match(part.unreachables[0], /us-east1-b$/);
    assert.equal(part.items['zones/us-east1-b'].warning.code, 'UNREACHABLE');
    assert.equal(part.items['zones/us-east1-c'].instances.length, 2);
  });

  it('knows_regions_zones_types_images_subnetworks_and_the_project', async () => {
    const get = async (client, request, call = 'get') => (await officialClient(client, fake)[call]({ project, ...request }, once))[0];
    assert.equal((await get('MachineTypes', { zone, machineType: 'n2-standard-8' })).guestCpus, 8);
    assert.equal((await get('Zones', {}, 'list')).length, 12);
    assert.equal((await get('Regions', {}, 'list')).length, 4);
    assert.equal((await get('Images', { family: 'worker' }, 'getFromFamily')).architecture, 'X86_64');
    assert.equal((await get('Images', { project: 'debian-cloud', image: 'debian-12-bookworm-v20240617' })).status, 'READY');
    assert.match((await get('Subnetworks', { region: 'us-east1', subnetwork: 'default' })).network, /default$/);
    assert.equal((await get('Projects', {})).name, project);
    await refused(get('MachineTypes', { zone, machineType: 'n9-huge' }), 404);
  });

  it('knows_who_may_do_what', async () => {
    await refused(officialClient('Instances', fake, { token: 'ya29.wrong' }).list({ project, zone }, once), 401, /authentication credentials/);
    const narrow = fake.identities.grant('x@example.com', ['https://www.googleapis.com/auth/devstorage.read_only']).access_token;
    await refused(officialClient('Instances', fake, { token: narrow }).list({ project, zone }, once), 403, /scopes/);
    fake.identities.denied.add('compute.instances.create');
    await refused(insert(machine('a')), 403, /Required 'compute\.instances\.create' permission for 'projects\/muster-tests\/zones\/us-central1-a\/instances\/a'/);
    fake.identities.denied.clear();
    fake.identities.denied.add('iam.serviceAccounts.actAs');
    await refused(insert(machine('a')), 403, /actAs/);
  });

  it('takes_machines_away_on_request', async () => {
    await insert(machine('one', { scheduling: spot }));
    const [instance] = fake.instances.living();
    fake.instances.preempt(instance);
    assert.equal((await instances.get({ project, zone, instance: 'one' }, once))[0].status, 'TERMINATED');
    const [found] = await operations.list({ project, zone, filter: 'operationType = "compute.instances.preempted"' }, once);
    assert.deepEqual([found[0].targetId, found[0].user, found[0].status], [instance.id, 'system@google.com', 'DONE']);
  });

  it('goes_wrong_on_request', async () => {
    const fault = more => fake.faults.add({ times: 1, ...more });
    fault({ kind: 'error', code: 'rateLimitExceeded', action: 'instances.insert', market: 'SPOT' });
    await insert(machine('a'));
    await refused(insert(machine('b', { scheduling: spot })), 403, /rateLimitExceeded/);
    fault({ kind: 'error', code: 'RATE_LIMIT_EXCEEDED' });
    assert.deepEqual((({ status, error }) => [status, error.status])(await raw('GET', `zones/${zone}/instances`)), [429, 'RESOURCE_EXHAUSTED']);
    fault({ kind: 'cut', action: 'instances.insert' });
    await assert.rejects(raw('POST', `zones/${zone}/instances?requestId=${requestId(7)}`, machine('lost')));
    assert.ok(fake.instances.named(zone, 'lost'), 'the answer is lost, the instance is there');
    assert.equal((await raw('POST', `zones/${zone}/instances?requestId=${requestId(7)}`, machine('lost'))).operationType, 'insert');
    for (const kind of ['truncated', 'html', 'empty', 'big', 'refuse', 'login']) {
      fault({ kind, action: 'instances.list' });
      await assert.rejects(raw('GET', `zones/${zone}/instances`), undefined, kind);
    }
    fake.configure({ throttle: { 'zones.list': { burst: 1, perSecond: 0 } } });
    assert.equal((await raw('GET', 'zones')).status, 200);
    assert.equal((await raw('GET', 'zones')).error.errors[0].reason, 'rateLimitExceeded');
  });
});
