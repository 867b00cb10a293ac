// The whole contract of providers, by `muster plugin check`, over the fake Google: in a cell and in process.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { keepsContract } from '../lib/contract.mjs';
import { FakeGoogle } from './lib/fake_google.mjs';
import { launch, providerConfig } from './lib/fleet.mjs';

describe('the contract of providers', () => {
  let fake;
  before(async () => (fake = await FakeGoogle.start()));
  after(() => fake.close());

  it('is_kept_over_the_fake_Google_in_a_cell_and_in_process', async () => {
    await keepsContract(fake, 'provider/google', (made, file) => providerConfig(made, file('key.json', made.keyFileText), { regions: ['us-central1', 'europe-west1'] }),
      { machineTypes: [{ type: 'n2-standard-4', capacity: 2 }], market: ['STANDARD', 'SPOT'], launch });
    assert.ok(fake.count('instances.insert') + fake.count('instances.bulkInsert') > 1, 'it was really the fake that launched');
    assert.equal(fake.instances.living().length, 0, 'the contract leaves nothing behind');
    // The contract's clock is far from the fake's: the first token is refused for it, and the provider corrects that.
    const refused = fake.calls.filter(call => /^(badRequest|invalid|required)$/.test(call.code));
    assert.deepEqual(refused.map(({ action, code }) => `${action}: ${code}`), []);
  });
});
