// Who may register as an instance: the instance that was launched, once, and nobody else.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Documents, makeKey } from './lib/documents.mjs';
import { Fleet } from './lib/fleet.mjs';

describe('registration by an identity document', () => {
  let fleet;
  let instances; // one that fails too often has to wait: each test has its own
  let instance;
  let other;
  before(async () => {
    fleet = await Fleet.start({ values: { maxCapacity: 6 } });
    fleet.demand(6);
    instances = await fleet.until('the machines', () => fleet.living().length === 6 && fleet.living());
    await fleet.until('their workers', async () => (await fleet.workers()).filter(worker => /^i-/.test(worker.workerId)).length === 6);
    other = instances.pop();
  });
  beforeEach(() => (instance = instances.pop() ?? instance));
  after(() => fleet.end());

  const register = (workerId, proof) => fleet.register(workerId, proof);
  const signed = (text, documents = fleet.fake.documents) => ({ document: text, rsa2048: documents.pkcs7(text), signature: documents.signature(text) });
  const textOf = (which, claims = {}) => fleet.fake.documents.textOf({ ...which, claims });

  const refused = (proof, why, workerId = instance.id) => fleet.refuses(workerId, proof, why);

  it('is_refused_without_a_document_or_a_signature', async () => {
    const text = textOf(instance);
    await refused({}, /document/);
    await refused({ document: text }, /signature/);
    assert.equal((await register(instance.id, { document: 7, signature: 'x' })).status, 400);
    await refused({ document: text, rsa2048: 'not base64 !' }, /signature|PKCS7|base64/i);
    await refused({ document: text, signature: Buffer.alloc(256).toString('base64') }, /signature/);
  });

  it('is_refused_for_a_document_that_was_changed', async () => {
    const good = signed(textOf(instance));
    const changed = good.document.replace('"us-east-1"', '"us-east-2"');
    assert.notEqual(changed, good.document);
    await refused({ ...good, document: changed }, /signature|differs|not about/i);
    await refused({ document: changed, signature: good.signature }, /signature/);
    await refused({ document: changed, rsa2048: good.rsa2048 }, /signature|differs|not about/i);
  });

  it('is_refused_for_a_signature_by_another_key', async () => {
    const stranger = Object.assign(Object.create(Documents.prototype), { keyFile: path.join(fleet.folder, 'x.key'), certificateFile: path.join(fleet.folder, 'x.pem') });
    makeKey(stranger.keyFile, stranger.certificateFile);
    const text = textOf(instance);
    await refused(signed(text, stranger), /signature|key/);
    await refused({ document: text, signature: stranger.signature(text) }, /signature|key/);
  });

  it('is_refused_for_what_is_not_as_it_was_launched', async () => {
    await refused(signed(textOf(other)), /another machine/);
    await refused(signed(textOf(instance, { accountId: '999999999999' })), /account/i);
    await refused(signed(textOf(instance, { instanceType: 'c5.large' })), /type/i);
    await refused(signed(textOf(instance, { imageId: 'ami-0fedcba9876543210' })), /image/i);
    await refused(signed(textOf(instance, { privateIp: '10.9.9.9' })), /address|privateIp/i);
    await refused(signed(textOf(instance, { region: 'us-west-2', availabilityZone: 'us-west-2a' })), /region/i);
  });

  it('is_refused_for_an_instance_that_nobody_launched', async () => {
    instances.push(instance);
    const { status } = await register('i-00000000000000bad', signed(textOf({ ...instance, id: 'i-00000000000000bad' })));
    assert.ok(status >= 400 && status < 500, `HTTP ${status}`);
  });

  it('succeeds_with_either_signature', async () => {
    const text = textOf(instance);
    const first = await register(instance.id, { document: text, rsa2048: fleet.fake.documents.pkcs7(text) });
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.ok(first.body.credentials.accessToken);
    const otherText = textOf(other);
    const second = await register(other.id, { document: otherText, signature: fleet.fake.documents.signature(otherText) });
    assert.equal(second.status, 200, JSON.stringify(second.body));
  });

  it('is_refused_when_the_same_document_comes_from_somebody_else', async () => {
    await refused({ ...signed(textOf(instance)), registrationKey: 'z'.repeat(44) }, /./);
  });
});
