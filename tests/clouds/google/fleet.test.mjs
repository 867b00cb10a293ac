// From demand to machines and back: musterd, provider/google, the fake Google and a real muster-agent on each machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it } from 'node:test';

import { workerAccount } from './lib/catalogue.mjs';
import { Fleet, pool } from './lib/fleet.mjs';

describe('a fleet on Google', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ agents: true })));
  after(() => fleet.end());
  const running = async count => {
    await fleet.until(`${count} workers run`, async () => (await fleet.workers()).filter(worker => worker.state === 'running').length === count);
    return fleet.workers();
  };

  it('launches_what_is_wanted_and_registers_it_by_its_identity_token', async () => {
    fleet.demand(3);
    const workers = await running(3);
    assert.deepEqual(workers.map(worker => worker.workerId).sort(), fleet.living().map(instance => instance.id).sort());
    assert.ok(fleet.fake.count('instances.insert') <= 3);
    assert.equal(fleet.fake.count('zoneOperations.get') + fleet.fake.count('instances.get'), 0, 'no call for each worker');
    for (const instance of fleet.living()) {
      assert.deepEqual([instance.market, instance.account, instance.body.scheduling.automaticRestart], ['SPOT', workerAccount.email, false]);
      const told = JSON.parse(instance.attributes.taskcluster);
      assert.deepEqual([told.rootUrl, told.workerPoolId, told.providerId, told.workerGroup], [fleet.rootUrl, pool, 'gce', instance.zone]);
      assert.equal(instance.body.disks[0].autoDelete, true);
    }
  });

  it('gives_its_workers_credentials', async () => {
    for (const { id } of fleet.living()) {
      await fleet.until('the worker runs', () => fleet.machines.agent(id).output.includes(`worker runs as ${id}`));
      const credentials = JSON.parse(fs.readFileSync(`${fleet.machines.agent(id).folder}/state/credentials.json`, 'utf8'));
      assert.equal(credentials.rootUrl, fleet.rootUrl);
      assert.match(credentials.clientId, new RegExp(id));
    }
  });

  it('drains_and_replaces_a_machine_that_Google_takes_away', async () => {
    const [{ id }] = fleet.living();
    fleet.fake.interrupt(id, { seconds: 60 });
    await fleet.until('the agent has ended', () => fleet.machines.agent(id).process.exitCode !== null);
    assert.equal(fleet.machines.agent(id).process.exitCode, 22);
    assert.match(fleet.machines.agent(id).output, /worker told to end/);
    await fleet.until('it is deleted', () => fleet.fake.instance(id).ended !== undefined);
    await running(3);
    assert.equal(fleet.living().length, 3);
  });

  it('replaces_a_machine_that_was_preempted_without_a_word', async () => {
    const [instance] = fleet.living();
    fleet.fake.instances.preempt(instance);
    await fleet.until('another one runs instead', async () => {
      const workers = (await fleet.workers()).filter(worker => worker.state === 'running');
      return workers.length === 3 && workers.every(worker => worker.workerId !== instance.id);
    });
  });

  it('loses_no_machine_in_a_zone_that_cannot_be_reached', async () => {
    await fleet.until('the preempted one is gone', async () => (await fleet.workers()).length === fleet.living().length);
    const ids = fleet.living().map(instance => instance.id).sort();
    const lists = fleet.fake.count('instances.aggregatedList');
    fleet.fake.configure({ unreachable: [...new Set(fleet.living().map(instance => instance.zone))] });
    await fleet.until('a few lists', () => fleet.fake.count('instances.aggregatedList') > lists + 3);
    assert.deepEqual((await fleet.workers()).map(worker => worker.workerId).sort(), ids);
    fleet.fake.configure({ unreachable: [] });
    assert.deepEqual(fleet.living().map(instance => instance.id).sort(), ids);
  });

  it('survives_a_restart_of_the_host', async () => {
    const ids = fleet.living().map(instance => instance.id).sort();
    await fleet.stop();
    await fleet.startAgain();
    const workers = await fleet.workers();
    for (const id of ids) assert.ok(workers.some(worker => worker.workerId === id), id);
  });

  it('is_told_by_the_doctor_what_is_missing', async () => {
    const failed = async () => {
      const { checks } = await fleet.get('providers/gce/diagnosis');
      assert.ok(checks.length > 3, JSON.stringify(checks));
      return JSON.stringify(checks.filter(check => check.outcome === 'failed'));
    };
    assert.equal(await failed(), '[]');
    fleet.fake.identities.denied.add('compute.instances.delete');
    assert.match(await failed(), /compute\.instances\.delete/);
    fleet.fake.identities.denied.clear();
  });

  it('deletes_machines_that_nobody_needs', async () => {
    fleet.demand(0);
    await fleet.until('all have ended', async () => fleet.living().length === 0 && (await fleet.workers()).length === 0);
    const { history } = fleet.fake.instances;
    assert.equal(new Set(history.map(instance => `${instance.name} ${instance.zone}`)).size, history.length, 'no key was launched twice');
  });
});
