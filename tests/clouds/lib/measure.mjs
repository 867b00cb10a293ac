// Numbers of a cloud's provider with a real host: ./dev bench aws, google, azure. Nothing here is a test.
import fs from 'node:fs';
import path from 'node:path';

import { programs } from '../../support/node/musterd.mjs';
import { Fleet } from './fleet.mjs';

const ticksPerSecond = 100;
const cpuOf = pid => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};
const memoryOf = (pid, what) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${what}:\\s*(\\d+)`))[1]) / 1024;
const tell = (what, value) => console.log(`${what.padEnd(66)} ${value}`);

// The process that runs the provider.
async function cellOf(fleet, plugin) {
  const { plugins } = await fleet.get('plugins');
  const pid = JSON.stringify(plugins.find(entry => JSON.stringify(entry).includes(plugin))).match(/"pid":(\d+)/);
  return pid ? Number(pid[1]) : undefined;
}

// `launchCalls`, `listCalls`: what the fake counts. `isListStart(call)`: the first call of a whole list. `provider`: further keys of its configuration.
export async function measure(cloud, { provider, places, launchCalls, listCalls, isListStart, ...options }) {
  // The host's own limits, 20 launches a second unless configured, would be what is measured.
  const launch = { perSecond: 2000, burst: 2000, perCall: 100 };
  const lifecycle = { registrationTimeout: '24h', reregistrationTimeout: '24h' };
  const fleet = await Fleet.start({ clouds: [cloud], provider, launch, values: { maxCapacity: 1000, lifecycle }, ...options });
  const count = names => names.reduce((sum, name) => sum + fleet.fake.count(name), 0);
  try {
    const cell = await cellOf(fleet, cloud.plugin);
    const library = path.join(programs, '../lib/muster/plugins', cloud.plugin);
    const [size] = fs.readdirSync(library).filter(name => name.endsWith('.so')).map(name => fs.statSync(path.join(library, name)).size);
    tell('the plugin on disk', `${(size / 1048576).toFixed(1)} MiB`);
    tell('its cell, at rest', `${memoryOf(cell, 'VmRSS').toFixed(1)} MiB`);

    let begin = Date.now();
    fleet.demand(100_000);
    await fleet.until('1000 machines', () => fleet.living().length === 1000, 300_000);
    tell(`1000 launches: calls of ${launchCalls.join(', ')}`, count(launchCalls));
    tell('1000 launches: calls, all in all', fleet.fake.calls.length);
    tell('1000 launches: time until all exist', `${Date.now() - begin} ms`);

    begin = Date.now();
    fleet.wish({ values: { maxCapacity: 10_000, lifecycle }, ...options });
    await fleet.until('10 000 machines', () => fleet.living().length === 10_000, 1_500_000);
    tell(`9000 more: calls of ${launchCalls.join(', ')}, all in all`, count(launchCalls));
    tell('9000 more: time until all exist', `${Date.now() - begin} ms`);

    // Whole lists, from one to a later one.
    const lists = () => fleet.fake.calls.filter(isListStart).length;
    const at = lists();
    await fleet.until('the next list begins', () => lists() === at + 1, 60_000);
    const [calls, cpu, hostCpu] = [count(listCalls), cpuOf(cell), cpuOf(fleet.pid)];
    const some = 5;
    await fleet.until(`${some} more lists`, () => lists() === at + 1 + some, 300_000);
    tell(`10 000 instances in ${places}: calls of one list`, (count(listCalls) - calls) / some);
    tell(`10 000 instances in ${places}: CPU of the cell for one list`, `${((cpuOf(cell) - cpu) / some).toFixed(2)} s`);
    tell(`10 000 instances in ${places}: CPU of the host for one list`, `${((cpuOf(fleet.pid) - hostCpu) / some).toFixed(2)} s`);
    tell('10 000 instances: the cell', `${memoryOf(cell, 'VmRSS').toFixed(1)} MiB, at most ${memoryOf(cell, 'VmHWM').toFixed(1)} MiB`);
  } finally {
    await fleet.end();
  }
}
