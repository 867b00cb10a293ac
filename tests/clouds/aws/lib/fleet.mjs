// A fake AWS, a real musterd with provider/aws over it, and, if wanted, a real agent on each instance.
import fs from 'node:fs';
import path from 'node:path';

import { Musterd } from '../../../support/node/musterd.mjs';
import { until } from '../../../support/node/waiting.mjs';
import { FakeAws } from './fake_aws.mjs';
import { Machines } from './machines.mjs';

export const image = 'ami-0123456789abcdef0';
export const pool = 'worker-manager/build';
const poolPath = encodeURIComponent(pool);
const toml = value =>
  Array.isArray(value) ? `[${value.map(toml).join(', ')}]`
    : typeof value === 'object' ? `{ ${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)} = ${toml(item)}`).join(', ')} }`
      : JSON.stringify(value);

// What the provider is configured with so that it reaches the fake.
export function providerConfig(fake, credentialsFile, more = {}) {
  return {
    regions: ['us-east-1'],
    endpoints: Object.fromEntries(['ec2', 'sts', 'sqs', 'servicequotas'].map(service => [service, fake.url])),
    credentials: { static: { file: credentialsFile } },
    identityKeys: [{ regions: ['*'], certificateFile: fake.certificateFile }],
    identityKeysOnly: true,
    ...more,
  };
}

export const credentialsText = ({ accessKeyId, secretAccessKey }) => `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;

export class Fleet extends Musterd {
  // `provider`: makes further keys of its configuration, of (fake, fleet). `others`: further providers of the same kind, by name. `values` and `aws`: further values of
  // the pool's rule. `launch`: the host's limits of launches. `more`: further lines of the host's configuration. `setup` comes before all of it.
  static async start({ provider = () => ({}), others = {}, values = {}, aws = {}, agents = false, more = '', environment = {}, setup = () => {}, regions, launch } = {}) {
    const fleet = new Fleet('clouds-aws');
    fleet.environment = environment;
    try {
      fleet.fake = await FakeAws.start({ tls: true });
      await setup(fleet.fake, fleet);
      fleet.#configure({ ec2: provider, ...others }, launch, more);
      fleet.wish({ values, aws, regions });
      fleet.demand(0);
      await fleet.run({ environment });
      if (agents) fleet.machines = new Machines(fleet.fake, path.join(fleet.folder, 'machines'));
    } catch (error) {
      await fleet.end();
      throw error;
    }
    return fleet;
  }

  #configure(providers, launch, more) {
    const keys = this.file('aws-credentials', credentialsText(this.fake.credentials));
    const tables = Object.entries(providers).map(([name, special]) =>
      `[providers.${name}]\nplugin = "provider/aws"\nconfig = ${toml(providerConfig(this.fake, keys, special(this.fake, this)))}\n${launch ? `launch = ${toml(launch)}\n` : ''}`);
    this.file('muster.toml', `${Musterd.head(['provider/aws', 'provider/static', 'strategy/cheapest', 'strategy/classic'])}workerConfigurations = "workers"
[log]
format = "text"
[http]
accessLog = false
${tables.join('')}[strategies.classic]
plugin = "strategy/classic"
[strategies.cheapest]
plugin = "strategy/cheapest"
[demand.file]
type = "file"
file = "demand.json"
[fleet]
listEvery = "1s"
noticesEvery = "1s"
grace = "5s"
${more}`);
  }

  // What the team writes: the pool `build`; or with `regions` a pool for each name in it, which launches in that region alone.
  wish({ values = {}, aws = {}, regions }) {
    const launch = { ImageId: image };
    const all = {
      providers: ['ec2'], owner: 'team@example.com', description: 'Builds', minCapacity: 0, maxCapacity: 3, scalingRatio: 0.0,
      lifecycle: { registrationTimeout: '10m', reregistrationTimeout: '1h', idleTimeout: '1s' },
      aws: { instanceTypes: [{ type: 'm5.large', capacity: 1 }], market: ['spot'], ...(regions ? {} : { launch }), ...aws },
      ...values,
    };
    const rule = (ruleId, conditions, set) =>
      `[[rules]]\nruleId = "${ruleId}"\ndescription = "A rule"\n${conditions ? `conditions = ${toml(conditions)}\n` : ''}[rules.values]\n${Object.entries(set).map(([key, value]) => `${key} = ${toml(value)}\n`).join('')}`;
    const names = Object.keys(regions ?? { build: '' });
    const special = Object.entries(regions ?? {}).map(([name, region]) => rule(name, { workerType: name, region }, { aws: { launch } }));
    this.#replace('workers/build.toml', `workerTypes = ${toml(names)}\n${rule('all', undefined, all)}${special.join('')}`);
  }

  // How many tasks wait for each of the pools.
  demand(tasks, names = ['build']) {
    this.#replace('demand.json', JSON.stringify(Object.fromEntries(names.map(name => [`worker-manager/${name}`, tasks]))));
  }

  #replace(name, text) {
    this.file(`.new`, text);
    fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    fs.renameSync(path.join(this.folder, '.new'), path.join(this.folder, name));
  }

  // At the same address: workers have it from their user data.
  async startAgain() {
    const file = path.join(this.folder, 'muster.toml');
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/^listen = .*$/m, `listen = "${this.rootUrl.replace('http://', '')}"`));
    await this.run({ environment: this.environment });
  }

  async get(where) {
    const answer = await this.own(where);
    return answer.json();
  }

  // Those that have not stopped.
  async workers(name = 'build') {
    const answer = await this.get(`pools/worker-manager%2F${name}/workers?limit=1000`);
    return (answer.workers ?? []).filter(worker => worker.state !== 'stopped');
  }

  living() {
    return this.fake.instances.living();
  }

  async until(what, ask, patience) {
    return until(async () => `${what}; ${await this.report()}`, () => {
      this.mustLive();
      return ask();
    }, patience);
  }

  async report() {
    const show = async where => JSON.stringify(await this.get(where).catch(error => error.message)).slice(0, 1500);
    return `pool ${await show(`pools/${poolPath}`)}\nerrors ${await show('errors')}\nholds ${await show('holds')}\nproviders ${await show('providers')}\nlog ${this.output.slice(-3000)}
calls ${JSON.stringify(this.fake.calls.slice(-10).map(({ action, region, code }) => ({ action, region, code })))}`;
  }

  // The hold that a failure caused, once it is there.
  async holdSaying(words, region = 'us-east-1') {
    return this.until(`a hold says ${words}`, async () => (await this.get('holds')).holds?.find(hold => words.test(hold.message) && hold.region === region));
  }

  async end() {
    this.machines?.close();
    await super.end();
    await this.fake?.close();
  }
}
