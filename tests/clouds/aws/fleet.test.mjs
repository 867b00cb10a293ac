// From demand to machines and back: musterd, provider/aws, the fake AWS and a real muster-agent on each machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

import { Fleet, pool } from './lib/fleet.mjs';

// The actions of the smallest policy that the documentation has: the first of its policies.
const policy = () => {
  const text = fs.readFileSync(path.join(process.env.MUSTER_SOURCE, 'docs/clouds/aws.md'), 'utf8');
  const [, block] = text.match(/```json\n(\{\s*"Version"[\s\S]*?)```/);
  return JSON.parse(block).Statement.flatMap(statement => statement.Action);
};
const byTag = (instance, name) => instance.tags[`muster-${name}`];

describe('a fleet on AWS', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ agents: true, setup: fake => (fake.identities.allowed = policy()) })));
  after(() => fleet.end());
  const running = async count => {
    await fleet.until(`${count} workers run`, async () => (await fleet.workers()).filter(worker => worker.state === 'running').length === count);
    return fleet.workers();
  };

  it('launches_what_is_wanted_in_few_calls_and_registers_it_by_its_identity_document', async () => {
    fleet.demand(3);
    const workers = await running(3);
    assert.ok(fleet.fake.count('RunInstances') <= 3, 'at most one call for each zone');
    assert.deepEqual(workers.map(worker => worker.workerId).sort(), fleet.living().map(instance => instance.id).sort());
    for (const instance of fleet.living()) {
      assert.equal(instance.market, 'spot');
      assert.equal(instance.tokensRequired, true, 'IMDSv2 is required');
      assert.equal(byTag(instance, 'pool'), pool);
      assert.equal(byTag(instance, 'provider'), 'ec2');
      assert.deepEqual(instance.volumeTags['muster-pool'], pool);
      const told = JSON.parse(instance.userData.toString());
      assert.deepEqual([told.rootUrl, told.workerPoolId, told.providerId, told.workerGroup], [fleet.rootUrl, pool, 'ec2', 'us-east-1']);
    }
  });

  it('gives_its_workers_credentials', async () => {
    for (const { id } of fleet.living()) {
      await fleet.until('the worker runs', () => fleet.machines.agent(id).output.includes(`worker runs as ${id}`));
      const credentials = JSON.parse(fs.readFileSync(`${fleet.machines.agent(id).folder}/state/credentials.json`, 'utf8'));
      assert.equal(credentials.rootUrl, fleet.rootUrl);
      assert.match(credentials.clientId, new RegExp(id));
    }
  });

  it('needs_little_memory_on_a_machine', () => {
    for (const { id } of fleet.living()) {
      const status = fs.readFileSync(`/proc/${fleet.machines.agent(id).process.pid}/status`, 'utf8');
      const kilobytes = Number(status.match(/VmRSS:\s*(\d+)/)[1]);
      assert.ok(kilobytes <= 10 * 1024, `the agent has ${kilobytes} kB`);
    }
  });

  it('drains_and_replaces_a_machine_that_AWS_takes_away', async () => {
    const [{ id }] = fleet.living();
    fleet.fake.interrupt(id, { seconds: 60 });
    await fleet.until('the agent has ended', () => fleet.machines.agent(id).process.exitCode !== null);
    assert.equal(fleet.machines.agent(id).process.exitCode, 22);
    assert.match(fleet.machines.agent(id).output, /worker told to end/);
    await fleet.until('it is terminated', () => fleet.fake.instance(id).ended !== undefined);
    const workers = await running(3);
    assert.ok(workers.every(worker => worker.workerId !== id || worker.state !== 'running'));
    assert.equal(fleet.living().length, 3);
  });

  it('replaces_a_machine_for_which_AWS_recommends_it', async () => {
    const [{ id }] = fleet.living();
    fleet.fake.recommendRebalance(id);
    await fleet.until('the host knows of it', async () => (await fleet.workers()).some(worker => worker.workerId === id && worker.interruption));
    await fleet.until('another one runs instead', async () => (await fleet.workers()).filter(worker => worker.state === 'running' && !worker.interruption).length === 3);
  });

  it('survives_a_restart_of_the_host', async () => {
    const before_ = fleet.living().map(instance => instance.id).sort();
    await fleet.stop();
    await fleet.startAgain();
    const workers = await fleet.workers();
    for (const id of before_) assert.ok(workers.some(worker => worker.workerId === id), id);
  });

  it('is_told_by_the_doctor_what_is_missing', async () => {
    const failed = async () => {
      const { checks } = await fleet.get('providers/ec2/diagnosis');
      assert.ok(checks.length > 5);
      return JSON.stringify(checks.filter(check => /TerminateInstances/.test(JSON.stringify(check)) && check.outcome === 'failed'));
    };
    assert.equal(await failed(), '[]');
    fleet.fake.identities.denied.add('ec2:TerminateInstances');
    assert.match(await failed(), /ec2:TerminateInstances/);
    fleet.fake.identities.denied.clear();
  });

  it('terminates_machines_that_nobody_needs', async () => {
    fleet.demand(0);
    await fleet.until('all have ended', async () => fleet.living().length === 0 && (await fleet.workers()).length === 0);
    const called = new Set(fleet.fake.calls.filter(call => call.code !== 'DryRunOperation').map(call => `${call.service}:${call.action}`));
    const unused = policy().filter(action => !called.has(action));
    assert.deepEqual(unused.sort(), ['ec2:CreateTags', 'ec2:DescribeRegions'], 'tags come with launches, and regions were configured');
    const { history } = fleet.fake.instances;
    assert.equal(new Set(history.map(instance => `${byTag(instance, 'keys')} ${instance.index}`)).size, history.length, 'no key was launched twice');
  });
});

describe('a pool on AWS and in a datacenter', () => {
  const rack = price => ({
    more: `[providers.rack]
plugin = "provider/static"
[providers.rack.config]
region = "dc1"
stateFile = ":memory:"
wakeCommand = ["true"]
machines = [{ workerPoolId = "${pool}", workerId = "blade-01", powered = true }, { workerPoolId = "${pool}", workerId = "blade-02", powered = true }]
`,
    values: { providers: ['ec2', 'rack'], strategy: 'cheapest', maxCapacity: 3, static: { pricePerCapacityHour: price } },
  });
  const launched = async fleet => {
    fleet.demand(1);
    const workers = await fleet.until('a worker is launched', async () => {
      const found = await fleet.workers();
      return found.length > 0 && found;
    });
    return workers.map(worker => worker.providerId);
  };

  it('takes_the_datacenter_if_that_is_cheaper', async () => {
    const fleet = await Fleet.start(rack(0.001));
    try {
      assert.deepEqual(await launched(fleet), ['rack']);
      assert.equal(fleet.living().length, 0);
    } finally {
      await fleet.end();
    }
  });

  it('takes_AWS_if_that_is_cheaper', async () => {
    const fleet = await Fleet.start(rack(5));
    try {
      assert.deepEqual(await launched(fleet), ['ec2']);
      await fleet.until('a machine', () => fleet.living().length === 1);
    } finally {
      await fleet.end();
    }
  });
});
