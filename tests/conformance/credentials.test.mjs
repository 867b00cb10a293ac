// All the ways in that Taskcluster's clients have.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import taskcluster from 'taskcluster-client';

import { refused } from './lib/checked_client.mjs';
import { Host, poolOf } from './lib/host.mjs';

const list = 'worker-manager:list-worker-pools';

describe('credentials', () => {
  let host;
  before(async () => {
    host = await Host.start({
      clients: {
        'test/lists': [list, 'auth:create-client:test/lists/*'],
        'test/assumes': ['assume:reader:test/one'],
        'test/disabled': ['*'],
        'test/once': ['*'],
      },
      configuration: `[auth.roles."reader:*"]
scopes = ["worker-manager:get-worker-pool:<..>"]
[auth.roles.anonymous]
scopes = ["worker-manager:list-providers"]
`,
    });
    const all = await host.client('test/all');
    for (const id of ['test/one', 'test/two']) await all.createWorkerPool(id, poolOf('rack'));
  });
  after(() => host?.end());

  const temporary = (issuer, more = {}) =>
    taskcluster.createTemporaryCredentials({
      credentials: host.credentials[issuer], scopes: [list], expiry: taskcluster.fromNow('1 hour'), ...more,
    });

  it('refuses_temporary_credentials_with_more_than_their_issuer_has', async () => {
    const client = await host.client(temporary('test/lists', { scopes: [list, 'worker-manager:provider:rack'] }));
    await refused(client.listWorkerPools(), 401, 'AuthenticationFailed', /provider:rack|satisf/);
  });

  it('refuses_temporary_credentials_before_and_after_their_time', async () => {
    const ago = text => taskcluster.fromNow(text);
    const late = await host.client(temporary('test/lists', { start: ago('-2 hours'), expiry: ago('-1 hours') }));
    await refused(late.listWorkerPools(), 401, 'AuthenticationFailed', /certificate\.expiry/);
    const early = await host.client(temporary('test/lists', { start: ago('1 hour'), expiry: ago('2 hours') }));
    await refused(early.listWorkerPools(), 401, 'AuthenticationFailed', /certificate\.start/);
  });

  it('refuses_a_certificate_that_somebody_changed', async () => {
    const credentials = temporary('test/lists');
    const certificate = JSON.parse(credentials.certificate);
    certificate.scopes = ['*'];
    const greedy = await host.client({ ...credentials, certificate: JSON.stringify(certificate) });
    await refused(greedy.listWorkerPools(), 401, 'AuthenticationFailed');
    const named = temporary('test/lists', { clientId: 'test/lists/one' });
    await refused((await host.client({ ...named, clientId: 'test/lists/two' })).listWorkerPools(), 401, 'AuthenticationFailed');
    const other = temporary('test/lists', { clientId: 'elsewhere/one' });
    await refused((await host.client(other)).listWorkerPools(), 401, 'AuthenticationFailed', /auth:create-client:elsewhere\/one/);
  });

  it('takes_temporary_credentials_named_or_not', async () => {
    await (await host.client(temporary('test/lists'))).listWorkerPools();
    const named = await host.client(temporary('test/lists', { clientId: 'test/lists/one' }));
    await named.listWorkerPools();
    await refused(named.workerPool('test/one'), 403, 'InsufficientScopes', /^Client ID test\/lists\/one does not have/);
  });

  it('takes_temporary_credentials_without_any_scope', async () => {
    const client = await host.client(temporary('test/lists', { scopes: [] }));
    await refused(client.listWorkerPools(), 403, 'InsufficientScopes');
  });

  it('limits_a_request_to_its_authorized_scopes', async () => {
    const one = 'worker-manager:get-worker-pool:test/one';
    const client = await host.client('test/all', { authorizedScopes: [one] });
    await client.workerPool('test/one');
    await refused(client.workerPool('test/two'), 403, 'InsufficientScopes');
    const greedy = await host.client('test/lists', { authorizedScopes: [one] });
    await refused(greedy.workerPool('test/one'), 401, 'AuthenticationFailed', /authorizedScopes/);
    const both = await host.client(temporary('test/all', { scopes: ['worker-manager:*'] }), { authorizedScopes: [one] });
    await both.workerPool('test/one');
    await refused(both.listWorkerPools(), 403, 'InsufficientScopes');
  });

  it('grants_what_roles_grant', async () => {
    const client = await host.client('test/assumes');
    await client.workerPool('test/one');
    await refused(client.workerPool('test/two'), 403, 'InsufficientScopes');
    await (await host.client({})).listProviders(); // anybody may
  });

  it('takes_signed_addresses', async () => {
    const { unchecked: client } = await host.client('test/all');
    const signed = client.buildSignedUrl(client.workerPool, 'test/one');
    const answer = await fetch(signed);
    assert.equal(answer.status, 200);
    assert.equal((await answer.json()).workerPoolId, 'test/one');
    const withQuery = client.buildSignedUrl(client.listWorkerPools, { limit: 1 });
    assert.equal((await (await fetch(withQuery)).json()).workerPools.length, 1);
    assert.equal((await fetch(signed.replace('test%2Fone', 'test%2Ftwo'))).status, 401);
    assert.equal((await fetch(signed, { method: 'DELETE' })).status, 401, 'only for reading');
    const worker = temporary('test/lists');
    const { unchecked: limited } = await host.client(worker);
    assert.equal((await fetch(limited.buildSignedUrl(limited.listWorkerPools))).status, 200);
  });

  it('makes_an_admin_at_its_first_start', async () => {
    const admin = await host.client(host.admin.credentials);
    await admin.listWorkerPools();
    await host.restart();
    assert.equal((await host.client(host.admin.credentials).then(client => client.workerPool('test/one'))).workerPoolId, 'test/one');
  });
});
