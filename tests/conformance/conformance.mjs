// All of them in one process, and then whether every method of the client was tried.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { answered, refusedMethods, shippedMethods } from './lib/checked_client.mjs';

import './references.test.mjs';
import './pools.test.mjs';
import './launch_configs.test.mjs';
import './workers.test.mjs';
import './registration.test.mjs';
import './machines.test.mjs';
import './credentials.test.mjs';
import './errors.test.mjs';
import './raw.test.mjs';
import './events.test.mjs';
import './amqp.test.mjs';

const neverRefused = ['ping', 'lbheartbeat', 'version', 'heartbeat'];

describe('the client', () => {
  it('had_every_method_answered_and_refused', () => {
    assert.ok(shippedMethods.length >= 26);
    const names = shippedMethods.map(entry => entry.name).concat('shouldWorkerTerminate', 'getLaunchConfig', 'pauseLaunchConfig', 'resumeLaunchConfig');
    assert.deepEqual(names.filter(name => !answered.has(name)), [], 'never answered');
    assert.deepEqual(names.filter(name => !refusedMethods.has(name) && !neverRefused.includes(name)), [], 'never refused');
  });
});
