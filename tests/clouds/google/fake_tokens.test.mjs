// Tokens, metadata, keys and prices of the fake Google, driven by Google's own libraries.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

import { project, workerAccount } from './lib/catalogue.mjs';
import { FakeGoogle } from './lib/fake_google.mjs';
import { makeKeyPair, signJwt } from './lib/identities.mjs';
import { auth } from './lib/official_client.mjs';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const audience = '//iam.googleapis.com/projects/739172048511/locations/global/workloadIdentityPools/pool/providers/ours';

describe('the tokens of the fake Google', () => {
  let fake;
  before(async () => {
    fake = await FakeGoogle.start();
    fake.identities.subjectTokens.set('a.token.of-the-cluster', { audience, email: 'principal://pool/subject/us' });
    fake.identities.impersonators.set(workerAccount.email, ['principal://pool/subject/us']);
  });
  after(() => fake.close());
  const file = (name, text) => {
    const made = path.join(fake.folder, name);
    fs.writeFileSync(made, text);
    return made;
  };
  const holder = token => fake.identities.tokens.get(token)?.email;
  const exchange = async (form, where = '/token') => {
    const answer = await fetch(fake.url + where, { method: 'POST', body: new URLSearchParams(form) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const bearer = assertion => exchange({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });

  it('are_given_for_an_assertion_that_Googles_library_signs', async () => {
    const key = JSON.parse(fake.keyFileText);
    // The library knows one address only: what it sends there is sent to the fake.
    const transporter = { request: options => new auth.OAuth2Client().transporter.request({ ...options, url: key.token_uri }) };
    const client = new auth.JWT({ email: key.client_email, key: key.private_key, keyId: key.private_key_id, scopes: [scope] });
    client.transporter = transporter;
    const { token } = await client.getAccessToken();
    assert.equal(holder(token), key.client_email);
  });

  it('are_refused_for_assertions_that_are_forged_late_or_for_others', async () => {
    const key = JSON.parse(fake.keyFileText);
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: key.client_email, scope, aud: key.token_uri, iat: now, exp: now + 3600 };
    const header = { alg: 'RS256', kid: key.private_key_id, typ: 'JWT' };
    assert.equal((await bearer(signJwt(header, claims, key.private_key))).status, 200);
    const wrong = async (assertion, words) => {
      const { status, error, error_description: why } = await bearer(assertion);
      assert.equal(status, 400);
      assert.match(`${error} ${why}`, words);
    };
    await wrong(signJwt(header, claims, makeKeyPair().privateKey), /invalid_grant Invalid JWT Signature/);
    await wrong(signJwt({ ...header, alg: 'none' }, claims, key.private_key), /alg/);
    await wrong(signJwt({ ...header, kid: 'other' }, claims, key.private_key), /kid/);
    await wrong(signJwt(header, { ...claims, aud: 'https://elsewhere' }, key.private_key), /audience/);
    await wrong(signJwt(header, { ...claims, exp: now + 7200 }, key.private_key), /short-lived/);
    await wrong(signJwt(header, { ...claims, iat: now - 9000, exp: now - 5400 }, key.private_key), /timeframe/);
    await wrong(signJwt(header, { ...claims, iss: 'nobody@example.com' }, key.private_key), /account not found/);
    await wrong(signJwt(header, { ...claims, scope: undefined }, key.private_key), /invalid_scope/);
    const [head, body] = [{ alg: 'HS256', typ: 'JWT' }, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url'));
    await wrong(`${head}.${body}.${createHmac('sha256', fake.identities.accounts.get(key.client_email).publicKey).update(`${head}.${body}`).digest('base64url')}`, /alg/);
    await wrong('rubbish', /Invalid JWT/);
  });

  it('are_given_for_a_refresh_token', async () => {
    const user = JSON.parse(fake.identities.userFile());
    const client = new auth.OAuth2Client({ clientId: user.client_id, clientSecret: user.client_secret, endpoints: { oauth2TokenUrl: `${fake.url}/token` } });
    client.setCredentials({ refresh_token: user.refresh_token });
    assert.equal(holder((await client.getAccessToken()).token), 'person@example.com');
    client.setCredentials({ refresh_token: 'revoked' });
    await assert.rejects(client.getAccessToken(), /invalid_grant/);
  });

  it('are_given_to_federated_identities_and_to_those_that_act_for_an_account', async () => {
    const config = {
      type: 'external_account', audience, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', token_url: `${fake.url}/v1/token`,
      credential_source: { file: file('subject', 'a.token.of-the-cluster') },
    };
    const made = more => auth.ExternalAccountClient.fromJSON({ ...config, ...more });
    const plain = made({});
    plain.scopes = [scope];
    assert.equal(holder((await plain.getAccessToken()).token), 'principal://pool/subject/us');
    const acting = made({ service_account_impersonation_url: `${fake.url}/v1/projects/-/serviceAccounts/${workerAccount.email}:generateAccessToken` });
    acting.scopes = [scope];
    assert.equal(holder((await acting.getAccessToken()).token), workerAccount.email);
    await assert.rejects(made({ audience: '//elsewhere' }).getAccessToken(), /invalid_grant/);
    const other = made({ service_account_impersonation_url: `${fake.url}/v1/projects/-/serviceAccounts/other@x:generateAccessToken` });
    await assert.rejects(other.getAccessToken(), /getAccessToken|403|PERMISSION/i);
  });

  it('of_an_instance_are_verified_by_Googles_own_library', async () => {
    fake.seed(1, { region: 'us-east1', metadata: { items: [{ key: 'taskcluster', value: '{"rootUrl":"x"}' }] } });
    const [instance] = fake.instances.living();
    const { url, requests } = await fake.imds(instance.id);
    const get = (where, headers = { 'Metadata-Flavor': 'Google' }) => fetch(`${url}/computeMetadata/v1/instance/${where}`, { headers });
    assert.equal((await get('id', {})).status, 403);
    assert.equal((await get('id', { 'Metadata-Flavor': 'Google', 'X-Forwarded-For': '1.2.3.4' })).status, 403);
    assert.equal(await (await get('id')).text(), instance.id);
    assert.equal(await (await get('attributes/taskcluster')).text(), '{"rootUrl":"x"}');
    assert.equal((await get('attributes/none')).status, 404);
    assert.equal((await get('service-accounts/default/identity')).status, 400);
    const { access_token: token } = await (await get('service-accounts/default/token')).json();
    assert.equal(holder(token), workerAccount.email);
    const jwt = await (await get('service-accounts/default/identity?audience=https://muster.example&format=full')).text();
    const { keys } = await (await fetch(`${fake.url}/oauth2/v3/certs`)).json();
    const certificates = Object.fromEntries(keys.map(key => [key.kid, fake.identities.identityKey.publicKey]));
    const ticket = await new auth.OAuth2Client().verifySignedJwtWithCertsAsync(jwt, certificates, 'https://muster.example', ['https://accounts.google.com']);
    assert.deepEqual([ticket.getPayload().google.compute_engine.instance_id, ticket.getPayload().sub], [instance.id, workerAccount.uniqueId]);
    assert.ok(requests.length > 5);
    const waiting = get(`preempted?wait_for_change=true&last_etag=${(await get('preempted')).headers.get('etag')}`);
    fake.interrupt(instance.id);
    assert.equal(await (await waiting).text(), 'TRUE');
  });

  it('open_the_price_list_and_say_what_they_may', async () => {
    const headers = { authorization: `Bearer ${fake.identities.grant('person@example.com').access_token}`, 'content-type': 'application/json' };
    const page = await (await fetch(`${fake.url}/v1/services/6F81-5844-456A/skus?pageSize=50`, { headers })).json();
    assert.deepEqual([page.skus.length, page.nextPageToken], [50, '50']);
    const core = page.skus.find(sku => /^N2 Instance Core/.test(sku.description));
    assert.equal(core.pricingInfo[0].pricingExpression.tieredRates[0].unitPrice.nanos, 31611000);
    fake.identities.denied.add('compute.instances.delete');
    const body = JSON.stringify({ permissions: ['compute.instances.create', 'compute.instances.delete'] });
    assert.deepEqual(await (await fetch(`${fake.url}/v1/projects/${project}:testIamPermissions`, { method: 'POST', headers, body })).json(), { permissions: ['compute.instances.create'] });
  });
});
