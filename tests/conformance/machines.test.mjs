// Machines of a datacenter: by their owner's secret, by a key of their pool, by name; and in the state that their pool wants.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, it } from 'node:test';

import { refused } from './lib/checked_client.mjs';
import { Host, newSecret, poolOf, slug } from './lib/host.mjs';
import { until } from '../support/node/waiting.mjs';

const hour = 3_600_000;
const { publicKey, privateKey } = generateKeyPairSync('ed25519');

// As in a .pub file.
const opensshKey = key => {
  const part = bytes => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const raw = Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
  return `ssh-ed25519 ${Buffer.concat([part(Buffer.from('ssh-ed25519')), part(raw)]).toString('base64')} rack`;
};

const namedSecret = newSecret();
const configuration = `
[providers.dc]
plugin = "provider/static"
[providers.dc.config]
workerGroup = "dc"
[providers.dc.config.pools."test/keys"]
publicKeys = ["${opensshKey(publicKey)}"]
[providers.dc.config.pools."test/other"]
publicKeys = ["${opensshKey(publicKey)}"]
[[providers.dc.config.machines]]
workerPoolId = "test/keys"
workerId = "named"
capacity = 3
secretSha256 = "${createHash('sha256').update(namedSecret).digest('hex')}"
`;

describe('machines', () => {
  let host, all, nobody;
  before(async () => {
    host = await Host.start({ configuration });
    all = await host.client('test/all', { fromReference: true });
    nobody = await host.client({}, { fromReference: true });
    const made = async id => !(await all.createWorkerPool(id, poolOf('dc')).catch(error => error)).statusCode;
    for (const id of ['test/keys', 'test/other']) await until(`${id} is made`, () => made(id));
  });
  after(() => host?.end());

  // A machine that does not say whether it works is given no time to finish.
  const wants = os => ({
    launchConfigs: [{ state: { os }, workerConfig: { colour: 'green' } }], lifecycle: { cycling: { finishTasks: 0 } },
  });
  const as = ({ credentials }) => host.client(credentials, { fromReference: true });
  const quarantined = async ({ workerPoolId, workerGroup, workerId }) =>
    (await all.getWorker(...workerPoolId.split('/'), workerGroup, workerId)).quarantineUntil;

  it('of_their_owner_are_in_the_right_state_or_in_quarantine', async () => {
    const [workerPoolId, workerGroup, workerId, staticSecret] = [`test/macs-${slug()}`, 'row-1', 'mac-1', newSecret()];
    await all.createWorkerPool(workerPoolId, poolOf('rack', { config: wants('14.*') }));
    const shown = await all.createWorker(workerPoolId, workerGroup, workerId, {
      expires: new Date(Date.now() + 24 * hour).toJSON(), providerInfo: { staticSecret },
    });
    assert.equal(shown.state, 'running');
    const name = { workerPoolId, workerGroup, workerId };
    const enter = os => nobody.registerWorker({ ...name, providerId: 'rack', workerIdentityProof: { staticSecret, state: { os } } });

    await refused(enter('13.6'), 410, 'ResourceExpired', /not in the state that its pool wants/);
    assert.match(await quarantined(name), /^9999-/);
    const first = await enter('14.5');
    assert.equal(await quarantined(name), undefined);
    const renewed = await (await as(first)).reregisterWorker({ ...name, secret: first.secret });

    await all.updateWorkerPool(workerPoolId, poolOf('rack', { config: wants('15.*') }));
    const before410 = await as(renewed);
    await refused(before410.reregisterWorker({ ...name, secret: renewed.secret }), 410, 'ResourceExpired', /is outdated/);
    assert.match(await quarantined(name), /^9999-/);
    await refused(enter('14.5'), 410, 'ResourceExpired');
    const again = await enter('15.0');
    assert.equal(await quarantined(name), undefined);
    await (await as(again)).reregisterWorker({ ...name, secret: again.secret });

    await all.removeWorker(workerPoolId, workerGroup, workerId);
    await refused(enter('15.0'), 410, 'ResourceExpired');
  });

  // ---- by key

  const stranger = (workerPoolId = 'test/keys') => ({ workerPoolId, providerId: 'dc', workerGroup: 'dc', workerId: `m-${slug()}` });
  const challenge = async worker => {
    const answer = await fetch(`${host.rootUrl}/api/muster/v1/registration-challenges`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(worker),
    });
    assert.equal(answer.status, 200);
    return (await answer.json()).challenge;
  };
  const proof = (text, key = privateKey) => ({ poolKey: { challenge: text, signature: sign(null, Buffer.from(text), key).toString('base64') } });

  it('of_a_pool_with_a_key_come_by_themselves_and_a_proof_is_good_once', async () => {
    const worker = stranger();
    const workerIdentityProof = proof(await challenge(worker));
    const registered = await nobody.registerWorker({ ...worker, workerIdentityProof });
    assert.deepEqual(registered.workerConfig, { colour: 'green' });
    assert.equal((await all.worker('test/keys', 'dc', worker.workerId)).state, 'running');
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof }), 400, 'InputError', /challenge/);
    const { workerPoolId, workerGroup, workerId } = worker;
    await (await as(registered)).reregisterWorker({ workerPoolId, workerGroup, workerId, secret: registered.secret });
    await nobody.registerWorker({ ...worker, workerIdentityProof: proof(await challenge(worker)) });
  });

  it('with_a_signature_for_another_pool_or_another_worker_are_refused', async () => {
    const worker = stranger();
    const elsewhere = { ...worker, workerPoolId: 'test/other' };
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: proof(await challenge(elsewhere)) }), 400, 'InputError');
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: proof(await challenge(stranger())) }), 400, 'InputError');
    await refused(nobody.registerWorker({ ...worker, workerIdentityProof: proof('made up') }), 400, 'InputError');
    const other = generateKeyPairSync('ed25519').privateKey;
    await refused(
      nobody.registerWorker({ ...worker, workerIdentityProof: proof(await challenge(worker), other) }), 404, 'ResourceNotFound',
      /signature/);
    await refused(all.worker('test/keys', 'dc', worker.workerId), 404, 'ResourceNotFound');
  });

  it('with_a_key_do_not_take_the_name_of_another', async () => {
    const named = { ...stranger(), workerId: 'named' };
    await until('the listing has named it', async () => !(await all.worker('test/keys', 'dc', 'named').catch(error => error)).statusCode);
    await refused(nobody.registerWorker({ ...named, workerIdentityProof: proof(await challenge(named)) }), 400, 'InputError', /secret of its own/);
  });

  // ---- by name

  it('of_the_configuration_are_there_without_anybody_asking', async () => {
    const named = { ...stranger(), workerId: 'named' };
    const shown = await until('it is there', () => all.worker('test/keys', 'dc', 'named').catch(() => undefined));
    assert.equal(shown.capacity, 3);
    const own = await (await host.own('pools/test%2Fkeys/workers/dc/named')).json();
    assert.equal(own.origin, 'listing');
    assert.equal(own.drain, 'absent');
    await nobody.registerWorker({ ...named, workerIdentityProof: { staticSecret: namedSecret } });
    assert.equal((await (await host.own('pools/test%2Fkeys/workers/dc/named')).json()).drain, 'none');
  });
});
