// Signatures, roles, metadata of instances and queues of the fake, by AWS's own client, AWS's own signer and OpenSSL.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { verify, X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

import { FakeAws } from './lib/fake_aws.mjs';
import { officialClient } from './lib/official_client.mjs';
import { signer } from './lib/signature.mjs';

const launch = { ImageId: 'ami-0123456789abcdef0', InstanceType: 'm5.large', MinCount: 1, MaxCount: 1, MetadataOptions: { HttpTokens: 'required' } };
const role = 'arn:aws:iam::210987654321:role/ci';

describe('signatures', () => {
  let fake;
  before(async () => (fake = await FakeAws.start()));
  after(() => fake.close());

  // A request as AWS's own signer makes it, changed by `spoil` afterwards.
  async function send({ credentials = fake.credentials, body = 'Action=DescribeRegions&Version=2016-11-15', date = new Date(), spoil = () => {} } = {}) {
    const host = fake.url.replace('http://', '');
    const made = await signer(credentials, 'us-east-1', 'ec2').sign(
      { method: 'POST', protocol: 'http:', hostname: host, path: '/', query: {}, headers: { host, 'content-type': 'application/x-www-form-urlencoded' }, body },
      { signingDate: date },
    );
    spoil(made);
    const { host: _, ...headers } = made.headers;
    const answer = await fetch(fake.url, { method: 'POST', headers, body: made.body });
    return { status: answer.status, text: await answer.text() };
  }
  const refusedWith = async (code, options) => assert.match((await send(options)).text, new RegExp(`<Code>${code}</Code>`));

  it('of_the_right_key_are_accepted', async () => {
    const { status, text } = await send();
    assert.equal(status, 200, text);
  });

  it('of_a_wrong_key_secret_body_header_or_date_are_refused', async () => {
    await refusedWith('AuthFailure', { credentials: { ...fake.credentials, accessKeyId: 'AKIANOBODY' } });
    await refusedWith('SignatureDoesNotMatch', { credentials: { ...fake.credentials, secretAccessKey: 'guess' } });
    await refusedWith('SignatureDoesNotMatch', { spoil: made => (made.body += '&DryRun=true') });
    await refusedWith('SignatureDoesNotMatch', { spoil: made => (made.headers['x-amz-extra'] = 'not signed') });
    await refusedWith('SignatureDoesNotMatch', { spoil: made => (made.headers['x-amz-content-sha256'] = '0'.repeat(64)) });
    await refusedWith('RequestExpired', { date: new Date(Date.now() - 301_000) });
    await refusedWith('SignatureDoesNotMatch', { date: new Date(Date.now() + 301_000) });
    await refusedWith('IncompleteSignature', { spoil: made => (made.headers.authorization = 'AWS4-HMAC-SHA256 Credential=x') });
    await refusedWith('AuthFailure', { spoil: made => delete made.headers.authorization });
    await refusedWith('AuthFailure', { credentials: { ...fake.credentials, sessionToken: 'of somebody' } });
  });

  it('of_temporary_credentials_are_good_until_they_expire', async () => {
    const sts = officialClient('sts', fake);
    fake.identities.roles.set(role, { externalId: 'agreed' });
    const ask = { RoleArn: role, RoleSessionName: 'muster' };
    await assert.rejects(sts.assumeRole(ask).promise(), { code: 'AccessDenied' });
    const { Credentials: made } = await sts.assumeRole({ ...ask, ExternalId: 'agreed', DurationSeconds: 900 }).promise();
    const credentials = { accessKeyId: made.AccessKeyId, secretAccessKey: made.SecretAccessKey, sessionToken: made.SessionToken };
    assert.equal((await send({ credentials })).status, 200);
    const who = await officialClient('sts', fake, { credentials }).getCallerIdentity({}).promise();
    assert.deepEqual([who.Account, who.Arn], ['210987654321', 'arn:aws:sts::210987654321:assumed-role/ci/muster']);
    await refusedWith('AuthFailure', { credentials: { ...credentials, sessionToken: 'another' } });
    fake.clockOffset = 901_000;
    const date = new Date(Date.now() + fake.clockOffset);
    await refusedWith('RequestExpired', { credentials, date });
    fake.clockOffset = 0;
  });

  it('are_not_needed_for_a_web_identity', async () => {
    fake.identities.roles.set(role, { webIdentityToken: 'a.token.of-the-cluster' });
    const sts = officialClient('sts', fake);
    const ask = { RoleArn: role, RoleSessionName: 'muster' };
    await assert.rejects(sts.assumeRoleWithWebIdentity({ ...ask, WebIdentityToken: 'another' }).promise(), { code: 'InvalidIdentityToken' });
    const answer = await sts.assumeRoleWithWebIdentity({ ...ask, WebIdentityToken: 'a.token.of-the-cluster' }).promise();
    assert.match(answer.Credentials.AccessKeyId, /^ASIA/);
  });
});

