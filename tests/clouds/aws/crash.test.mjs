// kill -9 of musterd in the middle of launches: nothing is lost, nothing is launched twice.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { it } from 'node:test';

import { Fleet } from './lib/fleet.mjs';
import { thorough } from '../lib/thorough.mjs';

const rounds = thorough ? 100 : 4;
const perRound = 3;

// Each round wants some more machines and kills the host somewhere between the decision and the end of the launch: while the call
// is under way, after it, or with its answer lost.
const troubles = [
  fake => fake.faults.add({ kind: 'slow', ms: 150, action: 'RunInstances', times: 1 }),
  fake => fake.faults.add({ kind: 'cut', action: 'RunInstances', times: 1 }),
  fake => fake.faults.add({ kind: 'truncated', action: 'RunInstances', times: 1 }),
  fake => fake.configure({ visibleAfterMs: 700 }),
  () => {},
];

it(`a_host_that_is_killed_in_the_middle_of_launches_${rounds}_times_loses_nothing_and_doubles_nothing`, async () => {
  const fleet = await Fleet.start({ values: { maxCapacity: 0 } });
  try {
    fleet.demand(100_000);
    for (let round = 1; round <= rounds; round += 1) {
      const calls = fleet.fake.count('RunInstances');
      fleet.fake.faults.clear();
      fleet.fake.configure({ visibleAfterMs: 0 });
      troubles[round % troubles.length](fleet.fake);
      fleet.wish({ values: { maxCapacity: round * perRound } });
      if (round % 2 === 0) await fleet.until('a launch is under way', () => fleet.fake.count('RunInstances') > calls);
      await pause(Math.random() * 200);
      await fleet.kill();
      await fleet.startAgain();
    }
    const wanted = rounds * perRound;
    await fleet.until(`${wanted} machines, each a worker`, async () => {
      const ids = (await fleet.workers()).map(worker => worker.workerId).sort();
      return ids.length === wanted && JSON.stringify(ids) === JSON.stringify(fleet.living().map(instance => instance.id).sort());
    }, 60_000);
    const all = fleet.fake.instances.history;
    const keys = all.map(instance => `${instance.tags['muster-keys']} ${instance.index}`);
    assert.equal(new Set(keys).size, all.length, 'a key was launched twice');
    console.log(`# ${rounds} kills, ${all.length} machines launched, ${all.length - wanted} of them ended again`);
  } finally {
    await fleet.end();
  }
});
