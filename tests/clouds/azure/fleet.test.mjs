// From demand to machines and back: musterd, provider/azure, the fake Azure and a real muster-agent on each machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';

import { Fleet, launchOf, pool } from './lib/fleet.mjs';

describe('a fleet on Azure', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ agents: true, section: { launch: { ...launchOf('westus2', { address: true }), evictionPolicy: 'Deallocate' } } })));
  after(() => fleet.end());
  const running = async count => {
    await fleet.until(`${count} workers run`, async () => (await fleet.workers()).filter(worker => worker.state === 'running').length === count);
    return fleet.workers();
  };

  it('launches_what_is_wanted_and_registers_it_by_its_attested_document', async () => {
    fleet.demand(3);
    const workers = await running(3);
    assert.deepEqual(workers.map(worker => worker.workerId).sort(), fleet.living().map(machine => machine.id).sort());
    assert.equal(fleet.fake.count('virtualMachines.put'), 3, 'one call for each');
    for (const machine of fleet.living()) {
      assert.equal(machine.market, 'Spot');
      assert.deepEqual([machine.tags['muster-pool'], machine.tags['muster-provider']], [pool, 'arm']);
      assert.deepEqual([machine.tags['root-url'], machine.tags['worker-pool-id'], machine.tags['provider-id'], machine.tags['worker-group']], [fleet.rootUrl, pool, 'arm', 'westus2']);
      assert.match(machine.customData.toString(), /workerPoolId/);
    }
    assert.equal(fleet.fake.resources.left.length, 9, 'a disk, a network interface and an address for each');
  });

  it('gives_its_workers_credentials', async () => {
    for (const { id } of fleet.living()) {
      await fleet.until('the worker runs', () => fleet.machines.agent(id).output.includes(`worker runs as ${id}`));
      const credentials = JSON.parse(fs.readFileSync(`${fleet.machines.agent(id).folder}/state/credentials.json`, 'utf8'));
      assert.equal(credentials.rootUrl, fleet.rootUrl);
      assert.match(credentials.clientId, new RegExp(id));
    }
  });

  it('drains_and_replaces_a_machine_that_Azure_takes_away', async () => {
    const [{ id }] = fleet.living();
    fleet.fake.interrupt(id, { seconds: 60 });
    await fleet.until('the agent has ended', () => fleet.machines.agent(id).process.exitCode !== null);
    assert.equal(fleet.machines.agent(id).process.exitCode, 22);
    assert.match(fleet.machines.agent(id).output, /worker told to end/);
    await fleet.until('it is deleted', () => fleet.fake.instance(id).ended !== undefined);
    await running(3);
    assert.equal(fleet.living().length, 3);
  });

  // Its power state tells. (Of one that is deleted at once nothing tells but its silence.)
  it('replaces_a_machine_that_was_evicted_without_a_word', async () => {
    const [machine] = fleet.living();
    fleet.fake.machines.evict(machine);
    await fleet.until('another one runs instead', async () => {
      const workers = (await fleet.workers()).filter(worker => worker.state === 'running');
      return workers.length === 3 && workers.every(worker => worker.workerId !== machine.id);
    });
  });

  it('survives_a_restart_of_the_host', async () => {
    const ids = fleet.living().map(machine => machine.id).sort();
    await fleet.stop();
    await fleet.startAgain();
    const workers = await fleet.workers();
    for (const id of ids) assert.ok(workers.some(worker => worker.workerId === id), id);
  });

  it('is_told_by_the_doctor_what_is_missing', async () => {
    const failed = async () => {
      const { checks } = await fleet.get('providers/arm/diagnosis');
      assert.ok(checks.length > 3, JSON.stringify(checks));
      return JSON.stringify(checks.filter(check => check.outcome === 'failed'));
    };
    assert.equal(await failed(), '[]');
    fleet.fake.identities.denied.add('Microsoft.Compute/virtualMachines/delete');
    assert.match(await failed(), /Microsoft\.Compute\/virtualMachines\/delete/);
    fleet.fake.identities.denied.clear();
  });

  it('deletes_machines_that_nobody_needs_with_all_that_belongs_to_them', async () => {
    fleet.demand(0);
    await fleet.until('all have ended', async () => fleet.living().length === 0 && (await fleet.workers()).length === 0);
    await fleet.until('nothing is left', () => fleet.fake.resources.left.length === 0);
    const { history } = fleet.fake.machines;
    assert.equal(new Set(history.map(machine => machine.tags['muster-keys'])).size, history.length, 'no key was launched twice');
  });
});
