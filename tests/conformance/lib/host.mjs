// A real musterd with a configuration and clients of its own.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { Musterd } from '../../support/node/musterd.mjs';
import { until } from '../../support/node/waiting.mjs';
import { CheckedClient } from './checked_client.mjs';
import { Published } from './published.mjs';

const simulationSecret = 'what machines of the simulated cloud know';

// Two clouds and a rack. Machines of the cloud start at once; "broken" never comes up.
const usual = `
[log]
level = "info"
format = "text"
[http]
accessLog = false
[providers.sim]
plugin = "provider/simulated"
[providers.sim.config]
seed = 7
secret = "${simulationSecret}"
regions = [{ name = "eu-1", zones = ["eu-1a"] }]
instanceTypes = [{ name = "small", capacity = 1, pricePerHour = 0.05, perZone = 500 }]
boot = { minSeconds = 0, maxSeconds = 0 }
shutdownSeconds = 0
[providers.rack]
plugin = "provider/static"
[providers.broken]
plugin = "provider/that-nobody-installed"
[strategies.estimator]
plugin = "strategy/estimator"
[strategies.classic]
plugin = "strategy/classic"
[fleet]
listEvery = "1s"
`;

export const slug = () => randomBytes(6).toString('hex');
export const newSecret = () => randomBytes(33).toString('base64url');

export class Host extends Musterd {
  #published;

  // `clients`: scopes by clientId. `workers`: worker configurations by file name.
  static async start({ configuration = '', clients = {}, workers = {}, files = {} } = {}) {
    const host = new Host('conformance');
    host.credentials = {};
    try {
      for (const [name, text] of Object.entries(files)) host.file(name, text);
      host.#configure(configuration, clients, workers);
      await host.#start();
    } catch (error) {
      await host.end();
      throw error;
    }
    return host;
  }

  #configure(more, clients, workers) {
    let text = Musterd.head();
    fs.mkdirSync(path.join(this.folder, 'workers'));
    text += 'workerConfigurations = "workers"\n';
    for (const [name, content] of Object.entries(workers)) this.file(`workers/${name}`, content);
    text += usual;
    Object.entries({ 'test/all': ['*'], 'test/nothing': [], ...clients }).forEach(([id, scopes], i) => {
      const accessToken = newSecret();
      this.file(`token${i}`, accessToken);
      this.credentials[id] = { clientId: id, accessToken };
      text += `[auth.clients.${JSON.stringify(id)}]\naccessTokenFile = "token${i}"\nscopes = ${JSON.stringify(scopes)}\n`;
    });
    this.file('muster.toml', text + more);
  }

  async #start() {
    await this.run();
    this.#published = undefined;
    this.admin = this.#admin();
    await this.#providersRun();
  }

  // What the first start wrote for Taskcluster's clients, and the token of muster's own API.
  #admin() {
    const variable = name => this.read('data/admin.env').match(new RegExp(`^export ${name}=(.*)$`, 'm'))[1];
    assert.equal(variable('TASKCLUSTER_ROOT_URL'), this.rootUrl);
    return {
      credentials: {
        clientId: variable('TASKCLUSTER_CLIENT_ID'),
        accessToken: variable('TASKCLUSTER_ACCESS_TOKEN'),
      },
      token: this.token,
    };
  }

  // A pool of nobody is refused as long as its provider is not there.
  async #providersRun() {
    const client = await this.client('test/all');
    for (const providerId of ['sim', 'rack']) {
      let answer;
      const question = { ...poolOf(providerId), config: { launchConfigs: 7 } };
      const runs = async () => {
        this.mustLive();
        answer = await client.createWorkerPool('is-it-there/x', question).catch(error => error);
        return answer.statusCode === 400;
      };
      await until(() => `provider ${providerId} runs, but ${answer?.message}\n${this.output.slice(-4000)}`, runs);
    }
  }

  // The published documents; read once for each start.
  published() {
    this.#published ??= Published.read(this.rootUrl);
    return this.#published;
  }

  // Taskcluster's own client; every answer is checked. `who`: a clientId, or credentials.
  async client(who = {}, options = {}) {
    const credentials = typeof who === 'string' ? this.credentials[who] : who;
    return new CheckedClient(await this.published(), { rootUrl: this.rootUrl, credentials, ...options });
  }

  async restart() {
    await this.stop();
    await this.#start();
  }
}

// A definition of a pool, as clients send it.
export const poolOf = (providerId, more = {}) => ({
  providerId,
  description: 'made by a test',
  owner: 'team@example.com',
  emailOnError: false,
  config: providerId === 'sim' ? simulated() : { workerConfig: { colour: 'green' } },
  ...more,
});

export const simulated = ({ minCapacity = 0, maxCapacity = 5, launch = {}, ...more } = {}) => ({
  minCapacity,
  maxCapacity,
  scalingRatio: 1,
  launchConfigs: [{ region: 'eu-1', instanceTypes: ['small'], workerConfig: { colour: 'red' }, ...launch }],
  ...more,
});

// How a machine of the simulated cloud shows who it is.
export const simulatedProof = ({ workerPoolId, workerGroup, workerId }) => ({
  token: createHmac('sha256', simulationSecret).update([workerPoolId, workerGroup, workerId].join('\n')).digest('hex'),
});
