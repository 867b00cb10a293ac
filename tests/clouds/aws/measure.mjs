import { measure } from '../lib/measure.mjs';
import { aws } from './lib/fleet.mjs';

const regions = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'];
await measure(aws, {
  provider: () => ({ regions }), places: '4 regions', launchCalls: ['RunInstances'], listCalls: ['DescribeInstances'],
  isListStart: call => call.action === 'DescribeInstances' && call.parameters?.NextToken === undefined && call.region === regions[0],
});
