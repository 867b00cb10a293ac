// The fake Azure as a program, for tests in other languages and for people:
//   node fake.mjs [--tls]
// It prints one line of JSON with its addresses, and ends when its standard input does. At `controlUrl` it is told what to do, as JSON:
//   POST /settings {..}           see `usual` in lib/fake_azure.mjs
//   POST /faults {kind, ..}       see ../lib/faults.mjs; DELETE /faults ends all
//   POST /deny {actions}, /allow {actions}, /clock {offsetMs}, /clients {id, secret, certificate, federated}
//   POST /interrupt {instanceId, seconds}, /vanish {instanceId}, /seed {count, location, tags}
//   POST /metadata {instanceId} or {client}    answers {url}
//   GET /instances, GET /resources, GET /calls, DELETE /calls
import { runFake } from '../lib/program.mjs';
import { group, subscription, tenant } from './lib/catalogue.mjs';
import { FakeAzure } from './lib/fake_azure.mjs';

const fake = await FakeAzure.start({ tls: process.argv.includes('--tls') });
const { url, tlsUrl, proxyUrl, certificateFile, chain, identities } = fake;

await runFake(fake, {
  'POST /deny': ({ actions }) => (identities.denied = new Set(actions)),
  'POST /allow': ({ actions }) => (identities.allowed = actions),
  'POST /clients': ({ id, ...client }) => identities.clients.set(id, client),
  'POST /interrupt': ({ instanceId, ...how }) => fake.interrupt(instanceId, how),
  'POST /vanish': ({ instanceId }) => fake.vanish(instanceId),
  'POST /seed': ({ count, ...how }) => fake.seed(count, how),
  'POST /metadata': async ({ instanceId, client }) => ({ url: (client ? await fake.hostMetadata(client) : await fake.imds(instanceId)).url }),
  'GET /instances': () => fake.machines.visible().map(machine => fake.machines.describe(machine, { view: true })),
  'GET /resources': () => fake.resources.left,
}, { url, tlsUrl, proxyUrl, certificateFile, subscription, tenant, group, client: identities.client, rootFile: chain.rootFile, intermediateFile: chain.intermediateFile });
