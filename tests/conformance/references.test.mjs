// What the host publishes about itself, and the calls that tell of the host itself.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import taskcluster from 'taskcluster-client';

import { refused, shippedMethods } from './lib/checked_client.mjs';
import { Host } from './lib/host.mjs';

describe('published documents', () => {
  let host, published;
  before(async () => {
    host = await Host.start();
    published = await host.published();
  });
  after(() => host?.end());

  it('are_what_their_own_schemas_say', () => {
    for (const document of [published.manifest, ...Object.values(published.references)])
      published.check(document.$schema.split('#')[0], document);
    assert.deepEqual(Object.keys(published.references).sort(), ['api', 'exchanges', 'logs', 'metrics']);
  });

  it('have_the_addresses_that_they_say', () => {
    assert.ok(published.documents.size > 30);
    for (const [url, document] of published.documents) {
      assert.equal(document.$id.replace(/#$/, ''), url);
      assert.ok(url.startsWith(`${host.rootUrl}/schemas/`), url);
    }
  });

  it('describe_every_call_as_the_client_knows_it', () => {
    for (const known of shippedMethods) {
      const entry = published.entry(known.name);
      assert.ok(entry, known.name);
      for (const key of ['type', 'method', 'route', 'args', 'input', 'output', 'scopes'])
        assert.deepEqual(entry[key], known[key], `${known.name}.${key}`);
      for (const key of known.query ?? []) assert.ok(entry.query.includes(key), `${known.name}?${key}`);
    }
    for (const name of ['shouldWorkerTerminate', 'getLaunchConfig', 'pauseLaunchConfig', 'resumeLaunchConfig'])
      assert.ok(published.entry(name), name);
  });

  it('describe_every_exchange_as_the_client_knows_it', () => {
    const known = new taskcluster.WorkerManagerEvents({ rootUrl: host.rootUrl });
    const served = new (taskcluster.createClient(published.references.exchanges))({ rootUrl: host.rootUrl });
    const methods = Object.keys(taskcluster.WorkerManagerEvents.prototype).filter(name => /^(worker|launchConfig)/.test(name));
    assert.ok(methods.length >= 9, String(methods));
    for (const name of methods) {
      assert.equal(served[name]().exchange, known[name]().exchange, name);
      assert.equal(served[name]().routingKeyPattern, known[name]().routingKeyPattern, name);
      const words = client => client[name]().routingKeyReference.map(word => word.name);
      assert.deepEqual(words(served), words(known), name);
    }
  });

  it('tell_of_the_host_itself', async () => {
    const nobody = await host.client({});
    assert.equal((await nobody.ping()).alive, true);
    assert.deepEqual(await nobody.lbheartbeat(), {});
    assert.deepEqual(await nobody.heartbeat(), {});
    assert.match((await nobody.version()).version, /^\d+\.\d+\.\d+/);
  });

  it('list_the_providers', async () => {
    const nothing = await host.client('test/nothing');
    await refused(nothing.listProviders(), 403, 'InsufficientScopes', /worker-manager:list-providers/);
    const all = await host.client('test/all');
    await refused(all.listProviders({ limit: 'x' }), 400, 'InvalidRequestArguments', /limit/);
    const listed = await all.pages('listProviders', 'providers', [], { limit: 1 });
    const types = Object.fromEntries(listed.map(provider => [provider.providerId, provider.providerType]));
    assert.equal(types.rack, 'static');
    assert.equal(types.sim, 'simulated');
    assert.deepEqual((await all.listProviders()).providers, listed);
  });
});
