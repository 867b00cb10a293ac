// What this AWS has to sell: regions, zones, subnets, images, instance types and their prices. All ids are the same in every run.
import { createHash } from 'node:crypto';

export const accountId = '123456789012';
const hex = text => createHash('sha256').update(text).digest('hex').slice(0, 17);

const zones = { 'us-east-1': 'abc', 'us-west-2': 'abc', 'eu-central-1': 'ab', 'ap-southeast-1': 'ab' };
export const optInRegions = ['af-south-1'];

export const regions = Object.entries(zones).map(([name, letters]) => ({
  name,
  zones: [...letters].map(letter => `${name}${letter}`),
}));
export const regionNamed = name => regions.find(region => region.name === name);
export const regionOfZone = zone => zone.slice(0, -1);

export const subnetOf = zone => `subnet-0${hex(`subnet ${zone}`).slice(1)}`;
export const groupOf = region => `sg-0${hex(`group ${region}`).slice(1)}`;
export const vpcOf = region => `vpc-0${hex(`vpc ${region}`).slice(1)}`;
export const subnets = regions.flatMap(region =>
  region.zones.map(zone => ({ id: subnetOf(zone), zone, region: region.name, vpc: vpcOf(region.name) })),
);

// One image for each architecture, with the same id everywhere.
export const images = [
  { id: 'ami-0123456789abcdef0', architecture: 'x86_64' },
  { id: 'ami-0fedcba9876543210', architecture: 'arm64' },
];

const type = (name, vcpus, memory, onDemand, spot, architecture = 'x86_64') => ({ name, vcpus, memory, onDemand, spot, architecture });
export const instanceTypes = [
  type('t3.micro', 2, 1024, 0.0104, 0.0031),
  type('m5.large', 2, 8192, 0.096, 0.035),
  type('m5.xlarge', 4, 16384, 0.192, 0.07),
  type('m5.2xlarge', 8, 32768, 0.384, 0.14),
  type('c5.large', 2, 4096, 0.085, 0.031),
  type('c5.xlarge', 4, 8192, 0.17, 0.062),
  type('c5.4xlarge', 16, 32768, 0.68, 0.25),
  type('r5.large', 2, 16384, 0.126, 0.04),
  type('p3.2xlarge', 8, 62464, 3.06, 0.92),
  type('c6g.large', 2, 4096, 0.068, 0.025, 'arm64'),
];
export const typeNamed = name => instanceTypes.find(entry => entry.name === name);

// AWS counts virtual processors of families of types, for each market by itself.
export const quotas = [
  { code: 'L-1216C47A', name: 'Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances', families: 'acdhimrtz', market: 'onDemand', value: 100_000 },
  { code: 'L-34B43A08', name: 'All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests', families: 'acdhimrtz', market: 'spot', value: 100_000 },
  { code: 'L-417A185B', name: 'Running On-Demand P instances', families: 'p', market: 'onDemand', value: 0 },
  { code: 'L-7212CCBC', name: 'All P4, P3 and P2 Spot Instance Requests', families: 'p', market: 'spot', value: 0 },
];
export const quotaFor = (typeName, market) => quotas.find(quota => quota.families.includes(typeName[0]) && quota.market === market);
