// The fake AWS as a program, for tests in other languages and for people:
//   node fake.mjs [--tls]
// It prints one line of JSON with its addresses, and ends when its standard input does. At `controlUrl` it is told what to do, as JSON:
//   POST /settings {..}           see `usual` in lib/fake_aws.mjs
//   POST /faults {kind, ..}       see ../lib/faults.mjs; DELETE /faults ends all
//   POST /keys {..}, /roles {arn, externalId, webIdentityToken}, /queues {name}, /deny {actions}, /allow {actions}, /clock {offsetMs}
//   POST /interrupt {instanceId, action, seconds}, /rebalance {instanceId}, /vanish {instanceId}, /seed {count, region, tags}
//   POST /imds {instanceId} or {role}    answers {url}
//   GET /instances, GET /calls, DELETE /calls
import { runFake } from '../lib/program.mjs';
import { FakeAws } from './lib/fake_aws.mjs';

const fake = await FakeAws.start({ tls: process.argv.includes('--tls') });
const { url, tlsUrl, proxyUrl, certificateFile, credentials } = fake;

await runFake(fake, {
  'POST /keys': body => fake.identities.add(body),
  'POST /roles': ({ arn, ...role }) => fake.identities.roles.set(arn, role),
  'POST /queues': ({ name }) => fake.queues.create(name),
  'POST /deny': ({ actions }) => (fake.identities.denied = new Set(actions)),
  'POST /allow': ({ actions }) => (fake.identities.allowed = actions),
  'POST /interrupt': ({ instanceId, ...how }) => fake.interrupt(instanceId, how),
  'POST /rebalance': ({ instanceId }) => fake.recommendRebalance(instanceId),
  'POST /vanish': ({ instanceId }) => fake.vanish(instanceId),
  'POST /seed': ({ count, ...how }) => fake.seed(count, how),
  'POST /imds': async ({ instanceId, role, ...how }) => ({ url: (role ? await fake.imdsWithRole(role, how) : await fake.imds(instanceId)).url }),
  'GET /instances': () => [...fake.instances.all.values()].map(instance => ({ ...instance, state: fake.instances.stateOf(instance), userData: instance.userData?.toString() })),
}, { url, tlsUrl, proxyUrl, certificateFile, credentials });
