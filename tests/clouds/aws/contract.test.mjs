// The whole contract of providers, by `muster plugin check`, over the fake AWS: in a cell and in process.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import { programs } from '../../support/node/musterd.mjs';
import { FakeAws } from './lib/fake_aws.mjs';
import { credentialsText, image, providerConfig } from './lib/fleet.mjs';

describe('the contract of providers', () => {
  let fake;
  before(async () => (fake = await FakeAws.start()));
  after(() => fake.close());

  it('is_kept_over_the_fake_AWS_in_a_cell_and_in_process', async () => {
    const file = (name, content) => {
      const made = path.join(fake.folder, name);
      fs.writeFileSync(made, content, { mode: 0o600 });
      return made;
    };
    const keys = file('credentials', credentialsText(fake.credentials));
    const config = file('config.json', JSON.stringify(providerConfig(fake, keys, { regions: ['us-east-1', 'eu-central-1'] })));
    const section = file('section.json', JSON.stringify({ instanceTypes: [{ type: 'm5.large', capacity: 2 }], market: ['onDemand', 'spot'], launch: { ImageId: image } }));
    const plugin = path.join(programs, '../lib/muster/plugins/provider/aws');
    const { stdout } = await promisify(execFile)(path.join(programs, 'muster'), ['plugin', 'check', plugin, '--json', '--config', config, '--section', section], { maxBuffer: 1 << 24 })
      .catch(error => error);
    const { kept, process: cell, in_process: inProcess } = JSON.parse(stdout);
    const notKept = [...(cell.checks ?? []), ...(inProcess.checks ?? [])].filter(check => check.outcome !== 'kept' && check.promise !== 'does no I/O');
    assert.deepEqual(notKept, [], JSON.stringify(inProcess).slice(0, 1000));
    assert.ok(kept);
    assert.ok(fake.count('RunInstances') > 1, 'it was really the fake that launched');
    assert.equal(fake.instances.living().length, 0, 'the contract leaves nothing behind');
    // The contract's clock is far from the fake's: the first call of each instance is refused for it, and the provider corrects that.
    const refused = fake.calls.filter(call => /UnknownParameter|MissingParameter|InvalidAction|Malformed/.test(call.code) && call.code !== 'InvalidInstanceID.Malformed');
    assert.deepEqual(refused.map(({ action, code }) => `${action}: ${code}`), []);
  });
});