describe('metadata of an instance', () => {
  let fake;
  let id;
  let imds;
  before(async () => {
    fake = await FakeAws.start();
    const made = await officialClient('ec2', fake).runInstances({ ...launch, UserData: Buffer.from('{"a": 1}').toString('base64') }).promise();
    id = made.Instances[0].InstanceId;
    imds = await fake.imds(id);
  });
  after(() => fake.close());

  const get = async (where, headers = {}) => fetch(imds.url + where, { headers });
  async function read(where) {
    const token = await (await fetch(`${imds.url}/latest/api/token`, { method: 'PUT', headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' } })).text();
    const answer = await get(where, { 'X-aws-ec2-metadata-token': token });
    return answer.status === 200 ? answer.text() : answer.status;
  }

  it('needs_a_token', async () => {
    assert.equal((await get('/latest/user-data')).status, 401);
    assert.equal((await get('/latest/user-data', { 'X-aws-ec2-metadata-token': 'guess' })).status, 401);
    assert.equal((await fetch(`${imds.url}/latest/api/token`, { method: 'PUT' })).status, 400);
    assert.equal((await get('/latest/user-data', { 'X-Forwarded-For': '10.0.0.1' })).status, 403);
    assert.equal(await read('/latest/user-data'), '{"a": 1}');
    assert.equal(await read('/latest/nothing'), 404);
  });

  it('has_a_document_that_its_signatures_are_about', async () => {
    const text = await read('/latest/dynamic/instance-identity/document');
    const document = JSON.parse(text);
    assert.deepEqual([document.instanceId, document.region, document.accountId], [id, 'us-east-1', '123456789012']);
    const key = new X509Certificate(fs.readFileSync(fake.certificateFile)).publicKey;
    const signature = Buffer.from(await read('/latest/dynamic/instance-identity/signature'), 'base64');
    assert.ok(verify('sha256', Buffer.from(text), key, signature));
    const message = path.join(fake.folder, 'rsa2048');
    fs.writeFileSync(message, `-----BEGIN PKCS7-----\n${await read('/latest/dynamic/instance-identity/rsa2048')}\n-----END PKCS7-----\n`);
    const arguments_ = ['smime', '-verify', '-in', message, '-inform', 'PEM', '-certfile', fake.certificateFile, '-noverify', '-nointern'];
    assert.equal(execFileSync('openssl', arguments_, { encoding: 'utf8', stdio: 'pipe' }), text);
  });

  it('tells_of_interruptions_as_the_queue_does', async () => {
    assert.equal(await read('/latest/meta-data/spot/instance-action'), 404);
    fake.queues.create('notices');
    const sqs = officialClient('sqs', fake);
    const QueueUrl = `${fake.url}/123456789012/notices`;
    fake.recommendRebalance(id);
    assert.ok(JSON.parse(await read('/latest/meta-data/events/recommendations/rebalance')).noticeTime);
    fake.interrupt(id, { seconds: 0 });
    assert.equal(JSON.parse(await read('/latest/meta-data/spot/instance-action')).action, 'terminate');
    const { Messages } = await sqs.receiveMessage({ QueueUrl, MaxNumberOfMessages: 10 }).promise();
    assert.deepEqual(Messages.map(message => JSON.parse(message.Body)['detail-type']), ['EC2 Instance Rebalance Recommendation', 'EC2 Spot Instance Interruption Warning']);
    assert.equal((await sqs.receiveMessage({ QueueUrl }).promise()).Messages?.length ?? 0, 0, 'hidden while somebody reads them');
    for (const { ReceiptHandle } of Messages) await sqs.deleteMessage({ QueueUrl, ReceiptHandle }).promise();
    assert.equal(fake.queues.left('notices'), 0);
    await assert.rejects(sqs.receiveMessage({ QueueUrl: `${fake.url}/123456789012/nothing` }).promise(), /does not exist/);
  });

  it('has_the_keys_of_a_role', async () => {
    imds = await fake.imdsWithRole('host', { seconds: 600 });
    assert.equal(await read('/latest/meta-data/iam/security-credentials/'), 'host');
    const made = JSON.parse(await read('/latest/meta-data/iam/security-credentials/host'));
    const credentials = { accessKeyId: made.AccessKeyId, secretAccessKey: made.SecretAccessKey, sessionToken: made.Token };
    assert.match((await officialClient('sts', fake, { credentials }).getCallerIdentity({}).promise()).Arn, /assumed-role\/host/);
  });
});
