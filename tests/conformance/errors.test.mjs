// What went wrong in pools: reported, listed, counted.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, newSecret, poolOf, slug } from './lib/host.mjs';

describe('errors of pools', () => {
  let host, all, nothing, pool;
  before(async () => {
    host = await Host.start();
    all = await host.client('test/all');
    nothing = await host.client('test/nothing');
    pool = `test/pool-${slug()}`;
    await all.createWorkerPool(pool, poolOf('rack'));
    await all.createWorker(pool, 'row', 'machine', {
      expires: new Date(Date.now() + 86_400_000).toJSON(), providerInfo: { staticSecret: newSecret() },
    });
  });
  after(() => host?.end());

  const report = (more = {}) => ({
    workerGroup: 'row', workerId: 'machine', kind: 'boot-error', title: 'No disk', description: 'It has none', extra: {}, ...more,
  });

  it('refuses_reports_of_others_and_of_nothing', async () => {
    await refused(nothing.reportWorkerError(pool, report()), 403, 'InsufficientScopes', /assume:worker-pool:.*\n.*assume:worker-id:row\/machine/);
    await refused(all.reportWorkerError('test/missing', report()), 404, 'ResourceNotFound', 'Worker pool does not exist');
    await refused(all.reportWorkerError(pool, report({ workerId: 'nobody' })), 404, 'ResourceNotFound');
    await refused(all.reportWorkerError(pool, report({ kind: 'Bad Kind', extra: 'none' })), 400, 'InputValidationError', /data\/extra must be object/);
    await refused(all.reportWorkerError(pool, report({ title: 't'.repeat(129) })), 400, 'InputValidationError', /data\/title must NOT have more than 128 characters/);
  });

  it('refuses_lists_to_strangers_and_with_wrong_filters', async () => {
    await refused(nothing.listWorkerPoolErrors(pool), 403, 'InsufficientScopes', new RegExp(`list-worker-pool-errors:${pool}`));
    await refused(nothing.workerPoolErrorStats(), 403, 'InsufficientScopes', /list-worker-pool-errors:\*/);
    await refused(nothing.workerPoolErrorStats({ workerPoolId: pool }), 403, 'InsufficientScopes', new RegExp(`list-worker-pool-errors:${pool}`));
    await refused(all.listWorkerPoolErrors(pool, { limit: 'x' }), 400, 'InvalidRequestArguments', /limit/);
    await refused(all.listWorkerPoolErrors(pool, { continuationToken: 'x' }), 400, 'InputError', 'Invalid continuation token');
    await refused(all.workerPoolErrorStats({ workerPoolId: 'test/missing' }), 404, 'ResourceNotFound', 'Worker pool does not exist');
    assert.deepEqual((await all.listWorkerPoolErrors(pool, { errorId: 'AAAAAAAAQACAAAAAAAAAAA' })).workerPoolErrors, []);
    assert.deepEqual((await all.listWorkerPoolErrors('test/missing')).workerPoolErrors, []);
  });

  it('lists_them_the_newest_first_and_counts_them', async () => {
    const made = [];
    for (let i = 0; i < 4; ++i)
      made.push(await all.reportWorkerError(pool, report({ title: `Error ${i % 2}`, extra: i % 2 ? { code: 'disk' } : { n: i } })));
    assert.deepEqual([made[0].workerPoolId, made[0].kind, made[0].title], [pool, 'boot-error', 'Error 0']);
    assert.deepEqual(made[0].extra.n, 0);
    const listed = await all.pages('listWorkerPoolErrors', 'workerPoolErrors', [pool], { limit: 1 });
    assert.deepEqual(listed, [...made].reverse());
    assert.deepEqual((await all.listWorkerPoolErrors(pool, { errorId: made[1].errorId })).workerPoolErrors, [made[1]]);
    assert.deepEqual((await all.listWorkerPoolErrors(pool, { launchConfigId: 'lc-other' })).workerPoolErrors, []);
    if (made[0].launchConfigId)
      assert.equal((await all.listWorkerPoolErrors(pool, { launchConfigId: made[0].launchConfigId })).workerPoolErrors.length, 4);
    for (const query of [[{ workerPoolId: pool }], []]) {
      const { totals } = await all.workerPoolErrorStats(...query);
      assert.equal(totals.total, 4);
      assert.deepEqual(totals.title, { 'Error 0': 2, 'Error 1': 2 });
      assert.deepEqual(totals.code, { disk: 2, other: 2 });
      assert.deepEqual(totals.workerPool, { [pool]: 4 });
      assert.equal(Object.keys(totals.hourly).length, 24);
      assert.equal(Object.keys(totals.daily).length, 7);
      const sum = numbers => Object.values(numbers).reduce((all_, one) => all_ + one, 0);
      assert.equal(sum(totals.daily), 4);
      assert.equal(sum(totals.hourly), 4);
    }
  });
});
