// The whole contract of providers, by `muster plugin check`, over the fake Azure: in a cell and in process.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { keepsContract } from '../lib/contract.mjs';
import { FakeAzure } from './lib/fake_azure.mjs';
import { launchOf, providerConfig } from './lib/fleet.mjs';

describe('the contract of providers', () => {
  let fake;
  before(async () => (fake = await FakeAzure.start()));
  after(() => fake.close());

  it('is_kept_over_the_fake_Azure_in_a_cell_and_in_process', async () => {
    await keepsContract(fake, 'provider/azure', (made, file) => providerConfig(made, file('secret', made.identities.client.secret), { locations: ['westus2'] }),
      { vmSizes: [{ size: 'Standard_D2s_v5', capacity: 2 }], market: ['Regular', 'Spot'], launch: launchOf('westus2') });
    assert.ok(fake.count('virtualMachines.put') > 1, 'it was really the fake that launched');
    assert.equal(fake.machines.living().length, 0, 'the contract leaves nothing behind');
    assert.deepEqual(fake.resources.left, [], 'nor what belonged to machines');
    const refused = fake.calls.filter(call => /InvalidRequestContent|InvalidParameter|InvalidResourceType|NoRegisteredProvider|MissingApiVersion/.test(call.code));
    assert.deepEqual(refused.map(({ action, code }) => `${action}: ${code}`), []);
  });
});
