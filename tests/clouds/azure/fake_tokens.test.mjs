// Tokens, metadata and prices of the fake Azure.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createSign, randomUUID, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

import { tenant } from './lib/catalogue.mjs';
import { FakeAzure } from './lib/fake_azure.mjs';

const scope = 'https://management.azure.com/.default';
const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the tokens of the fake Azure', () => {
  let fake;
  let certificate;
  before(async () => {
    fake = await FakeAzure.start();
    certificate = fs.readFileSync(fake.chain.leafFile, 'utf8');
    fake.identities.clients.set('with-certificate', { certificate });
    fake.identities.clients.set('federated', { federated: 'a.token.of-the-cluster' });
  });
  after(() => fake.close());
  const ask = async (form, which = tenant) => {
    const answer = await fetch(`${fake.url}/${which}/oauth2/v2.0/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', scope, ...form }) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const assertion = (claims = {}, header = {}, key = fs.readFileSync(fake.chain.keyFile)) => {
    const now = Math.floor(Date.now() / 1000);
    const text = `${part({ alg: 'RS256', typ: 'JWT', x5t: createHash('sha1').update(new X509Certificate(certificate).raw).digest('base64url'), ...header })}.${part({
      aud: `${fake.url}/${tenant}/oauth2/v2.0/token`, iss: 'with-certificate', sub: 'with-certificate', jti: randomUUID(), nbf: now, exp: now + 600, ...claims,
    })}`;
    return { client_id: 'with-certificate', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion: `${text}.${createSign('RSA-SHA256').update(text).sign(createPrivateKey(key), 'base64url')}` };
  };

  it('are_given_for_secrets_assertions_and_federated_tokens', async () => {
    const { id, secret } = fake.identities.client;
    for (const form of [{ client_id: id, client_secret: secret }, assertion(), { ...assertion(), client_id: 'federated', client_assertion: 'a.token.of-the-cluster' }]) {
      const answer = await ask(form);
      assert.equal(answer.status, 200, answer.error_description);
      assert.equal(fake.identities.tokens.get(answer.access_token).client, form.client_id);
    }
  });

  it('are_refused_otherwise', async () => {
    const { id, secret } = fake.identities.client;
    const wrong = async (form, number, which) => assert.deepEqual((({ error_codes: codes }) => codes)(await ask(form, which)), [number]);
    await wrong({ client_id: id, client_secret: 'wrong' }, 7000215);
    await wrong({ client_id: 'nobody', client_secret: secret }, 700016);
    await wrong({ client_id: id, client_secret: secret }, 90002, 'other');
    await wrong({ client_id: id, client_secret: secret, scope: 'https://elsewhere/.default' }, 70011);
    await wrong({ client_id: id, client_secret: secret, grant_type: 'password' }, 70003);
    await wrong({ client_id: id }, 900144);
    await wrong(assertion({ aud: 'https://elsewhere' }), 700023);
    await wrong(assertion({ exp: 1 }), 700024);
    await wrong(assertion({}, { alg: 'none' }), 5002738);
    await wrong(assertion({}, { x5t: 'other' }), 700027);
    await wrong(assertion({}, {}, fs.readFileSync(path.join(path.dirname(fake.chain.keyFile), 'root.key'))), 700027);
    await wrong({ ...assertion(), client_id: 'federated' }, 700213);
  });

  it('of_a_machine_come_with_the_header_only_and_its_document_is_signed_by_the_chain', async () => {
    fake.seed(1, { tags: { 'root-url': 'x' } });
    const [machine] = fake.machines.living();
    const { url } = await fake.imds(machine.id);
    const get = (where, headers = { Metadata: 'true' }) => fetch(`${url}/metadata/${where}`, { headers });
    assert.equal((await get('instance/compute?api-version=2021-02-01', {})).status, 400);
    assert.equal((await get('instance/compute')).status, 400);
    const compute = await (await get('instance/compute?api-version=2021-02-01')).json();
    assert.deepEqual([compute.name, compute.vmId, compute.tagsList], [machine.name, machine.vmId, [{ name: 'root-url', value: 'x' }]]);
    const attested = await (await get('attested/document?api-version=2021-02-01&nonce=1234567890')).json();
    const message = path.join(fake.folder, 'message');
    fs.writeFileSync(message, Buffer.from(attested.signature, 'base64'));
    const trusted = path.join(fake.folder, 'trusted');
    const verify = (...files) => {
      fs.writeFileSync(trusted, files.map(file => fs.readFileSync(file, 'utf8')).join(''));
      return execFileSync('openssl', ['cms', '-verify', '-inform', 'DER', '-in', message, '-CAfile', trusted, '-purpose', 'any'], { stdio: ['pipe', 'pipe', 'pipe'] }).toString();
    };
    const content = JSON.parse(verify(fake.chain.rootFile, fake.chain.intermediateFile));
    assert.deepEqual([content.vmId, content.nonce], [machine.vmId, '1234567890']);
    assert.throws(() => verify(fake.chain.rootFile), /issuer/);
    assert.equal((await get('identity/oauth2/token?api-version=2018-02-01&resource=x')).status, 400);
    const host = await fake.hostMetadata('the-host');
    const token = await (await fetch(`${host.url}/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://management.azure.com/`, { headers: { Metadata: 'true' } })).json();
    assert.equal(fake.identities.tokens.get(token.access_token).client, 'the-host');
    fake.interrupt(machine.id);
    const { Events } = await (await get('scheduledevents?api-version=2020-07-01')).json();
    assert.deepEqual([Events[0].EventType, Events[0].Resources], ['Preempt', [machine.name]]);
  });

  it('are_not_needed_for_prices', async () => {
    const filter = encodeURIComponent('serviceName eq \'Virtual Machines\' and armRegionName eq \'westus2\' and (armSkuName eq \'Standard_D2s_v5\' or armSkuName eq \'Standard_D4s_v5\') and not contains(productName, \'Windows\')');
    const { Items } = await (await fetch(`${fake.url}/api/retail/prices?$filter=${filter}`)).json();
    assert.equal(Items.length, 4);
    const first = await (await fetch(`${fake.url}/api/retail/prices`)).json();
    assert.equal(first.Items.length, 100);
    assert.equal((await (await fetch(first.NextPageLink)).json()).Items.length, 28);
  });
});
