import { it } from 'node:test';

import { rounds, survivesKills } from '../lib/crash.mjs';
import { azure } from './lib/fleet.mjs';

it(`a_host_that_is_killed_in_the_middle_of_launches_${rounds}_times_loses_nothing_and_doubles_nothing`, () =>
  survivesKills(azure, {
    keyOf: machine => machine.tags['muster-keys'],
    // A disk and a network interface for each machine, and no other ones.
    settled: fleet => fleet.fake.resources.left.length === 2 * fleet.living().length,
  }));
