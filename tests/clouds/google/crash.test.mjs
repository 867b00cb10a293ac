import { it } from 'node:test';

import { rounds, survivesKills } from '../lib/crash.mjs';
import { google } from './lib/fleet.mjs';

it(`a_host_that_is_killed_in_the_middle_of_launches_${rounds}_times_loses_nothing_and_doubles_nothing`, () =>
  survivesKills(google, { keyOf: instance => `${instance.name} ${instance.zone}` }));
