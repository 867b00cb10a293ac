// What a provider makes of its cloud's errors: class, scope and sentence of the hold that the host shows.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Fleet } from './fleet.mjs';
import { thorough } from './thorough.mjs';

// `rows`: [code, class, parts of the hold's scope, what to do, how]. `usual`: those that every run tries. `provoke(fake, code, how)`: the next launch ends with it; `calm(fake)` ends that. `vary(index, how)`: another section and
// type for each row, so that the hold of one does not count for the next.
export function describeErrors(name, cloud, { rows, usual, provoke, calm, vary = () => ({}), options = {} }) {
  describe(`errors of ${name}`, () => {
    let fleet;
    before(async () => (fleet = await Fleet.start({ clouds: [cloud], values: { maxCapacity: 1 }, ...options })));
    after(() => fleet.end());
    beforeEach(async () => {
      fleet.demand(0);
      calm(fleet.fake);
      await fleet.until('nothing is wanted and nothing under way', async () => (await fleet.get('pools/worker-manager%2Fbuild')).pending === 0 && (await fleet.workers()).length === 0);
      await fleet.own(`holds/${cloud.provider}`, { method: 'DELETE' });
    });

    const wanted = rows.filter(([code]) => thorough || usual.includes(code));
    for (const [index, [code, errorClass, scope, advice, how]] of wanted.entries())
      it(`${code.replace(/\W/g, '_')}_is_${errorClass}`, async () => {
        const { section, type } = vary(index, how);
        if (section) {
          fleet.wish({ values: { maxCapacity: 1 }, section });
          await fleet.launches(type);
        }
        provoke(fleet.fake, code, how);
        fleet.demand(1);
        const hold = await fleet.holdSaying(new RegExp(code.replace('.', '\\.')), null);
        assert.equal(hold.class, errorClass, JSON.stringify(hold));
        assert.match(hold.message, advice);
        assert.match(hold.message, new RegExp(`${name} says ${code.replace('.', '\\.')}\\.`), 'the cloud\'s own words are there');
        for (const part of scope) assert.ok(hold[part], `the hold has no ${part}: ${JSON.stringify(hold)}`);
        assert.equal(fleet.living().length, 0);
      });
  });
}
