// What this Google has to sell: regions, zones, machine types and their prices, images, subnetworks and quotas. All names are the same in every run.
export const project = 'muster-tests';
export const projectNumber = '739172048511';
export const workerAccount = { email: `worker@${project}.iam.gserviceaccount.com`, uniqueId: '104729481726354821003' };

const letters = { 'us-central1': 'abcf', 'us-east1': 'bcd', 'europe-west1': 'bcd', 'asia-east1': 'ab' };
export const regions = Object.entries(letters).map(([name, ends]) => ({ name, zones: [...ends].map(end => `${name}-${end}`) }));
export const zones = regions.flatMap(region => region.zones);
export const regionOf = zone => zone.replace(/-[a-z]$/, '');
export const regionNamed = name => regions.find(region => region.name === name);

const type = (name, cpus, memory, architecture = 'X86_64', accelerator = undefined) => ({ name, cpus, memory, architecture, accelerator, family: name.split('-')[0] });
export const machineTypes = [
  type('e2-small', 2, 2048), type('e2-standard-2', 2, 8192), type('e2-standard-4', 4, 16384),
  type('n2-standard-2', 2, 8192), type('n2-standard-4', 4, 16384), type('n2-standard-8', 8, 32768), type('n2-highcpu-16', 16, 16384),
  type('c2-standard-4', 4, 16384), type('c3-standard-8', 8, 32768), type('t2a-standard-4', 4, 16384, 'ARM64'),
  type('a2-highgpu-1g', 12, 87040, 'X86_64', 'nvidia-tesla-a100'),
];
export const machineTypeNamed = name => machineTypes.find(entry => entry.name === name);

export const images = [
  { project, name: 'worker-2024-06-01', family: 'worker', architecture: 'X86_64', diskSizeGb: '10' },
  { project, name: 'worker-arm-2024-06-01', family: 'worker-arm', architecture: 'ARM64', diskSizeGb: '10' },
  { project: 'debian-cloud', name: 'debian-12-bookworm-v20240617', family: 'debian-12', architecture: 'X86_64', diskSizeGb: '10' },
];

// Dollars for an hour of one processor and of one GB, on demand and spot.
export const prices = {
  e2: [0.021811, 0.002923, 0.006543, 0.000877], n2: [0.031611, 0.004237, 0.00765, 0.001026], c2: [0.03398, 0.00455, 0.00822, 0.0011],
  c3: [0.03398, 0.00456, 0.0073, 0.00098], t2a: [0.0299, 0.0039, 0.0085, 0.00113], a2: [0.031611, 0.004237, 0.009483, 0.001271],
};

// Google counts processors of a region by metric. The usual limits are far away.
export const quotaMetrics = ['CPUS', 'N2_CPUS', 'C2_CPUS', 'C3_CPUS', 'T2A_CPUS', 'A2_CPUS', 'PREEMPTIBLE_CPUS', 'INSTANCES', 'IN_USE_ADDRESSES', 'SSD_TOTAL_GB', 'DISKS_TOTAL_GB'];
export const usualQuota = 1_000_000;
// The metrics that an instance counts for, and how much.
export function usage(instance) {
  const { cpus, family } = machineTypeNamed(instance.type);
  const byFamily = family === 'e2' ? 'CPUS' : `${family.toUpperCase()}_CPUS`;
  return { [instance.market === 'SPOT' ? 'PREEMPTIBLE_CPUS' : byFamily]: cpus, INSTANCES: 1, ...(instance.hasAddress && { IN_USE_ADDRESSES: 1 }) };
}
