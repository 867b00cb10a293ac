// What listeners of Taskcluster's exchanges hear, from a real broker, while Taskcluster's client does things.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import taskcluster from 'taskcluster-client';

import { Host, newSecret, poolOf, simulated, simulatedProof, slug } from './lib/host.mjs';
import { RabbitMq } from './lib/rabbitmq.mjs';
import { Arrivals, until } from '../support/node/waiting.mjs';

// It takes its time, while other tests run. Who waits for it hears of its failure.
const starting = RabbitMq.start();
starting.catch(() => {});

describe('messages', () => {
  let broker, host, all, published, messages;
  before(async () => {
    broker = await starting;
    host = await Host.start({
      configuration: `[amqp]\nurl = "${broker.address}"\npasswordFile = "amqp-password"\n`,
      files: { 'amqp-password': broker.password },
    });
    all = await host.client('test/all');
    published = await host.published();
    let said;
    const connected = async () => (said = await (await host.own('amqp')).json()).amqp?.connected;
    await until(() => `the host has connected, but: ${JSON.stringify(said)}`, connected);
    messages = new Arrivals();
    await listen();
  });
  after(async () => {
    await host?.end();
    await broker?.end();
  });

  // Bound as Taskcluster's own listeners bind: the host has declared the exchanges.
  const listen = async () => {
    const channel = await broker.connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    const events = new taskcluster.WorkerManagerEvents({ rootUrl: host.rootUrl });
    for (const name of [
      'workerPoolCreated', 'workerPoolUpdated', 'workerPoolError', 'workerRequested', 'workerRunning', 'workerStopped',
      'workerRemoved', 'launchConfigCreated', 'launchConfigUpdated', 'launchConfigArchived',
    ]) {
      const { exchange, routingKeyPattern } = events[name]({});
      await channel.checkExchange(exchange);
      await channel.bindQueue(queue, exchange, routingKeyPattern);
    }
    await channel.consume(queue, ({ fields, properties, content }) =>
      messages.add({
        exchange: fields.exchange.replace('exchange/taskcluster-worker-manager/v1/', ''),
        whole: fields.exchange,
        key: fields.routingKey,
        properties,
        payload: JSON.parse(content),
      }), { noAck: true });
  };

  const message = (exchange, pool, fits = () => true) =>
    messages.first(`${exchange} of ${pool}`, item => item.exchange === exchange && item.payload.workerPoolId === pool && fits(item));

  it('tell_the_life_of_a_pool_and_its_workers', async () => {
    const [provisioner, type] = ['test', `cloud-${slug()}`];
    const id = `${provisioner}/${type}`;
    const launchConfigId = 'lc-a';
    const definition = more => poolOf('sim', { config: simulated({ minCapacity: 1, launch: { workerManager: { launchConfigId, ...more } } }) });
    await all.createWorkerPool(id, definition());
    const created = await message('worker-pool-created', id);
    assert.equal(created.whole, 'exchange/taskcluster-worker-manager/v1/worker-pool-created');
    assert.equal(created.key, 'primary._._._._._._._');
    assert.deepEqual(created.payload, { workerPoolId: id, providerId: 'sim' });
    const launchConfig = await message('launch-config-created', id);
    assert.deepEqual(launchConfig.payload, { launchConfigId, workerPoolId: id, providerId: 'sim' });
    assert.equal(launchConfig.key, `primary.sim.${provisioner}.${type}._._.${launchConfigId}._`);

    const requested = await message('worker-requested', id);
    const { workerGroup, workerId } = requested.payload;
    const key = `primary.sim.${provisioner}.${type}.${workerGroup}.${workerId}.${launchConfigId}._`;
    const worker = { workerPoolId: id, providerId: 'sim', workerGroup, workerId, capacity: 1, launchConfigId };
    const isWorker = (item, more = {}) => {
      assert.equal(item.key, key);
      const { timestamp, ...rest } = item.payload;
      assert.ok(Math.abs(Date.now() - Date.parse(timestamp)) < 60_000, timestamp);
      assert.deepEqual(rest, { ...worker, ...more });
    };
    isWorker(requested);
    const name = { workerPoolId: id, workerGroup, workerId };
    await (await host.client({})).registerWorker({ ...name, providerId: 'sim', workerIdentityProof: simulatedProof(name) });
    isWorker(await message('worker-running', id));

    const report = { workerGroup, workerId, kind: 'worker-error', title: 'Disk', description: 'It is full', extra: {} };
    const { errorId } = await all.reportWorkerError(id, report);
    const error = await message('worker-pool-error', id);
    assert.equal(error.key, key);
    assert.equal(error.payload.errorId, errorId);
    assert.deepEqual([error.payload.kind, error.payload.title, error.payload.workerId], ['worker-error', 'Disk', workerId]);

    await all.updateWorkerPool(id, definition({ initialWeight: 0.5 }));
    await message('worker-pool-updated', id);
    assert.deepEqual((await message('launch-config-updated', id)).payload, launchConfig.payload);

    await all.removeWorker(id, workerGroup, workerId);
    const removed = await message('worker-removed', id, item => item.payload.workerId === workerId);
    isWorker(removed, { reason: removed.payload.reason });
    assert.match(removed.payload.reason, /removeWorker/);
    isWorker(await message('worker-stopped', id, item => item.payload.workerId === workerId));

    await all.deleteWorkerPool(id);
    const updated = await message('worker-pool-updated', id, item => item.payload.providerId === 'null-provider');
    assert.deepEqual(updated.payload, { workerPoolId: id, providerId: 'null-provider', previousProviderId: 'sim' });
    assert.deepEqual((await message('launch-config-archived', id)).payload, launchConfig.payload);
  });

  it('tell_of_announced_workers', async () => {
    const id = `test/rack-${slug()}`;
    await all.createWorkerPool(id, poolOf('rack'));
    const staticSecret = newSecret();
    await all.createWorker(id, 'row', 'machine', { expires: new Date(Date.now() + 86_400_000).toJSON(), providerInfo: { staticSecret } });
    const name = { workerPoolId: id, workerGroup: 'row', workerId: 'machine' };
    await (await host.client({})).registerWorker({ ...name, providerId: 'rack', workerIdentityProof: { staticSecret } });
    const running = await message('worker-running', id);
    assert.ok(running.key.startsWith(`primary.rack.${id.replace('/', '.')}.row.machine.`), running.key);
    await all.removeWorker(id, 'row', 'machine');
    await message('worker-stopped', id);
  });

  it('are_all_as_published', () => {
    for (const item of messages.all) {
      published.check(published.exchange(item.exchange).schema, item.payload);
      assert.equal(item.properties.contentType, 'application/json');
      assert.equal(item.properties.deliveryMode, 2);
      assert.equal(item.key.split('.').length, 8, item.key);
    }
    const exchanges = new Set(messages.all.map(item => item.exchange));
    for (const entry of published.references.exchanges.entries)
      if (!/paused|resumed|stopping$/.test(entry.exchange)) assert.ok(exchanges.has(entry.exchange), `nothing came from ${entry.exchange}`);
  });

  it('come_in_the_order_of_a_workers_life', () => {
    const order = ['worker-requested', 'worker-running', 'worker-removed', 'worker-stopped'];
    const workers = new Set(messages.all.map(item => item.payload.workerId).filter(id => id));
    assert.ok(workers.size >= 2);
    for (const id of workers) {
      const life = messages.all.filter(item => item.payload.workerId === id);
      const steps = life.map(item => order.indexOf(item.exchange)).filter(step => step >= 0);
      assert.deepEqual(steps, [...steps].sort(), id);
    }
  });
});
