// Answers that are none of the cloud's, and configurations with which it cannot be reached: a clear sentence each; the host goes on, and nothing is launched twice.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { Fleet } from './fleet.mjs';

// `answers`: name -> [fault, what the host says of it]. One region for each: a failure holds its region. `calls`: those that launch. `options`: further ones of the fleet.
export function describeBadAnswers(cloud, { answers, regions: everywhere, calls, options = {} }) {
  const rounds = Array.from({ length: Math.ceil(Object.keys(answers).length / everywhere.length) }, (_, round) =>
    Object.entries(answers).slice(round * everywhere.length, (round + 1) * everywhere.length));
  for (const round of rounds)
    describe(`bad answers to a launch: ${round.map(([name]) => name).join(', ')}`, () => {
      let fleet;
      const regions = Object.fromEntries(round.map(([name], index) => [name, everywhere[index]]));
      const names = Object.keys(regions);
      before(async () => (fleet = await Fleet.start({ clouds: [cloud], values: { maxCapacity: 1 }, regions, ...options })));
      after(() => fleet.end());

      it('are_told_in_a_sentence', async () => {
        for (const [name, [fault]] of round) for (const action of calls) fleet.fake.faults.add({ ...fault, action, region: regions[name] });
        fleet.demand(1, names);
        for (const [name, [, words]] of round) await fleet.holdSaying(words, regions[name]);
      });

      it('are_followed_by_one_machine_for_each_worker', async () => {
        fleet.fake.faults.clear();
        await fleet.own(`holds/${cloud.provider}`, { method: 'DELETE' });
        const settled = async name => {
          const workers = await fleet.workers(name);
          return workers.length === 1 && fleet.living().some(instance => instance.id === workers[0].workerId);
        };
        for (const name of names) await fleet.until(`one worker of ${name} with its machine`, () => settled(name), 60_000);
        assert.equal(fleet.fake.instances.history.length, names.length, 'each was launched once');
      });
    });
}

// `others`: further providers by name, each with a mistake. `sentences`: what the host says of each.
export function describeUnreachable(name, cloud, { others, sentences }) {
  describe(`${name} when it cannot be reached`, () => {
    let fleet;
    before(async () => (fleet = await Fleet.start({ clouds: [cloud], others })));
    after(() => fleet.end());

    for (const [which, words] of Object.entries(sentences))
      it(`${which}_is_told_in_a_sentence_and_others_work`, async () => {
        await fleet.until(`the host tells of ${which}`, async () => {
          const { providers = [] } = await fleet.get('providers');
          const text = JSON.stringify(providers.find(provider => provider.providerId === which)) + fleet.output.split('\n').filter(line => line.includes(which)).join('\n');
          return words.test(text);
        });
      });
  });
}
