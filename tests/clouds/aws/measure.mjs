// Numbers of provider/aws with a real host: ./dev bench aws. Nothing here is a test.
import fs from 'node:fs';
import path from 'node:path';

import { programs } from '../../support/node/musterd.mjs';
import { Fleet } from './lib/fleet.mjs';

const ticksPerSecond = 100;
const regions = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'];

const cpuOf = pid => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};
const memoryOf = (pid, what) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${what}:\\s*(\\d+)`))[1]) / 1024;
const tell = (what, value) => console.log(`${what.padEnd(66)} ${value}`);

// The process that runs provider/aws.
async function cellOf(fleet) {
  const text = JSON.stringify(await fleet.get('plugins'));
  const { plugins } = JSON.parse(text);
  const plugin = plugins.find(entry => JSON.stringify(entry).includes('provider/aws'));
  const pid = JSON.stringify(plugin).match(/"pid":(\d+)/);
  return pid ? Number(pid[1]) : undefined;
}

// The host's own limits, 20 launches a second unless configured, would be what is measured.
const launch = { perSecond: 2000, burst: 2000, perCall: 100 };
const fleet = await Fleet.start({ provider: () => ({ regions }), launch, values: { maxCapacity: 1000, lifecycle: { registrationTimeout: '24h', reregistrationTimeout: '24h' } } });
try {
  const cell = await cellOf(fleet);
  const library = path.join(programs, '../lib/muster/plugins/provider/aws');
  const size = fs.readdirSync(library).filter(name => name.endsWith('.so')).map(name => fs.statSync(path.join(library, name)).size)[0];
  tell('the plugin on disk', `${(size / 1048576).toFixed(1)} MiB`);
  tell('its cell, at rest', `${memoryOf(cell, 'VmRSS').toFixed(1)} MiB`);

  let begin = Date.now();
  fleet.demand(100_000);
  await fleet.until('1000 machines', () => fleet.living().length === 1000, 120_000);
  tell('1000 launches: calls of RunInstances', fleet.fake.count('RunInstances'));
  tell('1000 launches: time until all exist', `${Date.now() - begin} ms`);

  begin = Date.now();
  fleet.wish({ values: { maxCapacity: 10_000, lifecycle: { registrationTimeout: '24h', reregistrationTimeout: '24h' } } });
  await fleet.until('10 000 machines', () => fleet.living().length === 10_000, 300_000);
  tell('9000 more: calls of RunInstances, all in all', fleet.fake.count('RunInstances'));
  tell('9000 more: time until all exist', `${Date.now() - begin} ms`);

  // Whole lists, from one to a later one.
  const lists = () => fleet.fake.calls.filter(call => call.action === 'DescribeInstances' && call.parameters?.NextToken === undefined && call.region === regions[0]).length;
  const at = lists();
  await fleet.until('the next list begins', () => lists() === at + 1, 60_000);
  const [calls, cpu, hostCpu] = [fleet.fake.count('DescribeInstances'), cpuOf(cell), cpuOf(fleet.pid)];
  const count = 5;
  await fleet.until(`${count} more lists`, () => lists() === at + 1 + count, 120_000);
  tell('10 000 instances in 4 regions: calls of one list', (fleet.fake.count('DescribeInstances') - calls) / count);
  tell('10 000 instances in 4 regions: CPU of the cell for one list', `${((cpuOf(cell) - cpu) / count).toFixed(2)} s`);
  tell('10 000 instances in 4 regions: CPU of the host for one list', `${((cpuOf(fleet.pid) - hostCpu) / count).toFixed(2)} s`);
  tell('10 000 instances: the cell', `${memoryOf(cell, 'VmRSS').toFixed(1)} MiB, at most ${memoryOf(cell, 'VmHWM').toFixed(1)} MiB`);
} finally {
  await fleet.end();
}
