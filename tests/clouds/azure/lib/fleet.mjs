// A fake Azure and a real musterd with provider/azure over it.
import { Fleet as CloudFleet, pool } from '../../lib/fleet.mjs';
import { group, imageId, subnetId, subscription, tenant } from './catalogue.mjs';
import { FakeAzure } from './fake_azure.mjs';

export { pool };

// What the provider is configured with so that it reaches the fake.
export function providerConfig(fake, secretFile, more = {}) {
  return {
    subscription, tenant, resourceGroup: group, locations: ['westus2'],
    endpoints: Object.fromEntries(['resourceManager', 'login', 'retailPrices'].map(service => [service, fake.url])),
    credentials: { clientSecret: { clientId: fake.identities.client.id, file: secretFile } },
    identityRoots: fake.chain.rootFile, identityRootsOnly: true, identityIntermediates: fake.chain.intermediateFile, issuerUrls: [], leftoverGraceSeconds: 1,
    ...more,
  };
}

// The body of a machine with one network interface.
export const launchOf = (location, { address = false } = {}) => ({
  storageProfile: { imageReference: { id: imageId } },
  networkProfile: {
    networkInterfaceConfigurations: [{
      name: 'nic',
      properties: { primary: true, ipConfigurations: [{ name: 'ip', properties: { subnet: { id: subnetId(location) }, ...(address && { publicIPAddressConfiguration: { name: 'ip' } }) } }] },
    }],
  },
});

export const azure = {
  kind: 'azure',
  plugin: 'provider/azure',
  provider: 'arm',
  region: 'westus2',
  launchCall: 'virtualMachines.put',
  launchIn: launchOf,
  start: () => FakeAzure.start({ tls: true }),
  config: (fake, fleet, more) => providerConfig(fake, fleet.file('azure-secret', fake.identities.client.secret), more),
  section: more => ({ vmSizes: [{ size: 'Standard_D2s_v5', capacity: 1 }], market: ['Spot'], launch: launchOf('westus2'), ...more }),
};

// See there for the options.
export const Fleet = { start: options => CloudFleet.start({ clouds: [azure], ...options }) };
