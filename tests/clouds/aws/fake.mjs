// The fake AWS as a program, for tests in other languages and for people:
//   node fake.mjs [--tls]
// It prints one line of JSON with its addresses, and ends when its standard input does. At `controlUrl` it is told what to do, as JSON:
//   POST /settings {..}           see `usual` in lib/fake_aws.mjs
//   POST /faults {kind, ..}       see ../lib/faults.mjs; DELETE /faults ends all
//   POST /keys {..}, /roles {arn, externalId, webIdentityToken}, /queues {name}, /deny {actions}, /allow {actions}, /clock {offsetMs}
//   POST /interrupt {instanceId, action, seconds}, /rebalance {instanceId}, /vanish {instanceId}, /seed {count, region, tags}
//   POST /imds {instanceId} or {role}    answers {url}
//   GET /instances, GET /calls, DELETE /calls
import http from 'node:http';

import { listen } from '../lib/http.mjs';
import { FakeAws } from './lib/fake_aws.mjs';

const fake = await FakeAws.start({ tls: process.argv.includes('--tls') });

const commands = {
  'POST /settings': body => fake.configure(body),
  'POST /faults': body => fake.faults.add(body),
  'DELETE /faults': () => fake.faults.clear(),
  'POST /keys': body => fake.identities.add(body),
  'POST /roles': ({ arn, ...role }) => fake.identities.roles.set(arn, role),
  'POST /queues': ({ name }) => fake.queues.create(name),
  'POST /deny': ({ actions }) => (fake.identities.denied = new Set(actions)),
  'POST /allow': ({ actions }) => (fake.identities.allowed = actions),
  'POST /clock': ({ offsetMs }) => (fake.clockOffset = offsetMs),
  'POST /interrupt': ({ instanceId, ...how }) => fake.interrupt(instanceId, how),
  'POST /rebalance': ({ instanceId }) => fake.recommendRebalance(instanceId),
  'POST /vanish': ({ instanceId }) => fake.vanish(instanceId),
  'POST /seed': ({ count, ...how }) => fake.seed(count, how),
  'POST /imds': async ({ instanceId, role, ...how }) => ({ url: (role ? await fake.imdsWithRole(role, how) : await fake.imds(instanceId)).url }),
  'GET /instances': () => [...fake.instances.all.values()].map(instance => ({ ...instance, state: fake.instances.stateOf(instance), userData: instance.userData?.toString() })),
  'GET /calls': () => fake.calls.map(({ service, action, region, account, code, parameters }) => ({ service, action, region, account, code, parameters })),
  'DELETE /calls': () => fake.calls.splice(0),
};

const control = http.createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  const command = commands[`${request.method} ${request.url}`];
  try {
    if (!command) throw new Error(`there is no ${request.method} ${request.url}; there are ${Object.keys(commands).join(', ')}`);
    const answer = await command(text ? JSON.parse(text) : {});
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer ?? {}));
  } catch (error) {
    response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: error.message }));
  }
});

const controlUrl = `http://127.0.0.1:${await listen(control)}`;
const { url, tlsUrl, proxyUrl, certificateFile, credentials } = fake;
console.log(JSON.stringify({ url, tlsUrl, proxyUrl, controlUrl, certificateFile, credentials }));

const end = async () => {
  await fake.close();
  process.exit(0);
};
process.stdin.resume().on('end', end);
process.once('SIGTERM', end);
