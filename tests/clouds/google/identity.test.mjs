// Who may register as an instance: the instance that was launched, once, and nobody else.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Fleet } from './lib/fleet.mjs';
import { makeKeyPair } from './lib/identities.mjs';

describe('registration by an identity token', () => {
  let fleet;
  let instances; // one that fails too often has to wait: each test has its own
  let instance;
  let other;
  before(async () => {
    fleet = await Fleet.start({ values: { maxCapacity: 7 } });
    fleet.demand(7);
    instances = await fleet.until('the machines', () => fleet.living().length === 7 && fleet.living());
    await fleet.until('their workers', async () => (await fleet.workers()).length === 7);
    other = instances.pop();
  });
  beforeEach(() => (instance = instances.pop() ?? instance));
  after(() => fleet.end());

  const token = (which, how, audience = fleet.rootUrl) => ({ token: fleet.fake.identities.identityToken(which, audience, how) });
  const refused = (proof, why, which = instance) => fleet.refuses(which.id, proof, why, { workerGroup: which.zone });
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');

  it('is_refused_without_a_token_or_with_rubbish', async () => {
    await refused({}, /token/);
    await refused({ token: 'a.b' }, /three parts/);
    await refused({ token: 'a.b.c' }, /base64|JSON/);
    assert.equal((await fleet.register(instance.id, { token: 7 }, { workerGroup: instance.zone })).status, 400);
  });

  it('is_refused_for_another_algorithm', async () => {
    const [, body] = token(instance).token.split('.');
    await refused({ token: `${part({ alg: 'none', typ: 'JWT' })}.${body}.` }, /algorithm/);
    const head = part({ alg: 'HS256', kid: fleet.fake.identities.identityKey.keyId, typ: 'JWT' });
    await refused({ token: `${head}.${body}.${createHmac('sha256', fleet.fake.identities.identityKey.publicKey).update(`${head}.${body}`).digest('base64url')}` }, /algorithm/);
    await refused(token(instance, { header: { alg: 'RS512' } }), /algorithm/);
  });

  it('is_refused_for_another_key', async () => {
    const stranger = makeKeyPair();
    await refused(token(instance, { key: stranger }), /key/);
    await refused(token(instance, { key: { ...stranger, keyId: fleet.fake.identities.identityKey.keyId } }), /signature/);
    const { token: good } = token(instance);
    const [head, body, signature] = good.split('.');
    const changed = Buffer.from(body, 'base64url').toString().replace(instance.id, other.id);
    await refused({ token: `${head}.${Buffer.from(changed).toString('base64url')}.${signature}` }, /signature/, other);
  });

  it('is_refused_for_another_audience_issuer_or_time', async () => {
    const now = Math.floor(Date.now() / 1000);
    await refused(token(instance, {}, 'https://elsewhere.example'), /made for/);
    await refused(token(instance, { claims: { iss: 'https://accounts.evil.example' } }), /issued by/);
    await refused(token(instance, { claims: { iat: now - 9000, exp: now - 5400 } }), /ended/);
    await refused(token(instance, { claims: { iat: now + 4000, exp: now + 7600 } }), /future/);
    await refused(token(instance, { claims: { exp: now + 900_000 } }), /day/);
  });

  it('is_refused_for_what_is_not_as_it_was_launched', async () => {
    await refused(token(other), /another|instance/);
    await refused(token(instance, { machine: { project_id: 'other-project' } }), /project/);
    await refused(token(instance, { machine: { zone: 'europe-west1-b' } }), /zone/);
    await refused(token(instance, { claims: { sub: '1', email: 'other@muster-tests.iam.gserviceaccount.com' } }), /service account/);
    await refused(token(instance, { claims: { google: undefined } }), /./);
  });

  it('succeeds_once_for_the_instance_itself', async () => {
    const proof = token(instance);
    const first = await fleet.register(instance.id, proof, { workerGroup: instance.zone });
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.ok(first.body.credentials.accessToken);
    await refused({ ...proof, registrationKey: 'z'.repeat(44) }, /./);
    await refused(proof, /./, other);
  });
});
