// What this Azure has to sell: locations, sizes and their prices, a network and images. All names are the same in every run.
export const subscription = '00000000-1111-4222-8333-444444444444';
export const tenant = '55555555-6666-4777-8888-999999999999';
export const group = 'muster-workers';
export const locations = ['westus2', 'eastus', 'northeurope', 'westeurope'];
export const withZones = ['westus2', 'westeurope'];

const size = (name, family, cpus, memory, price, architecture = 'x64') => ({ name, family, cpus, memory, price, spot: price * 0.2, architecture });
export const sizes = [
  size('Standard_B2s', 'standardBSFamily', 2, 4, 0.0416), size('Standard_D2s_v5', 'standardDSv5Family', 2, 8, 0.096), size('Standard_D4s_v5', 'standardDSv5Family', 4, 16, 0.192),
  size('Standard_D8s_v5', 'standardDSv5Family', 8, 32, 0.384), size('Standard_F4s_v2', 'standardFSv2Family', 4, 8, 0.169), size('Standard_F8s_v2', 'standardFSv2Family', 8, 16, 0.338),
  size('Standard_D4ps_v5', 'standardDPSv5Family', 4, 16, 0.154, 'Arm64'), size('Standard_NC6s_v3', 'standardNCSv3Family', 6, 112, 3.06),
];
export const sizeNamed = name => sizes.find(entry => entry.name.toLowerCase() === (name ?? '').toLowerCase());
export const families = [...new Set(sizes.map(entry => entry.family))];
export const usualQuota = 1_000_000;

export const groupPath = `/subscriptions/${subscription}/resourceGroups/${group}`;
export const subnetId = location => `${groupPath}/providers/Microsoft.Network/virtualNetworks/workers-${location}/subnets/default`;
export const imageId = `${groupPath}/providers/Microsoft.Compute/images/worker`;
export const subnets = locations.map(subnetId);
