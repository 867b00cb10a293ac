// Every source of credentials, each as a provider of one host: all of them reach AWS as who they should be.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { credentialsText, Fleet } from './lib/fleet.mjs';

const role = 'arn:aws:iam::210987654321:role/ci';
const webRole = 'arn:aws:iam::310987654321:role/web';
const second = { accessKeyId: 'AKIASECONDACCOUNT000', secretAccessKey: 'another/secret', account: '410987654321' };

const others = {
  'by-profile': (fake, fleet) => ({ credentials: { profile: 'ci', credentialsFile: fleet.file('profiles', credentialsText({ accessKeyId: 'AKIANOBODY', secretAccessKey: 'x' }) + credentialsText(second).replace('default', 'ci')) } }),
  'by-role': (fake, fleet) => ({ credentials: { static: { file: `${fleet.folder}/aws-credentials` }, assumeRole: { arn: role, externalId: 'agreed', sessionName: 'musterd' } } }),
  'by-web-identity': (fake, fleet) => ({ credentials: { webIdentity: { roleArn: webRole, tokenFile: fleet.file('web-token', 'a.token.of-the-cluster') } } }),
  'by-metadata': (fake, fleet) => ({ credentials: { metadataEndpoint: fleet.hostMetadata } }),
  'through-proxy': fake => ({ proxy: fake.proxyUrl }),
};
const accounts = { ec2: '123456789012', 'by-profile': second.account, 'by-role': '210987654321', 'by-web-identity': '310987654321', 'by-metadata': '510987654321', 'through-proxy': '123456789012' };

describe('credentials', () => {
  let fleet;
  before(async () => {
    fleet = await Fleet.start({
      others,
      environment: { AWS_ACCESS_KEY_ID: '', AWS_CONFIG_FILE: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent' },
      setup: async (fake, made) => {
        fake.identities.add(second);
        fake.identities.roles.set(role, { externalId: 'agreed' });
        fake.identities.roles.set(webRole, { webIdentityToken: 'a.token.of-the-cluster' });
        made.hostMetadata = (await fake.imdsWithRole('host', { account: '510987654321' })).url;
      },
    });
  });
  after(() => fleet.end());

  for (const [name, account] of Object.entries(accounts))
    it(`of_${name}_are_those_of_${account}`, () =>
      fleet.until(`${name} lists its instances`, () =>
        fleet.fake.calls.some(call => call.action === 'DescribeInstances' && call.code === undefined && call.account === account &&
          JSON.stringify(call.parameters).includes(JSON.stringify(name)))));

  it('are_in_no_log_and_no_answer', async () => {
    const everything = fleet.output + JSON.stringify(await fleet.get('providers')) + JSON.stringify(await fleet.get('plugins')) + JSON.stringify(await fleet.get('status'));
    const secrets = [...fleet.fake.identities.keys.values()].flatMap(key => [key.secretAccessKey, key.sessionToken]).concat('a.token.of-the-cluster').filter(Boolean);
    for (const secret of secrets) assert.ok(!everything.includes(secret), 'a secret is shown');
  });

  it('go_through_a_proxy_where_one_is_configured', () => assert.ok(fleet.fake.passedProxy.length > 0));
});
