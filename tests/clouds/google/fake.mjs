// The fake Google as a program, for tests in other languages and for people:
//   node fake.mjs [--tls]
// It prints one line of JSON with its addresses, and ends when its standard input does. At `controlUrl` it is told what to do, as JSON:
//   POST /settings {..}           see `usual` in lib/fake_google.mjs
//   POST /faults {kind, ..}       see ../lib/faults.mjs; DELETE /faults ends all
//   POST /deny {permissions}, /allow {permissions}, /clock {offsetMs}, /subjects {token, audience, email}, /impersonators {email, callers}
//   POST /interrupt {instanceId, seconds}, /vanish {instanceId}, /seed {count, region, labels}
//   POST /metadata {instanceId} or {email}    answers {url}
//   GET /instances, GET /calls, DELETE /calls
import { runFake } from '../lib/program.mjs';
import { FakeGoogle } from './lib/fake_google.mjs';

const fake = await FakeGoogle.start({ tls: process.argv.includes('--tls') });
const { url, tlsUrl, proxyUrl, certificateFile, keyFileText } = fake;

await runFake(fake, {
  'POST /deny': ({ permissions }) => (fake.identities.denied = new Set(permissions)),
  'POST /allow': ({ permissions }) => (fake.identities.allowed = permissions),
  'POST /subjects': ({ token, ...how }) => fake.identities.subjectTokens.set(token, how),
  'POST /impersonators': ({ email, callers }) => fake.identities.impersonators.set(email, callers),
  'POST /interrupt': ({ instanceId, ...how }) => fake.interrupt(instanceId, how),
  'POST /vanish': ({ instanceId }) => fake.vanish(instanceId),
  'POST /seed': ({ count, ...how }) => fake.seed(count, how),
  'POST /metadata': async ({ instanceId, email }) => ({ url: (email ? await fake.hostMetadata(email) : await fake.imds(instanceId)).url }),
  'GET /instances': () => fake.instances.visible().map(instance => fake.instances.describe(instance)),
}, { url, tlsUrl, proxyUrl, certificateFile, keyFile: JSON.parse(keyFileText) });
