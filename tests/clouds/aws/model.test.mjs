// The provider's cut of AWS's model is what AWS publishes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

const model = path.join(process.env.MUSTER_SOURCE, 'plugins/provider/aws/model.json');
const check = file => spawnSync(process.execPath, ['aws/cut_model.mjs', 'node_modules/aws-sdk', '--check', file], { encoding: 'utf8' });

describe('the cut of AWS\'s model', () => {
  it('is_what_the_script_makes_of_the_published_one', () => {
    const { status, stderr } = check(model);
    assert.equal(status, 0, stderr);
  });

  it('is_not_accepted_with_a_change', () => {
    const changed = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'muster-model-')), 'model.json');
    fs.writeFileSync(changed, fs.readFileSync(model, 'utf8').replace('"MinCount"', '"LeastCount"'));
    assert.equal(check(changed).status, 1);
    fs.rmSync(path.dirname(changed), { recursive: true });
  });
});
