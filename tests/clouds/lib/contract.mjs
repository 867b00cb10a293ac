// The whole contract of providers, by `muster plugin check`, over a fake cloud: in a cell and in process.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { programs } from '../../support/node/musterd.mjs';

// `config` makes the provider's configuration, with a function that writes a file of its own: (fake, file). `section`: what a team writes.
export async function keepsContract(fake, plugin, config, section) {
  const file = (name, content) => {
    const made = path.join(fake.folder, name);
    fs.writeFileSync(made, content, { mode: 0o600 });
    return made;
  };
  const configFile = file('config.json', JSON.stringify(config(fake, file)));
  const sectionFile = file('section.json', JSON.stringify(section));
  const folder = path.join(programs, '../lib/muster/plugins', plugin);
  const { stdout, stderr } = await promisify(execFile)(path.join(programs, 'muster'), ['plugin', 'check', folder, '--json', '--config', configFile, '--section', sectionFile], { maxBuffer: 1 << 24 })
    .catch(error => error);
  assert.ok(stdout, stderr);
  const { kept, process: cell, in_process: inProcess } = JSON.parse(stdout);
  const notKept = [...(cell.checks ?? []), ...(inProcess.checks ?? [])].filter(check => check.outcome !== 'kept' && check.promise !== 'does no I/O');
  assert.deepEqual(notKept, [], JSON.stringify(inProcess).slice(0, 1000));
  assert.ok(kept);
}
