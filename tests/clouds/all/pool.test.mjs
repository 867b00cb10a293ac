// One pool over three clouds and a datacenter: where there is no capacity, the next one gets the launch; when a hold ends, one launch tries first.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import { programs } from '../../support/node/musterd.mjs';
import { aws } from '../aws/lib/fleet.mjs';
import { azure } from '../azure/lib/fleet.mjs';
import { google } from '../google/lib/fleet.mjs';
import { Fleet, pool } from '../lib/fleet.mjs';
import { thorough } from '../lib/thorough.mjs';

const rack = `[providers.rack]
plugin = "provider/static"
[providers.rack.config]
region = "dc1"
stateFile = ":memory:"
wakeCommand = ["true"]
machines = [{ workerPoolId = "${pool}", workerId = "blade-01", powered = true }, { workerPoolId = "${pool}", workerId = "blade-02", powered = true }]
`;
// One place in each cloud, and prices that say which is the cheapest.
const clouds = [
  { ...azure, config: (fake, fleet, more) => azure.config(fake, fleet, { priceTable: { Standard_D2s_v5: 0.01 }, ...more }) },
  { ...aws, config: (fake, fleet, more) => aws.config(fake, fleet, more), section: more => aws.section({ instanceTypes: [{ type: 'm5.large', capacity: 1 }], ...more }) },
  { ...google, config: (fake, fleet, more) => google.config(fake, fleet, { regions: undefined, zones: ['us-central1-a'], priceTable: { 'n2-standard-4': 0.5 }, ...more }) },
];
const values = { providers: ['arm', 'ec2', 'gce', 'rack'], strategy: 'cheapest', maxCapacity: 2, static: { pricePerCapacityHour: 5 } };

describe('a pool on three clouds and in a datacenter', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ clouds, more: rack, values })));
  after(() => fleet.end());
  const muster = async (...args) => {
    const { stdout } = await promisify(execFile)(path.join(programs, 'muster'), args, { env: { ...process.env, MUSTER_URL: fleet.rootUrl, MUSTER_TOKEN: fleet.token } });
    return stdout;
  };
  const providers = async () => (await fleet.workers()).map(worker => worker.providerId);
  const lives = () => Object.fromEntries(clouds.map(({ kind }) => [kind, fleet.fakes[kind].instances.living().length]));

  it('goes_where_it_is_cheapest', async () => {
    fleet.demand(1);
    await fleet.until('a worker', async () => (await providers()).length === 1);
    assert.deepEqual(await providers(), ['arm']);
    await fleet.until('its machine', () => lives().azure === 1);
    fleet.demand(0);
    fleet.fakes.azure.interrupt(fleet.fakes.azure.instances.living()[0].id, { seconds: 0 });
  });

  it('moves_on_where_there_is_no_capacity_and_asks_nobody_twice', async () => {
    fleet.fakes.azure.configure({ notAvailable: { westus2: true } });
    fleet.fakes.aws.faults.add({ kind: 'error', action: 'RunInstances', code: 'InsufficientInstanceCapacity', status: 500 });
    fleet.fakes.google.configure({ capacity: { 'us-central1-a': 0 } });
    const before_ = { azure: fleet.fakes.azure.count('virtualMachines.put'), aws: fleet.fakes.aws.count('RunInstances'), google: fleet.fakes.google.count('instances.insert') };
    fleet.demand(2);
    await fleet.until('workers of the datacenter', async () => (await providers()).includes('rack'));
    const asked = {
      azure: fleet.fakes.azure.count('virtualMachines.put') - before_.azure, aws: fleet.fakes.aws.count('RunInstances') - before_.aws, google: fleet.fakes.google.count('instances.insert') - before_.google,
    };
    assert.ok(asked.azure >= 1 && asked.azure <= 2, `Azure was asked ${asked.azure} times for two machines in one place`);
    assert.ok(asked.aws >= 3 && asked.aws <= 6, `AWS was asked ${asked.aws} times for two machines in three zones`);
    assert.ok(asked.google >= 1 && asked.google <= 2, `Google was asked ${asked.google} times for two machines in one zone`);
  });

  it('tells_the_story', async () => {
    const { holds } = await fleet.get('holds');
    for (const [provider, words] of [['arm', /SkuNotAvailable/], ['ec2', /InsufficientInstanceCapacity/], ['gce', /ZONE_RESOURCE_POOL_EXHAUSTED/]]) {
      const hold = holds.find(entry => entry.providerId === provider);
      assert.ok(hold, `${provider} is not held: ${JSON.stringify(holds)}`);
      assert.equal(hold.class, 'capacity');
      assert.match(hold.message, words);
    }
    fleet.wish({ values: { ...values, maxCapacity: 5 } });
    fleet.demand(5);
    await fleet.until('muster why tells of all three', async () => {
      const told = await muster('why', 'build').catch(error => error.message);
      return /SkuNotAvailable|InsufficientInstanceCapacity|ZONE_RESOURCE_POOL_EXHAUSTED/.test(told);
    });
    const log = await muster('log', 'build');
    for (const words of [/SkuNotAvailable/, /InsufficientInstanceCapacity/, /ZONE_RESOURCE_POOL_EXHAUSTED/]) assert.match(log, words);
  });
});

describe('a hold that ends', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ clouds: [clouds[2], clouds[1]], values: { ...values, providers: ['gce', 'ec2'], maxCapacity: 3 }, more: rack })));
  after(() => fleet.end());

  // RESOURCE_NOT_READY is capacity, held for a minute; too many changes in a zone are held for half a minute.
  it('lets_one_launch_try_first_and_the_others_after_it', async () => {
    // One that registered, so that the launch configuration counts as healthy; then machines get no agents for a while.
    fleet.fakes.aws.faults.add({ kind: 'error', action: 'RunInstances', code: 'InsufficientInstanceCapacity', status: 500 });
    fleet.powerOn();
    fleet.demand(1);
    await fleet.until('a worker runs', async () => (await fleet.workers()).some(worker => worker.state === 'running'));
    fleet.powerOff();
    fleet.fakes.google.configure({ operationErrors: [thorough ? { code: 'RESOURCE_NOT_READY', status: 400 } : { code: 'RESOURCE_OPERATION_RATE_EXCEEDED', status: 429 }] });
    fleet.demand(3);
    await fleet.until('Google is held', async () => (await fleet.get('holds')).holds.some(hold => hold.providerId === 'gce'));
    fleet.fakes.google.configure({ operationErrors: [], operationMs: 1000 });
    await fleet.until('the hold ends and a launch tries', () => fleet.fakes.google.instances.living().length > 1, 120_000);
    await fleet.until('the others follow', () => fleet.fakes.google.instances.living().length === 3);
    const [, canary, next] = fleet.fakes.google.instances.living();
    assert.ok(next.created >= canary.operation.ends, 'nobody is launched before the canary is');
  });
});
