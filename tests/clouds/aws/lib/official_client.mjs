// AWS's own client, for an AWS of ours. It repeats nothing by itself: a test sees each answer.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
require('aws-sdk/lib/maintenance_mode_message').suppress = true;
const clients = {
  ec2: require('aws-sdk/clients/ec2'),
  sts: require('aws-sdk/clients/sts'),
  sqs: require('aws-sdk/clients/sqs'),
  servicequotas: require('aws-sdk/clients/servicequotas'),
};

export function officialClient(service, fake, { credentials = fake.credentials, region = 'us-east-1', ...more } = {}) {
  return new clients[service]({ endpoint: fake.url, region, credentials, maxRetries: 0, sslEnabled: false, correctClockSkew: false, ...more });
}
