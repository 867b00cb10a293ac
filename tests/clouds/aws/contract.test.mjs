// The whole contract of providers, by `muster plugin check`, over the fake AWS: in a cell and in process.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { keepsContract } from '../lib/contract.mjs';
import { FakeAws } from './lib/fake_aws.mjs';
import { credentialsText, image, providerConfig } from './lib/fleet.mjs';

describe('the contract of providers', () => {
  let fake;
  before(async () => (fake = await FakeAws.start()));
  after(() => fake.close());

  it('is_kept_over_the_fake_AWS_in_a_cell_and_in_process', async () => {
    await keepsContract(fake, 'provider/aws', (made, file) => providerConfig(made, file('credentials', credentialsText(made.credentials)), { regions: ['us-east-1', 'eu-central-1'] }),
      { instanceTypes: [{ type: 'm5.large', capacity: 2 }], market: ['onDemand', 'spot'], launch: { ImageId: image } });
    assert.ok(fake.count('RunInstances') > 1, 'it was really the fake that launched');
    assert.equal(fake.instances.living().length, 0, 'the contract leaves nothing behind');
    // The contract's clock is far from the fake's: the first call of each instance is refused for it, and the provider corrects that.
    const refused = fake.calls.filter(call => /UnknownParameter|MissingParameter|InvalidAction|Malformed/.test(call.code) && call.code !== 'InvalidInstanceID.Malformed');
    assert.deepEqual(refused.map(({ action, code }) => `${action}: ${code}`), []);
  });
});
