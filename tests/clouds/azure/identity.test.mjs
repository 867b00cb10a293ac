// Who may register as a machine: the machine that was launched, once, and nobody else.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Chain } from './lib/documents.mjs';
import { Fleet } from './lib/fleet.mjs';

describe('registration by an attested document', () => {
  let fleet;
  let machines; // one that fails too often has to wait: each test has its own
  let machine;
  let other;
  before(async () => {
    fleet = await Fleet.start({ values: { maxCapacity: 7 } });
    fleet.demand(7);
    machines = await fleet.until('the machines', () => fleet.living().length === 7 && fleet.living());
    await fleet.until('their workers', async () => (await fleet.workers()).length === 7);
    other = machines.pop();
  });
  beforeEach(() => (machine = machines.pop() ?? machine));
  after(() => fleet.end());

  const document = (which, claims = {}, chain = fleet.fake.chain) => ({ document: chain.sign(fleet.fake.documents.textOf(which, undefined, claims)) });
  const refused = (proof, why, workerId = machine.id) => fleet.refuses(workerId, proof, why);
  const stamp = hours => new Date(Date.now() + hours * 3_600_000).toISOString().replace(/^\d\d(\d\d)-(\d\d)-(\d\d)T([\d:]+)\..*$/, '$2/$3/$1 $4 -0000');

  it('is_refused_without_a_document_or_with_rubbish', async () => {
    await refused({}, /document/);
    await refused({ document: 'not base64 !' }, /base64/);
    await refused({ document: Buffer.from('{"vmId": "mine"}').toString('base64') }, /CMS/);
    assert.equal((await fleet.register(machine.id, { document: 7 })).status, 400);
  });

  it('is_refused_for_a_document_that_was_changed', async () => {
    const bytes = Buffer.from(document(machine).document, 'base64');
    const at = bytes.indexOf(machine.vmId);
    assert.ok(at > 0);
    bytes.write(other.vmId, at);
    await refused({ document: bytes.toString('base64') }, /signature/i, other.id);
    bytes.write(machine.vmId, at);
    await refused({ document: bytes.subarray(0, bytes.length - 20).toString('base64') }, /CMS/);
    await refused({ document: Buffer.concat([bytes, Buffer.from('more')]).toString('base64') }, /CMS/);
  });

  it('is_refused_for_another_chain_and_for_another_name', async () => {
    const stranger = new Chain(path.join(fleet.folder, 'stranger'), 'metadata.azure.com', 'Stranger');
    await refused(document(machine, {}, stranger), /certificate|issuer|chain/i);
    const evil = new Chain(path.join(fleet.folder, 'evil'), 'metadata.azure.com.evil.example', 'Evil');
    await refused(document(machine, {}, evil), /evil\.example/);
  });

  it('is_refused_for_what_is_not_as_it_was_launched', async () => {
    await refused(document(other), /another machine/);
    await refused(document(machine, { subscriptionId: '99999999-1111-4222-8333-444444444444' }), /subscription/);
    await refused(document(machine, { vmId: '' }), /machine/);
  });

  it('is_refused_for_a_document_that_has_expired_or_is_from_the_future', async () => {
    await refused(document(machine, { timeStamp: { createdOn: stamp(-9), expiresOn: stamp(-3) } }), /expired/);
    await refused(document(machine, { timeStamp: { createdOn: stamp(3), expiresOn: stamp(9) } }), /future/);
    await refused(document(machine, { timeStamp: {} }), /valid/);
  });

  it('is_refused_for_a_machine_that_nobody_launched', async () => {
    const { status } = await fleet.register('vm-of-nobody', document({ ...machine, vmId: 'x' }));
    assert.ok(status >= 400 && status < 500, `HTTP ${status}`);
  });

  it('succeeds_once_for_the_machine_itself', async () => {
    const proof = document(machine);
    const first = await fleet.register(machine.id, proof);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.ok(first.body.credentials.accessToken);
    await refused({ ...proof, registrationKey: 'z'.repeat(44) }, /./);
    await refused(proof, /./, other.id);
  });
});
