// Every step of a creation can fail, and an answer can be lost: whatever was made before is removed.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { thorough } from '../lib/thorough.mjs';
import { sizes } from './lib/catalogue.mjs';
import { Fleet, launchOf } from './lib/fleet.mjs';
import { steps } from './lib/machines.mjs';

// At once and late, each by turns; ./dev test --thorough has both for each step.
for (const turn of thorough ? [0, 1] : [0]) describe(`what a failed creation leaves, ${turn}`, () => {
  let fleet;
  let round = 0;
  const x64 = sizes.filter(entry => entry.architecture === 'x64');
  // Another size for each: the provider remembers what failed late.
  const size = () => x64[round % x64.length].name;
  const wish = () => ({ values: { maxCapacity: 2 }, section: { vmSizes: [{ size: size(), capacity: 1 }], launch: launchOf('westus2', { address: true }) } });
  before(async () => (fleet = await Fleet.start(wish())));
  after(() => fleet.end());
  beforeEach(async () => {
    fleet.demand(0);
    await fleet.until('nothing is wanted and nothing there', async () => (await fleet.workers()).length === 0 && fleet.living().length === 0);
    fleet.fake.faults.clear();
    fleet.fake.configure({ createErrors: [], operationMs: 0 });
    await fleet.own('holds/arm', { method: 'DELETE' });
    round += 1;
    fleet.wish(wish());
    await fleet.launches(size());
  });
  const nothingLeft = () => fleet.until(`nothing is left of ${fleet.fake.resources.left} and ${fleet.fake.machines.visible().map(machine => machine.id)}`,
    () => fleet.fake.resources.left.length === 0 && fleet.fake.machines.visible().length === 0);

  for (const [index, step] of steps.entries()) {
    const operationMs = (index + turn) % 2 ? 0 : 1500;
    it(`of_step_${step}_${operationMs ? 'late' : 'at_once'}_is_removed`, async () => {
      const tried = fleet.fake.count('virtualMachines.put');
      fleet.fake.configure({ operationMs, createErrors: [{ step, code: 'AllocationFailed' }] });
      fleet.demand(2);
      await fleet.until('a creation failed', () => fleet.fake.count('virtualMachines.put') > tried);
      await fleet.holdSaying(/AllocationFailed/);
      fleet.demand(0);
      fleet.fake.configure({ createErrors: [] });
      await nothingLeft();
    });
  }

  it('and_belongs_to_somebody_else_stays', async () => {
    fleet.fake.resources.putDisk('disk-of-somebody', { location: 'westus2', tags: { owner: 'them' } });
    fleet.fake.configure({ createErrors: [{ step: 'accept', code: 'SkuNotAvailable' }] });
    fleet.demand(1);
    await fleet.holdSaying(/SkuNotAvailable/);
    fleet.demand(0);
    fleet.fake.configure({ createErrors: [] });
    await fleet.until('the rest is removed', () => fleet.fake.resources.left.length === 1);
    assert.deepEqual(fleet.fake.resources.left, ['disks/disk-of-somebody']);
    fleet.fake.resources.drop(fleet.fake.resources.list('Microsoft.Compute/disks')[0]);
  });

  it('of_a_machine_that_vanished_is_removed', async () => {
    fleet.demand(1);
    const [machine] = await fleet.until('a machine', () => fleet.living().length === 1 && fleet.living());
    await fleet.until('its worker', async () => (await fleet.workers()).some(worker => worker.workerId === machine.id));
    fleet.fake.vanish(machine.id);
    fleet.demand(0);
    assert.ok(fleet.fake.resources.left.length >= 3);
    await nothingLeft();
  });
});
