// Worker pools through Taskcluster's client: what is refused and why, then what works.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, poolOf, simulated, slug } from './lib/host.mjs';

const manage = 'worker-manager:manage-worker-pool:test/*';

describe('worker pools', () => {
  let host, all;
  before(async () => {
    host = await Host.start({
      clients: {
        'test/manages': [manage],
        'test/reads': ['worker-manager:get-worker-pool:test/*'],
      },
      workers: {
        'shared.toml': `workerTypes = ["from-a-file"]
[[rules]]
ruleId = "all"
description = "All of them"
[rules.values]
providers = ["sim"]
owner = "team@example.com"
description = "Configured in a file"
simulated.instanceTypes = ["small"]
maxCapacity = 3
`,
      },
    });
    all = await host.client('test/all');
  });
  after(() => host?.end());

  const newId = () => `test/pool-${slug()}`;
  const made = async (definition = poolOf('rack')) => {
    const id = newId();
    await all.createWorkerPool(id, definition);
    return id;
  };

  it('refuses_who_shows_no_credentials', async () => {
    const nobody = await host.client({});
    await refused(
      nobody.workerPool('test/any'),
      403,
      'InsufficientScopes',
      'This request requires Taskcluster credentials that satisfy the following scope expression:\n\n```\nworker-manager:get-worker-pool:test/any\n```',
    );
    await refused(nobody.createWorkerPool('test/any', poolOf('rack')), 403, 'InsufficientScopes', /manage-worker-pool:test\/any/);
  });

  it('refuses_a_wrong_key_and_an_unknown_client', async () => {
    const wrongKey = await host.client({ ...host.credentials['test/all'], accessToken: 'w'.repeat(44) });
    await refused(wrongKey.workerPool('test/any'), 401, 'AuthenticationFailed', /Unauthorized: Bad mac/);
    const nobody = await host.client({ clientId: 'nobody', accessToken: 'w'.repeat(44) });
    await refused(nobody.workerPool('test/any'), 401, 'AuthenticationFailed', /Client with clientId 'nobody' not found/);
  });

  it('names_the_scopes_that_are_missing', async () => {
    const nothing = await host.client('test/nothing');
    const get = 'worker-manager:get-worker-pool:test/any';
    await refused(
      nothing.workerPool('test/any'),
      403,
      'InsufficientScopes',
      `Client ID test/nothing does not have sufficient scopes and is missing the following scopes:\n\n\`\`\`\n${get}\n\`\`\`\n\nThis request requires the client to satisfy the following scope expression:\n\n\`\`\`\n${get}\n\`\`\``,
    );
    const manages = await host.client('test/manages');
    const expression = JSON.stringify(
      { AllOf: ['worker-manager:manage-worker-pool:test/any', 'worker-manager:provider:rack'] }, null, 2);
    await refused(
      manages.createWorkerPool('test/any', poolOf('rack')),
      403,
      'InsufficientScopes',
      `Client ID test/manages does not have sufficient scopes and is missing the following scopes:\n\n\`\`\`\nworker-manager:provider:rack\n\`\`\`\n\nThis request requires the client to satisfy the following scope expression:\n\n\`\`\`\n${expression}\n\`\`\``,
    );
    await refused(nothing.updateWorkerPool('test/any', poolOf('rack')), 403, 'InsufficientScopes');
    await refused(nothing.deleteWorkerPool('test/any'), 403, 'InsufficientScopes');
    await refused(nothing.listWorkerPools(), 403, 'InsufficientScopes', /worker-manager:list-worker-pools/);
  });

  it('refuses_a_wrong_id_only_after_asking_who_it_is', async () => {
    for (const id of ['test/NOPE_', 'test', 'a/b/c', `test/${'x'.repeat(39)}`, 'test/x-', '/x'])
      await refused(all.workerPool(id), 400, 'InvalidRequestArguments', /URL parameter 'workerPoolId' given as/);
    const nothing = await host.client('test/nothing');
    await refused(nothing.workerPool('test/NOPE_'), 403, 'InsufficientScopes');
    // Here the scopes are only known from the body, which is read after the id.
    await refused(nothing.createWorkerPool('test/NOPE_', poolOf('rack')), 400, 'InvalidRequestArguments');
  });

  it('refuses_wrong_limits_and_tokens', async () => {
    for (const limit of ['x', '-1', '1.5', ''])
      await refused(all.listWorkerPools({ limit }), 400, 'InvalidRequestArguments', /Query-string parameter: limit/);
    await refused(all.listWorkerPools({ continuationToken: 'made-up' }), 400, 'InputError', 'Invalid continuation token');
    await refused(all.listWorkerPoolsStats({ limit: 'x' }), 400, 'InvalidRequestArguments');
  });

  it('refuses_an_unknown_provider_and_one_that_is_not_there', async () => {
    await refused(all.createWorkerPool(newId(), poolOf('cloud9')), 400, 'InputError', 'Invalid Provider');
    await refused(all.createWorkerPool(newId(), poolOf('broken')), 503, 'ProviderSetupFailed', /Provider backend may be down/);
  });

  it('names_every_mistake_of_a_body', async () => {
    const body = poolOf('rack', { emailOnError: 'yes', surprise: 1 });
    delete body.owner;
    const { body: answer } = await refused(all.createWorkerPool('test/any', body), 400, 'InputValidationError');
    const schema = `${host.rootUrl}/schemas/worker-manager/v1/create-worker-pool-request.json#`;
    assert.ok(answer.message.startsWith(`\nSchema Validation Failed!\nRejecting Schema: ${schema}\nErrors:\n  * data`), answer.message);
    for (const mistake of [
      "data must have required property 'owner'",
      'data must NOT have additional properties',
      'data/emailOnError must be boolean',
    ])
      assert.ok(answer.message.includes(`\n  * ${mistake}`), answer.message);
    assert.deepEqual(answer.requestInfo.params, { workerPoolId: 'test/any' });
    assert.deepEqual(answer.requestInfo.payload, body);
    await refused(all.createWorkerPool('test/any', poolOf('sim', { owner: 'nobody' })), 400, 'InputValidationError', /owner must match format "email"/);
    await refused(all.createWorkerPool('test/any', poolOf('sim', { config: simulated({ minCapacity: -1 }) })), 400, 'InputValidationError', /minCapacity/);
    await refused(
      all.createWorkerPool('test/any', poolOf('sim', { config: simulated({ maxCapcity: 5 }) })), 400, 'InputValidationError',
      /maxCapcity: is not known; did you mean maxCapacity/);
    for (const missing of ['minCapacity', 'maxCapacity']) {
      const config = simulated();
      delete config[missing];
      await refused(all.createWorkerPool('test/any', poolOf('sim', { config })), 400, 'InputValidationError', new RegExp(`${missing}: is missing`));
    }
    await refused(
      all.createWorkerPool('test/any', poolOf('sim', { config: simulated({ lifecycle: { queueInactivityTimeout: 2 } }) })), 400, 'InputValidationError',
      /queueInactivityTimeout must be >= 1200/);
    await refused(all.createWorkerPool('test/any', poolOf('sim', { config: simulated({ launch: { region: 'mars' } }) })), 400, 'InputValidationError', /mars/);
    await refused(all.updateWorkerPool('test/any', { ...poolOf('sim'), surprise: 1 }), 400, 'InputValidationError', /additional properties/);
  });

  it('says_that_a_pool_does_not_exist', async () => {
    const missing = 'Worker pool does not exist';
    await refused(all.workerPool('test/missing'), 404, 'ResourceNotFound', missing);
    await refused(all.updateWorkerPool('test/missing', poolOf('rack')), 404, 'ResourceNotFound', missing);
    await refused(all.deleteWorkerPool('test/missing'), 404, 'ResourceNotFound', missing);
    await refused(all.workerPoolStats('test/missing'), 404, 'ResourceNotFound', missing);
    await refused(all.listWorkerPoolLaunchConfigs('test/missing'), 404, 'ResourceNotFound', missing);
  });

  it('makes_a_pool_once', async () => {
    const id = newId();
    const definition = poolOf('sim', { config: simulated({ launch: { workerManager: { launchConfigId: 'mine' } } }) });
    const first = await all.createWorkerPool(id, definition);
    assert.equal(first.workerPoolId, id);
    assert.equal(first.currentCapacity, 0);
    for (const key of ['providerId', 'description', 'owner', 'emailOnError', 'config']) assert.deepEqual(first[key], definition[key], key);
    assert.deepEqual(await all.workerPool(id), first);
    assert.deepEqual(await all.createWorkerPool(id, definition), first);
    await refused(all.createWorkerPool(id, { ...definition, description: 'another' }), 409, 'RequestConflict', 'Worker pool already exists');
    assert.deepEqual(await all.workerPool(id), first);
  });

  it('makes_a_pool_once_whose_launch_configurations_have_no_names', async () => {
    const id = newId();
    const first = await all.createWorkerPool(id, poolOf('sim'));
    assert.match(first.config.launchConfigs[0].workerManager.launchConfigId, /^lc-[0-9a-f]{20}$/);
    assert.deepEqual(await all.createWorkerPool(id, poolOf('sim')), first);
  });

  it('takes_back_what_it_showed', async () => {
    const id = await made(poolOf('sim'));
    const shown = await all.workerPool(id);
    const again = await all.updateWorkerPool(id, shown);
    assert.deepEqual({ ...again, lastModified: '' }, { ...shown, lastModified: '' });
    const changed = await all.updateWorkerPool(id, { ...again, description: 'better' });
    assert.equal(changed.description, 'better');
    assert.equal((await all.workerPool(id)).description, 'better');
    assert.ok(changed.lastModified >= shown.lastModified);
    assert.equal(changed.created, shown.created);
    await refused(all.updateWorkerPool(id, { ...shown, workerPoolId: 'test/another' }), 400, 'InputError', 'Incorrect workerPoolId in request body');
  });

  it('refuses_other_content_under_the_same_launch_configuration_id', async () => {
    const named = more => poolOf('sim', { config: simulated({ launch: { workerManager: { launchConfigId: 'named' }, ...more } }) });
    const id = await made(named({ image: 'one' }));
    await refused(
      all.updateWorkerPool(id, named({ image: 'two' })), 409, 'RequestConflict',
      'Launch config with ID `named` already exists with different configuration');
    assert.equal((await all.workerPool(id)).config.launchConfigs[0].image, 'one');
    await all.updateWorkerPool(id, poolOf('sim', { config: simulated({ launch: { image: 'two' } }) }));
    await refused(all.updateWorkerPool(id, named({ image: 'three' })), 409, 'RequestConflict');
    await all.updateWorkerPool(id, named({ image: 'one' }));
    const listed = await all.listWorkerPoolLaunchConfigs(id);
    assert.deepEqual(listed.workerPoolLaunchConfigs.map(item => item.launchConfigId), ['named']);
  });

  it('gives_a_deleted_pool_to_the_provider_that_launches_nothing', async () => {
    const id = await made(poolOf('sim'));
    const deleted = await all.deleteWorkerPool(id);
    assert.equal(deleted.providerId, 'null-provider');
    assert.deepEqual(deleted.config.launchConfigs, []);
    assert.deepEqual((await all.listWorkerPoolLaunchConfigs(id).catch(() => ({ workerPoolLaunchConfigs: [] }))).workerPoolLaunchConfigs, []);
    const back = await all.updateWorkerPool(id, poolOf('sim')).catch(error => error);
    assert.ok(back.providerId === 'sim' || back.statusCode === 404, JSON.stringify(back));
  });

  it('lists_pools_in_pages_while_others_are_made', async () => {
    const prefix = `page-${slug()}`;
    const old = ['b', 'd', 'f', 'h'].map(letter => `${prefix}/${letter}`);
    for (const id of old) await all.createWorkerPool(id, poolOf('rack'));
    const seen = [];
    let continuationToken, more = ['a', 'c', 'e', 'g', 'i'];
    do {
      const page = await all.listWorkerPools({ limit: 1, ...(continuationToken && { continuationToken }) });
      assert.equal(page.workerPools.length, 1);
      seen.push(page.workerPools[0].workerPoolId);
      ({ continuationToken } = page);
      if (more.length && seen.at(-1).startsWith(prefix)) await all.createWorkerPool(`${prefix}/${more.shift()}`, poolOf('rack'));
    } while (continuationToken);
    assert.deepEqual(seen, [...new Set(seen)].sort(), 'no pool comes twice, and all are in order');
    for (const id of old) assert.ok(seen.includes(id), `${id} is left out`);
    const everything = (await all.listWorkerPools()).workerPools.map(pool => pool.workerPoolId);
    assert.deepEqual((await all.pages('listWorkerPools', 'workerPools', [], { limit: 2 })).map(pool => pool.workerPoolId), everything);
    assert.deepEqual((await all.pages('listWorkerPoolsStats', 'workerPoolsStats', [], { limit: 3 })).map(pool => pool.workerPoolId), everything);
  });

  it('shows_a_pool_of_a_file_and_names_the_file_to_edit', async () => {
    const id = 'worker-manager/from-a-file';
    const shown = await all.workerPool(id);
    assert.equal(shown.providerId, 'sim');
    assert.equal(shown.config.maxCapacity, 3);
    assert.ok((await all.listWorkerPools()).workerPools.some(pool => pool.workerPoolId === id));
    for (const edit of [
      () => all.createWorkerPool(id, poolOf('sim')),
      () => all.updateWorkerPool(id, shown),
      () => all.deleteWorkerPool(id),
    ])
      await refused(edit(), 409, 'RequestConflict', /shared\.toml/);
    assert.deepEqual(await all.workerPool(id), shown);
    assert.equal((await all.listWorkerPoolLaunchConfigs(id)).workerPoolLaunchConfigs.length, 1);
  });

  it('makes_one_pool_of_many_requests_at_once', async () => {
    const id = newId();
    const made_ = await Promise.all(Array.from({ length: 20 }, () => all.createWorkerPool(id, poolOf('sim'))));
    for (const pool of made_) assert.deepEqual(pool, made_[0]);
    const racing = await Promise.all(Array.from({ length: 10 }, (_, i) =>
      all.createWorkerPool(`${id}x`, poolOf('sim', { description: `from ${i}` })).catch(error => error)));
    const winner = racing.filter(answer => answer.workerPoolId);
    assert.equal(winner.length, 1);
    assert.ok(racing.every(answer => answer === winner[0] || answer.statusCode === 409));
    assert.equal((await all.workerPool(`${id}x`)).description, winner[0].description);
  });

  it('lets_who_may_only_read_read', async () => {
    const id = await made();
    const reads = await host.client('test/reads');
    assert.equal((await reads.workerPool(id)).workerPoolId, id);
    await refused(reads.deleteWorkerPool(id), 403, 'InsufficientScopes');
  });
});
