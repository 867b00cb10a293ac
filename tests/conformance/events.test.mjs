// Events as a stream and as webhooks, while Taskcluster's client does things.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';

import { Host, poolOf, simulated, slug } from './lib/host.mjs';
import { Arrivals, until } from '../support/node/waiting.mjs';

const secret = 'between the host and the receiver';

// Takes what the host posts; refuses the first `failures` requests.
async function startReceiver() {
  const arrivals = new Arrivals();
  const receiver = { arrivals, failures: 0 };
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const refuses = receiver.failures > 0;
    if (refuses) --receiver.failures;
    response.writeHead(refuses ? 503 : 204).end();
    arrivals.add({ taken: !refuses, headers: request.headers, body: Buffer.concat(chunks).toString() });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  receiver.url = `http://127.0.0.1:${server.address().port}/hook`;
  receiver.end = () => new Promise(resolve => server.close(resolve) && server.closeAllConnections());
  return receiver;
}

// Server-sent events, parsed.
class Listener {
  arrivals = new Arrivals();
  #stop = new AbortController();

  static async open(host, query, headers = {}) {
    const listener = new Listener();
    const answer = await host.own(`events${query}`, {
      headers: { accept: 'text/event-stream', ...headers }, signal: listener.#stop.signal,
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type'), /^text\/event-stream/);
    listener.done = listener.#read(answer.body);
    return listener;
  }

  async #read(body) {
    let text = '';
    try {
      for await (const chunk of body) {
        text += Buffer.from(chunk).toString();
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
          const fields = Object.fromEntries(text.slice(0, end).split('\n').map(line => line.split(/: ?(.*)/s).slice(0, 2)));
          if (fields.data) this.arrivals.add({ id: Number(fields.id), kind: fields.event, event: JSON.parse(fields.data) });
        }
      }
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    }
  }

  async close() {
    this.#stop.abort();
    await this.done;
  }
}

describe('events', () => {
  let host, all, receiver;
  before(async () => {
    receiver = await startReceiver();
    host = await Host.start({
      configuration: `[webhooks.test]
url = "${receiver.url}"
secretFile = "webhook-secret"
kinds = ["worker-pool-*", "launch-configuration-*"]
`,
      files: { 'webhook-secret': `${secret}\n` },
    });
    all = await host.client('test/all');
  });
  after(async () => {
    await host?.end();
    await receiver?.end();
  });
  const ofPool = id => item => (item.event ?? JSON.parse(item.body)).workerPoolId === id;

  it('are_not_for_everybody', async () => {
    assert.equal((await fetch(`${host.rootUrl}/api/muster/v1/events?limit=1`)).status, 401);
    assert.equal((await host.own('events?kind=')).status, 400);
  });

  it('come_as_they_happen_and_go_on_where_a_listener_stopped', async () => {
    const id = `test/stream-${slug()}`;
    const filter = `?workerPoolId=${encodeURIComponent(id)}`;
    const first = await Listener.open(host, filter);
    await all.createWorkerPool(id, poolOf('sim', { config: simulated({ minCapacity: 1 }) }));
    const created = await first.arrivals.first('the pool was made', item => item.kind === 'worker-pool-created');
    assert.deepEqual([created.event.number, created.event.kind, created.event.workerPoolId], [created.id, created.kind, id]);
    await first.arrivals.first('its launch configuration was made', item => item.kind === 'launch-configuration-created');
    await first.arrivals.first('its worker is requested', item => item.kind === 'worker-requested');
    await first.arrivals.first('its worker is launched', item => item.kind === 'worker-launched');
    await first.close();
    const seen = first.arrivals.all;
    assert.deepEqual(seen.map(item => item.id), [...seen.map(item => item.id)].sort((a, b) => a - b));
    await all.updateWorkerPool(id, poolOf('sim', { description: 'changed', config: simulated({ minCapacity: 1 }) }));
    await host.restart();
    all = await host.client('test/all');
    const again = await Listener.open(host, filter, { 'last-event-id': String(created.id) });
    const rest = await again.arrivals.list('what came behind it', seen.length, () => true);
    assert.deepEqual(rest.slice(0, seen.length - 1), seen.slice(1), 'what was seen comes again, as it was');
    await again.arrivals.first('the change', item => item.kind === 'worker-pool-updated');
    await again.close();
    const narrow = await Listener.open(host, `${filter}&kind=worker-pool-*`, { 'last-event-id': '0' });
    const kinds = (await narrow.arrivals.list('pool events', 2, () => true)).map(item => item.kind);
    assert.deepEqual(kinds, ['worker-pool-created', 'worker-pool-updated']);
    await narrow.close();
    const pages = await (await host.own(`events${filter}&kind=worker-pool-created&after=0&limit=1000`)).json();
    assert.equal(pages.events.length, 1, 'a restart makes nothing new');
  });

  it('tell_of_a_pool_before_its_launch_configurations', async () => {
    const id = `test/order-${slug()}`;
    const launch = { workerManager: { launchConfigId: 'lc-a' } };
    await all.createWorkerPool(id, poolOf('sim', { config: simulated({ launch }) }));
    await all.updateWorkerPool(id, poolOf('sim', { config: simulated({ launch }) }));
    await all.deleteWorkerPool(id);
    const told = async () => (await (await host.own(`events?workerPoolId=${encodeURIComponent(id)}&after=0&limit=1000`)).json()).events
      .filter(event => event.kind !== 'audit');
    const events = await until('all is told', async () => {
      const now = await told();
      return now.length >= 6 && now;
    });
    assert.deepEqual(events.map(event => event.kind).slice(0, 6), [
      'worker-pool-created', 'launch-configuration-created',
      'worker-pool-updated', 'launch-configuration-updated',
      'worker-pool-updated', 'launch-configuration-archived',
    ]);
  });

  it('are_told_to_webhooks_signed_and_in_order', async () => {
    const id = `test/hook-${slug()}`;
    receiver.failures = 1;
    await all.createWorkerPool(id, poolOf('sim'));
    await all.deleteWorkerPool(id);
    const updated = await receiver.arrivals.first('the end of the pool', item => item.taken && ofPool(id)(item) && item.headers['muster-event-kind'] === 'worker-pool-updated');
    const mine = receiver.arrivals.all.filter(item => item.taken && ofPool(id)(item));
    for (const { headers, body } of mine) {
      const wanted = createHmac('sha256', secret).update(`${headers['muster-timestamp']}.${body}`).digest('hex');
      assert.equal(headers['muster-signature'], `v1=${wanted}`);
      assert.ok(Math.abs(Date.now() / 1000 - Number(headers['muster-timestamp'])) < 60);
      const event = JSON.parse(body);
      assert.equal(headers['muster-event-kind'], event.kind);
      assert.equal(headers['muster-event-number'], String(event.number));
      assert.equal(headers['muster-webhook'], 'test');
    }
    const numbers = mine.map(item => Number(item.headers['muster-event-number']));
    assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
    assert.equal(JSON.parse(updated.body).details.previousProviderId, 'sim');
    const [refusedOnce] = receiver.arrivals.all.filter(item => !item.taken);
    assert.ok(receiver.arrivals.all.some(item => item.taken && item.body === refusedOnce.body), 'what was refused comes again');
  });
});
