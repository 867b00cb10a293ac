// Workers: announced, launched, listed, removed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, newSecret, poolOf, simulated, slug } from './lib/host.mjs';
import { until } from '../support/node/waiting.mjs';

const inDays = days => new Date(Date.now() + days * 86_400_000).toJSON();

describe('workers', () => {
  let host, all, nothing, rack, cloud;
  before(async () => {
    host = await Host.start();
    all = await host.client('test/all');
    nothing = await host.client('test/nothing');
    rack = `test/rack-${slug()}`;
    cloud = `test/cloud-${slug()}`;
    await all.createWorkerPool(rack, poolOf('rack'));
    await all.createWorkerPool(cloud, poolOf('sim', { config: simulated({ minCapacity: 3 }) }));
    await until('the cloud has workers', async () => (await all.listWorkersForWorkerPool(cloud)).workers.length === 3);
  });
  after(() => host?.end());

  const announcement = (more = {}) => ({ expires: inDays(1), capacity: 1, providerInfo: { staticSecret: newSecret() }, ...more });
  const names = list => list.map(worker => worker.workerId);

  it('refuses_who_lacks_the_scopes', async () => {
    const worker = [rack, 'row-1', 'machine-1'];
    const scope = verb => new RegExp(`worker-manager:${verb}:${rack}/row-1/machine-1`);
    await refused(nothing.createWorker(...worker, announcement()), 403, 'InsufficientScopes', scope('create-worker'));
    await refused(nothing.updateWorker(...worker, announcement()), 403, 'InsufficientScopes', scope('update-worker'));
    await refused(nothing.worker(...worker), 403, 'InsufficientScopes', scope('get-worker'));
    await refused(nothing.removeWorker(...worker), 403, 'InsufficientScopes', scope('remove-worker'));
    await refused(nothing.getWorker(...rack.split('/'), 'row-1', 'machine-1'), 403, 'InsufficientScopes', scope('get-worker'));
    const list = new RegExp(`worker-manager:list-workers:${rack}`);
    await refused(nothing.listWorkersForWorkerPool(rack), 403, 'InsufficientScopes', list);
    await refused(nothing.listWorkersForWorkerGroup(rack, 'row-1'), 403, 'InsufficientScopes', new RegExp(`${list.source}/row-1`));
    await refused(nothing.listWorkers(...rack.split('/')), 403, 'InsufficientScopes', list);
  });

  it('refuses_wrong_names_and_filters', async () => {
    await refused(all.worker(rack, 'row 1', 'machine-1'), 400, 'InvalidRequestArguments', /URL parameter 'workerGroup'/);
    await refused(all.worker(rack, 'row-1', 'x'.repeat(39)), 400, 'InvalidRequestArguments', /URL parameter 'workerId'/);
    await refused(all.listWorkersForWorkerPool(rack, { state: 'asleep' }), 400, 'InvalidRequestArguments', /state/);
    await refused(all.listWorkersForWorkerPool(rack, { limit: 'all' }), 400, 'InvalidRequestArguments', /limit/);
    await refused(all.listWorkersForWorkerPool(rack, { continuationToken: 'nonsense' }), 400, 'InputError', 'Invalid continuation token');
    await refused(all.listWorkers(...rack.split('/'), { workerState: 'asleep' }), 400, 'InvalidRequestArguments', /workerState/);
    await refused(all.listWorkers(...rack.split('/'), { quarantined: 'perhaps' }), 400, 'InvalidRequestArguments', /quarantined/);
  });

  it('says_what_is_not_there', async () => {
    await refused(all.worker(rack, 'row-1', 'nobody'), 404, 'ResourceNotFound', 'Worker not found');
    await refused(all.removeWorker(rack, 'row-1', 'nobody'), 404, 'ResourceNotFound', 'Worker not found');
    await refused(all.updateWorker(rack, 'row-1', 'nobody', announcement()), 404, 'ResourceNotFound');
    await refused(all.createWorker('test/missing', 'row-1', 'nobody', announcement()), 404, 'ResourceNotFound', /does not exist/);
    await refused(all.listWorkersForWorkerPool('test/missing'), 404, 'ResourceNotFound', /does not exist/i);
    await refused(all.getWorker(...rack.split('/'), 'row-1', 'nobody'), 404, 'ResourceNotFound', /not found/);
    assert.deepEqual((await all.listWorkersForWorkerGroup('test/missing', 'row-1')).workers, []);
    assert.deepEqual((await all.listWorkers('test', 'missing')).workers, []);
  });

  it('takes_no_announcement_that_makes_no_sense', async () => {
    const worker = [rack, 'row-1', 'nobody'];
    await refused(all.createWorker(...worker, announcement({ expires: inDays(-1) })), 400, 'InputError', /must be in the future/);
    await refused(all.createWorker(...worker, announcement({ expires: 'never' })), 400, 'InputValidationError', /date-time/);
    await refused(all.createWorker(...worker, announcement({ capacity: 0 })), 400, 'InputValidationError', /data\/capacity must be >= 1/);
    await refused(all.createWorker(...worker, { capacity: 1 }), 400, 'InputValidationError', /required property 'expires'/);
    await refused(all.createWorker(...worker, announcement({ providerInfo: {} })), 400, 'InputValidationError', /data\/providerInfo/);
    await refused(all.createWorker(...worker, { expires: inDays(1) }), 400, 'InputError', /staticSecret/);
    await refused(all.createWorker(cloud, 'eu-1', 'mine', announcement()), 400, 'InputError', /not supported for this provider/);
    const secret = 'short';
    const { body } = await refused(
      all.createWorker(...worker, announcement({ providerInfo: { staticSecret: secret } })), 400, 'InputValidationError', /pattern/);
    assert.doesNotMatch(JSON.stringify(body.requestInfo), new RegExp(secret));
  });

  it('announces_a_worker_once', async () => {
    const worker = [rack, 'row-1', `once-${slug()}`];
    const said = announcement({ capacity: 4 });
    const first = await all.createWorker(...worker, said);
    assert.deepEqual(
      [first.workerPoolId, first.workerGroup, first.workerId, first.capacity, first.providerId, first.state, first.expires],
      [...worker, 4, 'rack', 'running', said.expires]);
    const again = await all.createWorker(...worker, said);
    assert.deepEqual(again, first);
    const { body } = await refused(
      all.createWorker(...worker, { ...said, capacity: 5 }), 409, 'RequestConflict', 'Worker already exists');
    assert.doesNotMatch(JSON.stringify(body), new RegExp(said.providerInfo.staticSecret));
    await refused(all.createWorker(...worker, announcement({ capacity: 4, expires: said.expires })), 409, 'RequestConflict');
    assert.deepEqual(await all.createWorker(...worker, { ...said, expires: inDays(2) }), first);
    assert.deepEqual(await all.worker(...worker), first);
  });

  it('announces_the_same_name_once_in_each_pool', async () => {
    const other = `test/other-${slug()}`;
    await all.createWorkerPool(other, poolOf('rack'));
    const name = ['row-1', `twin-${slug()}`];
    await all.createWorker(rack, ...name, announcement({ capacity: 2 }));
    await all.createWorker(other, ...name, announcement({ capacity: 3 }));
    assert.equal((await all.worker(rack, ...name)).capacity, 2);
    assert.equal((await all.worker(other, ...name)).capacity, 3);
    await all.removeWorker(rack, ...name);
    assert.equal((await all.worker(other, ...name)).state, 'running');
  });

  it('changes_an_announced_worker', async () => {
    const worker = [rack, 'row-1', `changes-${slug()}`];
    await all.createWorker(...worker, announcement());
    const changed = await all.updateWorker(...worker, announcement({ capacity: 7, expires: inDays(3) }));
    assert.equal(changed.capacity, 7);
    assert.equal((await all.worker(...worker)).capacity, 7);
    await all.updateWorker(...worker, announcement({ expires: inDays(-1) }));
  });

  it('lists_by_group_state_and_launch_configuration', async () => {
    const [here, there] = [`here-${slug()}`, `there-${slug()}`];
    for (const [group, id] of [[here, 'a'], [here, 'b'], [there, 'c']]) await all.createWorker(rack, group, id, announcement());
    const group = await all.pages('listWorkersForWorkerGroup', 'workers', [rack, here], { limit: 1 });
    assert.deepEqual(names(group), ['b', 'a'], 'the newest first');
    await all.removeWorker(rack, here, 'a');
    const stopped = (await all.listWorkersForWorkerPool(rack, { state: 'stopped' })).workers;
    assert.deepEqual(names(stopped.filter(worker => worker.workerGroup === here)), ['a']);
    assert.ok(stopped.every(worker => worker.state === 'stopped'));
    assert.ok((await all.listWorkersForWorkerPool(rack, { state: 'running' })).workers.every(worker => worker.state === 'running'));
    assert.deepEqual((await all.listWorkersForWorkerPool(rack, { state: 'requested' })).workers, []);
    assert.deepEqual((await all.listWorkersForWorkerPool(rack, { state: 'standalone' })).workers, []);
    const [{ launchConfigId }] = (await all.listWorkerPoolLaunchConfigs(cloud)).workerPoolLaunchConfigs;
    assert.equal((await all.listWorkersForWorkerPool(cloud, { launchConfigId })).workers.length, 3);
    assert.deepEqual((await all.listWorkersForWorkerPool(cloud, { launchConfigId: 'lc-other' })).workers, []);
    assert.equal((await all.listWorkers(...cloud.split('/'), { launchConfigId })).workers.length, 3);
  });

  it('pages_through_workers_while_others_come', async () => {
    const pool = `test/pages-${slug()}`;
    await all.createWorkerPool(pool, poolOf('rack'));
    const old = Array.from({ length: 6 }, (_, i) => `old-${i}`);
    for (const id of old) await all.createWorker(pool, 'row', id, announcement());
    const seen = [];
    let continuationToken;
    do {
      const page = await all.listWorkersForWorkerPool(pool, { limit: 1, ...(continuationToken && { continuationToken }) });
      seen.push(...names(page.workers));
      ({ continuationToken } = page);
      await all.createWorker(pool, 'row', `new-${seen.length}`, announcement());
    } while (continuationToken);
    assert.deepEqual(seen, old.reverse(), 'all that were there, once each, the newest first');
    assert.equal((await all.listWorkersForWorkerPool(pool, { limit: 0 })).workers.length, 0);
    assert.equal((await all.listWorkersForWorkerPool(pool, { limit: 99999 })).workers.length, 12);
  });

  it('shows_workers_as_a_queue_sees_them', async () => {
    const [provisioner, type] = cloud.split('/');
    const listed = await all.pages('listWorkers', 'workers', [provisioner, type], { limit: 1 });
    assert.equal(listed.length, 3);
    const { workerGroup, workerId } = listed[0];
    // No queue knows it before it has registered.
    await refused(all.getWorker(provisioner, type, workerGroup, workerId), 404, 'ResourceNotFound', /Are you sure it was created/);
    assert.deepEqual([listed[0].providerId, listed[0].state], ['sim', 'requested']);
    assert.equal((await all.listWorkers(provisioner, type, { workerState: 'requested' })).workers.length, 3);
    assert.deepEqual((await all.listWorkers(provisioner, type, { workerState: 'stopped' })).workers, []);
    assert.deepEqual((await all.listWorkers(provisioner, type, { quarantined: 'true' })).workers, []);
    assert.equal((await all.listWorkers(provisioner, type, { quarantined: 'false' })).workers.length, 3);
  });

  it('removes_a_launched_worker_and_launches_another', async () => {
    const [victim] = (await all.listWorkersForWorkerPool(cloud, { state: 'requested' })).workers;
    assert.deepEqual(await all.removeWorker(cloud, victim.workerGroup, victim.workerId), {});
    await until('it has stopped', async () => (await all.worker(cloud, victim.workerGroup, victim.workerId)).state === 'stopped');
    await until('there are three again', async () => (await all.workerPool(cloud)).requestedCount === 3);
  });

  it('shows_a_removed_announced_worker_as_stopped', async () => {
    const worker = [rack, 'row-1', `ends-${slug()}`];
    await all.createWorker(...worker, announcement());
    assert.deepEqual(await all.removeWorker(...worker), {});
    assert.equal((await all.worker(...worker)).state, 'stopped');
    assert.deepEqual(await all.removeWorker(...worker), {});
  });
});
