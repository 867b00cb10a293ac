// Launch configurations, and what the client does not know by itself: it is told by the published reference.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, poolOf, simulated, slug } from './lib/host.mjs';
import { until } from '../support/node/waiting.mjs';

describe('launch configurations', () => {
  let host, all, nothing;
  before(async () => {
    host = await Host.start();
    all = await host.client('test/all', { fromReference: true });
    nothing = await host.client('test/nothing', { fromReference: true });
  });
  after(() => host?.end());

  const launchConfigs = count => Array.from({ length: count }, (_, i) => ({
    region: 'eu-1', instanceTypes: ['small'], image: `image-${i}`, workerManager: { launchConfigId: `lc-${i}`, initialWeight: 0.5 },
  }));
  const made = async (config = { ...simulated(), launchConfigs: launchConfigs(3) }) => {
    const id = `test/pool-${slug()}`;
    await all.createWorkerPool(id, poolOf('sim', { config }));
    return id;
  };
  const tomorrow = () => new Date(Date.now() + 86_400_000).toJSON();

  it('refuses_who_lacks_the_scopes', async () => {
    await refused(nothing.getLaunchConfig('a/b', 'lc'), 403, 'InsufficientScopes', /worker-manager:get-worker-pool:a\/b/);
    await refused(nothing.pauseLaunchConfig('a/b', 'lc', { until: tomorrow() }), 403, 'InsufficientScopes', /worker-manager:pause-launch-config:a\/b\/lc/);
    await refused(nothing.resumeLaunchConfig('a/b', 'lc'), 403, 'InsufficientScopes', /worker-manager:resume-launch-config:a\/b\/lc/);
    await refused(nothing.listWorkerPoolLaunchConfigs('a/b'), 403, 'InsufficientScopes', /worker-manager:get-worker-pool:a\/b/);
    await refused(nothing.workerPoolStats('a/b'), 403, 'InsufficientScopes', /worker-manager:get-worker-pool:a\/b/);
  });

  it('refuses_what_is_not_there_or_makes_no_sense', async () => {
    const id = await made();
    await refused(all.getLaunchConfig('test/missing', 'lc-0'), 404, 'ResourceNotFound');
    await refused(all.getLaunchConfig(id, 'lc-9'), 404, 'ResourceNotFound');
    await refused(all.getLaunchConfig(id, 'l c'), 400, 'InvalidRequestArguments');
    await refused(all.pauseLaunchConfig(id, 'lc-9', { until: tomorrow() }), 404, 'ResourceNotFound');
    await refused(all.resumeLaunchConfig(id, 'lc-9'), 404, 'ResourceNotFound');
    await refused(all.pauseLaunchConfig(id, 'lc-0', {}), 400, 'InputValidationError', /required property 'until'/);
    await refused(all.pauseLaunchConfig(id, 'lc-0', { until: 'tomorrow' }), 400, 'InputValidationError');
    await refused(all.pauseLaunchConfig(id, 'lc-0', { until: '2001-01-01T00:00:00.000Z' }), 400, 'InputError', /future/);
    await refused(all.listWorkerPoolLaunchConfigs(id, { includeArchived: 'maybe' }), 400, 'InvalidRequestArguments', /includeArchived/);
  });

  it('lists_them_in_pages_and_the_archived_only_if_asked', async () => {
    const id = await made();
    const ids = list => list.map(item => item.launchConfigId);
    const listed = await all.pages('listWorkerPoolLaunchConfigs', 'workerPoolLaunchConfigs', [id], { limit: 1 });
    assert.deepEqual(ids(listed), ['lc-0', 'lc-1', 'lc-2']);
    assert.ok(listed.every(item => item.workerPoolId === id && !item.isArchived));
    assert.equal(listed[1].configuration.image, 'image-1');
    await all.updateWorkerPool(id, poolOf('sim', { config: { ...simulated(), launchConfigs: launchConfigs(2) } }));
    assert.deepEqual(ids((await all.listWorkerPoolLaunchConfigs(id)).workerPoolLaunchConfigs), ['lc-0', 'lc-1']);
    assert.deepEqual(ids((await all.listWorkerPoolLaunchConfigs(id, { includeArchived: 'false' })).workerPoolLaunchConfigs), ['lc-0', 'lc-1']);
    const everything = (await all.listWorkerPoolLaunchConfigs(id, { includeArchived: 'true' })).workerPoolLaunchConfigs;
    assert.deepEqual(everything.map(item => [item.launchConfigId, item.isArchived]), [['lc-0', false], ['lc-1', false], ['lc-2', true]]);
    assert.equal((await all.getLaunchConfig(id, 'lc-2')).isArchived, true);
    await refused(all.pauseLaunchConfig(id, 'lc-2', { until: tomorrow() }), 400, 'InputError', /archived/);
  });

  it('pauses_and_resumes', async () => {
    const id = await made();
    const end = tomorrow();
    const paused = await all.pauseLaunchConfig(id, 'lc-0', { until: end, reason: 'the image is broken' });
    assert.equal(paused.launchConfigId, 'lc-0');
    assert.deepEqual(await all.getLaunchConfig(id, 'lc-0'), paused);
    assert.match(JSON.stringify(paused), /the image is broken/);
    await host.restart();
    all = await host.client('test/all', { fromReference: true });
    nothing = await host.client('test/nothing', { fromReference: true });
    assert.match(JSON.stringify(await all.getLaunchConfig(id, 'lc-0')), /the image is broken/);
    const resumed = await all.resumeLaunchConfig(id, 'lc-0');
    assert.doesNotMatch(JSON.stringify(resumed), /the image is broken/);
    assert.doesNotMatch(JSON.stringify(await all.getLaunchConfig(id, 'lc-1')), /broken/);
  });

  it('launches_nothing_from_one_that_is_paused', async () => {
    const id = await made({ ...simulated(), launchConfigs: launchConfigs(1) });
    await all.pauseLaunchConfig(id, 'lc-0', { until: tomorrow() });
    const config = { ...simulated({ minCapacity: 2 }), launchConfigs: launchConfigs(1) };
    await all.updateWorkerPool(id, poolOf('sim', { config }));
    const other = await made({ ...simulated({ minCapacity: 2 }), launchConfigs: launchConfigs(1) });
    await until('the other pool has its workers', async () => (await all.workerPool(other)).currentCapacity === 2);
    assert.equal((await all.workerPool(id)).currentCapacity, 0);
    await all.resumeLaunchConfig(id, 'lc-0');
    await until('the pool has its workers', async () => (await all.workerPool(id)).currentCapacity === 2);
  });

  it('counts_workers_by_launch_configuration', async () => {
    const id = await made({ ...simulated({ minCapacity: 2 }), launchConfigs: launchConfigs(2) });
    const pool = await until('workers are requested', async () => {
      const shown = await all.workerPool(id);
      return shown.requestedCount === 2 && shown;
    });
    assert.equal(pool.requestedCapacity, 2);
    const { launchConfigStats } = await all.workerPoolStats(id);
    assert.deepEqual(launchConfigStats.map(item => item.launchConfigId).sort(), ['lc-0', 'lc-1']);
    assert.equal(launchConfigStats.reduce((sum, item) => sum + item.requestedCount, 0), 2);
    const { workerPoolsStats } = await all.listWorkerPoolsStats();
    assert.equal(workerPoolsStats.find(item => item.workerPoolId === id).requestedCapacity, 2);
  });
});
