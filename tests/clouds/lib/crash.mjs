// kill -9 of musterd in the middle of launches: nothing is lost, nothing is launched twice.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

import { Fleet } from './fleet.mjs';
import { thorough } from './thorough.mjs';

export const rounds = thorough ? 100 : 4;
const perRound = 3;

// Each round wants some more machines and kills the host somewhere between the decision and the end of the launch: while the call is under way, after it, with its
// answer lost, or while lists do not show it yet.
const troubles = call => [
  fake => fake.faults.add({ kind: 'slow', ms: 150, action: call, times: 1 }),
  fake => fake.faults.add({ kind: 'cut', action: call, times: 1 }),
  fake => fake.faults.add({ kind: 'truncated', action: call, times: 1 }),
  fake => fake.configure({ visibleAfterMs: 700 }),
  () => {},
];

// `keyOf(instance)`: what may be launched once only. `settled(fleet)`: what else must be true at the end.
export async function survivesKills(cloud, { keyOf, settled = () => true, ...options }) {
  const fleet = await Fleet.start({ clouds: [cloud], values: { maxCapacity: 0 }, ...options });
  try {
    fleet.demand(100_000);
    const kinds = troubles(cloud.launchCall);
    for (let round = 1; round <= rounds; round += 1) {
      const calls = fleet.fake.count(cloud.launchCall);
      fleet.fake.faults.clear();
      fleet.fake.configure({ visibleAfterMs: 0 });
      kinds[round % kinds.length](fleet.fake);
      fleet.wish({ values: { maxCapacity: round * perRound } });
      if (round % 2 === 0) await fleet.until('a launch is under way', () => fleet.fake.count(cloud.launchCall) > calls);
      await pause(Math.random() * 200);
      await fleet.kill();
      await fleet.startAgain();
    }
    const wanted = rounds * perRound;
    await fleet.until(`${wanted} machines, each a worker`, async () => {
      const ids = (await fleet.workers()).map(worker => worker.workerId).sort();
      return ids.length === wanted && JSON.stringify(ids) === JSON.stringify(fleet.living().map(instance => instance.id).sort()) && settled(fleet);
    }, 60_000);
    const all = fleet.fake.instances.history;
    assert.equal(new Set(all.map(keyOf)).size, all.length, 'a key was launched twice');
    console.log(`# ${rounds} kills, ${all.length} machines launched, ${all.length - wanted} of them ended again`);
  } finally {
    await fleet.end();
  }
}
