// A fake AWS and a real musterd with provider/aws over it.
import { Fleet as CloudFleet, pool } from '../../lib/fleet.mjs';
import { FakeAws } from './fake_aws.mjs';

export { pool };
export const image = 'ami-0123456789abcdef0';

// What the provider is configured with so that it reaches the fake.
export function providerConfig(fake, credentialsFile, more = {}) {
  return {
    regions: ['us-east-1'],
    endpoints: Object.fromEntries(['ec2', 'sts', 'sqs', 'servicequotas'].map(service => [service, fake.url])),
    credentials: { static: { file: credentialsFile } },
    identityKeys: [{ regions: ['*'], certificateFile: fake.certificateFile }],
    identityKeysOnly: true,
    ...more,
  };
}

export const credentialsText = ({ accessKeyId, secretAccessKey }) => `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;

export const aws = {
  kind: 'aws',
  plugin: 'provider/aws',
  provider: 'ec2',
  region: 'us-east-1',
  launchCall: 'RunInstances',
  start: () => FakeAws.start({ tls: true }),
  config: (fake, fleet, more) => providerConfig(fake, fleet.file('aws-credentials', credentialsText(fake.credentials)), more),
  section: more => ({ instanceTypes: [{ type: 'm5.large', capacity: 1 }], market: ['spot'], launch: { ImageId: image }, ...more }),
};

// See there for the options.
export const Fleet = { start: options => CloudFleet.start({ clouds: [aws], ...options }) };
