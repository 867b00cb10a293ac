// A fake Google and a real musterd with provider/google over it.
import { Fleet as CloudFleet, pool } from '../../lib/fleet.mjs';
import { project, workerAccount } from './catalogue.mjs';
import { FakeGoogle } from './fake_google.mjs';

export { pool };
export const services = ['compute', 'oauth2', 'certs', 'iamcredentials', 'sts', 'cloudbilling', 'cloudresourcemanager'];

// What the provider is configured with so that it reaches the fake.
export const providerConfig = (fake, keyFile, more = {}) => ({
  project, regions: ['us-central1'], endpoints: Object.fromEntries(services.map(service => [service, fake.url])), credentials: { file: keyFile }, workerServiceAccount: workerAccount.email, ...more,
});

export const launch = {
  disks: [{ boot: true, initializeParams: { sourceImage: 'global/images/family/worker', diskSizeGb: '20' } }],
  networkInterfaces: [{ network: 'global/networks/default' }],
};

export const google = {
  kind: 'google',
  plugin: 'provider/google',
  provider: 'gce',
  region: 'us-central1',
  launchCall: 'instances.insert',
  start: () => FakeGoogle.start({ tls: true }),
  config: (fake, fleet, more) => providerConfig(fake, fleet.file('google-key.json', fake.keyFileText), more),
  section: more => ({ machineTypes: [{ type: 'n2-standard-4', capacity: 1 }], market: ['SPOT'], launch, ...more }),
};

// See there for the options.
export const Fleet = { start: options => CloudFleet.start({ clouds: [google], ...options }) };
