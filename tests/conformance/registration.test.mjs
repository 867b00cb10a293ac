// Workers prove who they are, work with what they are given, and come back for more.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, newSecret, poolOf, simulated, simulatedProof, slug } from './lib/host.mjs';
import { until } from '../support/node/waiting.mjs';

const hour = 3_600_000;

describe('registration', () => {
  let host, all, nobody, rack;
  const clients = async () => {
    all = await host.client('test/all', { fromReference: true });
    nobody = await host.client({}); // machines have no credentials yet
  };
  before(async () => {
    host = await Host.start();
    await clients();
    rack = `test/rack-${slug()}`;
    await all.createWorkerPool(rack, poolOf('rack', { config: { workerConfig: { colour: 'green' }, lifecycle: { reregistrationTimeout: 3600 } } }));
  });
  after(() => host?.end());

  // An announced machine; what it says to register.
  const announced = async (more = {}, pool = rack) => {
    const [workerGroup, workerId, staticSecret] = ['row-1', `machine-${slug()}`, newSecret()];
    await all.createWorker(pool, workerGroup, workerId, {
      expires: new Date(Date.now() + 24 * hour).toJSON(), providerInfo: { staticSecret }, ...more,
    });
    return { workerPoolId: pool, providerId: 'rack', workerGroup, workerId, workerIdentityProof: { staticSecret } };
  };
  const nameOf = ({ workerPoolId, workerGroup, workerId }) => ({ workerPoolId, workerGroup, workerId });
  const place = worker => Object.values(nameOf(worker));
  const as = ({ credentials }) => host.client(credentials, { fromReference: true });

  it('refuses_what_is_no_registration', async () => {
    const worker = await announced();
    for (const field of ['workerPoolId', 'providerId', 'workerGroup', 'workerId', 'workerIdentityProof']) {
      const body = { ...worker };
      delete body[field];
      const error = await refused(nobody.registerWorker(body), 400, 'InputValidationError', new RegExp(`required property '${field}'`));
      assert.equal(error.body.requestInfo.payload, '(OMITTED)');
    }
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: {} }), 400, 'InputValidationError');
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: { staticSecret: 'short' } }), 400, 'InputValidationError');
  });

  it('says_what_it_does_not_know', async () => {
    const worker = await announced();
    await refused(nobody.registerWorker({ ...worker, workerPoolId: 'test/missing' }), 404, 'ResourceNotFound', 'Worker pool test/missing does not exist');
    await refused(nobody.registerWorker({ ...worker, providerId: 'cloud9' }), 404, 'ResourceNotFound', 'Provider cloud9 does not exist');
    await refused(nobody.registerWorker({ ...worker, providerId: 'broken' }), 503, 'ProviderSetupFailed');
    await refused(nobody.registerWorker({ ...worker, providerId: 'sim' }), 400, 'InputError', /not associated with provider sim/);
    await refused(
      nobody.registerWorker({ ...worker, workerId: 'nobody' }), 404, 'ResourceNotFound',
      new RegExp(`^Worker row-1/nobody in worker pool ${rack} does not exist: `));
  });

  it('refuses_a_wrong_secret_and_an_expired_worker', async () => {
    const worker = await announced();
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: { staticSecret: newSecret() } }), 400, 'InputError');
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: { token: 'x' } }), 400, 'InputError');
    await all.updateWorker(...place(worker), { expires: new Date(Date.now() - hour).toJSON(), providerInfo: worker.workerIdentityProof });
    await refused(nobody.registerWorker(worker), 400, 'InputError', /has expired/);
  });

  it('gives_ten_scopes_in_their_order', async () => {
    const worker = await announced();
    const registered = await nobody.registerWorker(worker);
    assert.deepEqual(registered.workerConfig, { colour: 'green' });
    assert.match(registered.secret, /^[a-zA-Z0-9_-]{44}$/);
    const left = new Date(registered.expires) - Date.now();
    assert.ok(left > 0.9 * hour && left <= hour, registered.expires);
    const full = `${rack}/row-1/${worker.workerId}`;
    assert.equal(registered.credentials.clientId, `worker/rack/${full}`);
    const certificate = JSON.parse(registered.credentials.certificate);
    assert.deepEqual(certificate.scopes, [
      `assume:worker-type:${rack}`,
      `assume:worker-pool:${rack}`,
      `assume:worker-id:row-1/${worker.workerId}`,
      `queue:worker-id:row-1/${worker.workerId}`,
      `secrets:get:worker-type:${rack}`,
      `secrets:get:worker-pool:${rack}`,
      `queue:claim-work:${rack}`,
      `worker-manager:remove-worker:${full}`,
      `worker-manager:reregister-worker:${full}`,
      `worker-manager:should-worker-terminate:${full}`,
    ]);
    assert.equal(certificate.version, 1);
    assert.equal(certificate.expiry, Date.parse(registered.expires));
    assert.ok(certificate.start <= Date.now() - 14 * 60_000);
  });

  it('ignores_what_newer_workers_say_besides', async () => {
    const worker = await announced();
    await nobody.registerWorker({ ...worker, systemBootTime: new Date(Date.now() - 60_000).toJSON(), fromTheFuture: { x: 1 } });
    assert.equal((await all.worker(...place(worker))).state, 'running');
  });

  it('lets_a_worker_do_what_it_may_and_nothing_else', async () => {
    const worker = await announced();
    const self = await as(await nobody.registerWorker(worker));
    const advice = await self.shouldWorkerTerminate(...place(worker));
    assert.equal(advice.terminate, false);
    const neighbour = await announced();
    await refused(self.shouldWorkerTerminate(...place(neighbour)), 403, 'InsufficientScopes', /should-worker-terminate/);
    await refused(self.removeWorker(...place(neighbour)), 403, 'InsufficientScopes');
    await refused(self.workerPool(rack), 403, 'InsufficientScopes');
    const report = { ...nameOf(worker), kind: 'worker-error', title: 'Disk', description: 'It is full', extra: { code: 'disk' } };
    delete report.workerPoolId;
    const error = await self.reportWorkerError(rack, report);
    assert.equal(error.title, 'Disk');
    await refused(self.reportWorkerError(rack, { ...report, workerId: neighbour.workerId }), 403, 'InsufficientScopes', /assume:worker-id/);
    assert.deepEqual(await self.removeWorker(...place(worker)), {});
    assert.equal((await all.worker(...place(worker))).state, 'stopped');
    assert.equal((await self.shouldWorkerTerminate(...place(worker))).terminate, true);
    await refused(all.shouldWorkerTerminate(rack, 'row-1', 'nobody'), 404, 'ResourceNotFound', 'Worker not found');
  });

  it('keeps_the_old_secret_until_the_new_one_is_used', async () => {
    const worker = await announced();
    const first = await nobody.registerWorker(worker);
    const self = await as(first);
    const renew = (client, secret) => client.reregisterWorker({ ...nameOf(worker), secret });
    const wrong = 'Could not generate credentials for this secret';
    await refused(renew(nobody, first.secret), 403, 'InsufficientScopes', /worker-manager:reregister-worker/);
    await refused(renew(self, newSecret()), 400, 'InputError', wrong);
    await refused(self.reregisterWorker({ ...nameOf(worker), secret: 'short' }), 400, 'InputValidationError');
    await refused(all.reregisterWorker({ ...nameOf(worker), workerId: 'nobody', secret: first.secret }), 400, 'InputError', wrong);
    await renew(self, first.secret); // its answer is lost
    const second = await renew(self, first.secret);
    assert.deepEqual(second.workerConfig, { colour: 'green' });
    assert.notEqual(second.secret, first.secret);
    const third = await renew(await as(second), second.secret);
    await refused(renew(self, first.secret), 400, 'InputError', wrong);
    assert.equal((await (await as(third)).shouldWorkerTerminate(...place(worker))).terminate, false);
  });

  it('brings_the_newest_configuration_when_credentials_are_renewed', async () => {
    const pool = `test/newest-${slug()}`;
    await all.createWorkerPool(pool, poolOf('rack'));
    const worker = await announced({}, pool);
    const registered = await nobody.registerWorker(worker);
    await all.updateWorkerPool(pool, poolOf('rack', { config: { workerConfig: { colour: 'blue' } } }));
    const renewed = await (await as(registered)).reregisterWorker({ ...nameOf(worker), secret: registered.secret });
    assert.deepEqual(renewed.workerConfig, { colour: 'blue' });
  });

  it('remembers_its_workers_after_a_restart', async () => {
    const worker = await announced();
    const registered = await nobody.registerWorker(worker);
    await host.restart();
    await clients();
    const self = await as(registered);
    assert.equal((await self.shouldWorkerTerminate(...place(worker))).terminate, false);
    const renewed = await self.reregisterWorker({ ...nameOf(worker), secret: registered.secret });
    await host.restart();
    await clients();
    await (await as(renewed)).reregisterWorker({ ...nameOf(worker), secret: renewed.secret });
    await nobody.registerWorker(worker); // a machine that was switched off and on
  });

  // A worker of the cloud that has not registered yet, and what it says to register.
  const launched = async (config, more = {}) => {
    const pool = `test/cloud-${slug()}`;
    await all.createWorkerPool(pool, poolOf('sim', { config }));
    const [found] = await until('a worker is requested', async () => {
      const { workers } = await all.listWorkersForWorkerPool(pool);
      return workers.length > 0 && workers;
    });
    const worker = { workerPoolId: pool, workerGroup: found.workerGroup, workerId: found.workerId };
    return { worker, body: { ...worker, providerId: 'sim', workerIdentityProof: { ...simulatedProof(worker), ...more } } };
  };

  it('takes_a_worker_that_was_launched_once', async () => {
    const { worker, body } = await launched(simulated({ minCapacity: 1 }));
    await refused(all.getWorker(...worker.workerPoolId.split('/'), worker.workerGroup, worker.workerId), 404, 'ResourceNotFound', /Are you sure/);
    const first = await nobody.registerWorker(body);
    const key = { registrationKey: newSecret() };
    for (const proof of [body.workerIdentityProof, { ...body.workerIdentityProof, ...key }])
      await refused(nobody.registerWorker({ ...body, workerIdentityProof: proof }), 400, 'InputError', /has registered already/);
    await (await as(first)).reregisterWorker({ ...worker, secret: first.secret }); // it is still the worker
    await all.getWorker(...worker.workerPoolId.split('/'), worker.workerGroup, worker.workerId);
  });

  it('takes_it_again_with_the_key_that_it_showed_first', async () => {
    const { worker, body } = await launched(simulated({ minCapacity: 1 }), { registrationKey: newSecret() });
    await refused(
      nobody.registerWorker({ ...body, workerIdentityProof: { ...body.workerIdentityProof, registrationKey: 'short' } }),
      400, 'InputError', /registrationKey/);
    await nobody.registerWorker(body); // its answer is lost
    const registered = await nobody.registerWorker(body);
    const stolen = { ...body.workerIdentityProof, registrationKey: newSecret() };
    await refused(nobody.registerWorker({ ...body, workerIdentityProof: stolen }), 400, 'InputError', /has registered already/);
    await (await as(registered)).reregisterWorker({ ...worker, secret: registered.secret });
  });

  it('lets_an_outdated_worker_finish_its_task', async () => {
    const definition = image => simulated({ minCapacity: 1, launch: { image } });
    const { worker, body } = await launched(definition('old'));
    const registered = await nobody.registerWorker(body);
    await all.updateWorkerPool(worker.workerPoolId, poolOf('sim', { config: definition('new') }));
    const self = await as(registered);
    const renewed = await self.reregisterWorker({ ...worker, secret: registered.secret });
    assert.match(renewed.outdated, /image/);
    assert.equal((await self.shouldWorkerTerminate(...place(worker))).terminate, true);
  });

  it('tells_an_outdated_worker_that_it_is_gone', async () => {
    const lifecycle = { cycling: { finishTasks: 0 } };
    const config = image => simulated({ minCapacity: 1, launch: { image }, lifecycle });
    const definition = image => poolOf('sim', { config: config(image) });
    const { worker, body } = await launched(config('old'));
    const pool = worker.workerPoolId;
    await refused(nobody.registerWorker({ ...body, workerIdentityProof: { token: 'f'.repeat(64) } }), 400, 'InputError');
    const registered = await nobody.registerWorker(body);
    assert.deepEqual(registered.workerConfig, { colour: 'red' });
    assert.equal((await all.worker(...place(worker))).state, 'running');
    const self = await as(registered);
    assert.equal((await self.shouldWorkerTerminate(...place(worker))).terminate, false);
    await all.updateWorkerPool(pool, definition('new'));
    const advice = await self.shouldWorkerTerminate(...place(worker));
    assert.equal(advice.terminate, true);
    assert.match(advice.reason, /image/);
    await refused(self.reregisterWorker({ ...worker, secret: registered.secret }), 410, 'ResourceExpired', /outdated: .*image/);
    // Its own configuration comes back, and it serves on.
    await all.updateWorkerPool(pool, definition('old'));
    await self.reregisterWorker({ ...worker, secret: registered.secret });
    assert.equal((await self.shouldWorkerTerminate(...place(worker))).terminate, false);
  });

  it('limits_a_worker_that_fails_again_and_again_and_nobody_else', async () => {
    const [bad, good] = [await announced(), await announced()];
    const wrong = { ...bad, workerIdentityProof: { staticSecret: newSecret() } };
    let limited;
    for (let i = 0; i < 50 && !limited; ++i) {
      const error = await nobody.registerWorker(wrong).catch(reason => reason);
      assert.ok([400, 429].includes(error.statusCode), error.message);
      if (error.statusCode === 429) limited = error;
    }
    assert.equal(limited?.code, 'TooManyRequests');
    await nobody.registerWorker(good);
  });
});
