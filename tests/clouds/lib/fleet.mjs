// Fake clouds, a real musterd with their providers over them, and, if wanted, a real agent on each instance.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { Musterd } from '../../support/node/musterd.mjs';
import { until } from '../../support/node/waiting.mjs';
import { Machines } from './machines.mjs';

export const pool = 'worker-manager/build';
export const toml = value =>
  Array.isArray(value) ? `[${value.map(toml).join(', ')}]`
    : typeof value === 'object' ? `{ ${Object.entries(value).filter(([, item]) => item !== undefined).map(([key, item]) => `${JSON.stringify(key)} = ${toml(item)}`).join(', ')} }`
      : JSON.stringify(value);

// A cloud is described by:
//   kind              the section of worker configurations, and how its agents prove who they are
//   plugin            provider/..
//   provider          the id of its provider in the host's configuration
//   region            where its machines are unless a test says otherwise
//   start()           makes its fake
//   config(fake, fleet, more)   what its provider is configured with
//   section(more)     what a team writes in a worker configuration; `launch` is in it
//   launchIn(region)  what `launch` is in another region, if it differs
//   launchCall        the call that launches, for counting and for faults
export class Fleet extends Musterd {
  fakes = {}; // by kind
  machines = undefined; // of the first cloud
  #machines = [];

  // `clouds`: one or several. `provider`: makes further keys of the first provider's configuration, of (fake, fleet). `others`: further providers of its kind, by name.
  // `values` and `section`: further values of the pool's rule, and of the first cloud's section in it. `launch`: the host's limits of launches. `more`: further lines of the
  // host's configuration. `plugins`: further ones. `setup` comes before all of it, with (fake, fleet).
  static async start({ clouds, provider = () => ({}), others = {}, agents = false, more = '', plugins = [], environment = {}, setup = () => {}, launch, fleetTimes = {}, ...wish }) {
    const fleet = new Fleet(`clouds-${clouds.map(cloud => cloud.kind).join('-')}`);
    Object.assign(fleet, { clouds, cloud: clouds[0], environment });
    try {
      for (const cloud of clouds) fleet.fakes[cloud.kind] = await cloud.start();
      await setup(fleet.fake, fleet);
      fleet.#configure(provider, others, launch, plugins, more, fleetTimes);
      fleet.wish(wish);
      fleet.demand(0);
      await fleet.run({ environment });
      if (agents) fleet.powerOn();
    } catch (error) {
      await fleet.end();
      throw error;
    }
    return fleet;
  }

  // From now on each instance has an agent.
  powerOn() {
    this.#machines = this.clouds.map(cloud => new Machines(this.fakes[cloud.kind], path.join(this.folder, `machines-${cloud.kind}`), cloud.kind));
    [this.machines] = this.#machines;
  }

  // All agents end at once, and no instance gets one.
  powerOff() {
    for (const machines of this.#machines) machines.close();
    this.#machines = [];
  }

  get fake() {
    return this.fakes[this.cloud.kind];
  }

  #configure(provider, others, launch, plugins, more, fleetTimes) {
    const table = (name, cloud, special) =>
      `[providers.${name}]\nplugin = "${cloud.plugin}"\nconfig = ${toml(cloud.config(this.fakes[cloud.kind], this, special(this.fakes[cloud.kind], this)))}\n${launch ? `launch = ${toml(launch)}\n` : ''}`;
    const tables = [
      ...this.clouds.map((cloud, index) => table(cloud.provider, cloud, index === 0 ? provider : () => ({}))),
      ...Object.entries(others).map(([name, special]) => table(name, this.cloud, special)),
    ];
    const wanted = [...this.clouds.map(cloud => cloud.plugin), 'provider/static', 'strategy/cheapest', 'strategy/classic', ...plugins];
    this.file('muster.toml', `${Musterd.head(wanted)}workerConfigurations = "workers"
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
${Object.entries({ listEvery: '1s', noticesEvery: '1s', grace: '5s', ...fleetTimes }).map(([key, value]) => `${key} = ${toml(value)}\n`).join('')}${more}`);
  }

  // What the team writes: the pool `build`; or with `regions` a pool for each name in it, which launches in that region alone.
  wish({ values = {}, section = {}, regions } = {}) {
    const sections = Object.fromEntries(this.clouds.map(cloud => [cloud.kind, cloud.section(cloud === this.cloud ? section : {})]));
    const { launch, ...placeless } = sections[this.cloud.kind];
    if (regions) sections[this.cloud.kind] = placeless;
    const all = {
      providers: this.clouds.map(cloud => cloud.provider), owner: 'team@example.com', description: 'Builds', minCapacity: 0, maxCapacity: 3, scalingRatio: 0.0,
      lifecycle: { registrationTimeout: '10m', reregistrationTimeout: '1h', idleTimeout: '1s' },
      ...sections, ...values,
    };
    const rule = (ruleId, conditions, set) =>
      `[[rules]]\nruleId = "${ruleId}"\ndescription = "A rule"\n${conditions ? `conditions = ${toml(conditions)}\n` : ''}[rules.values]\n${Object.entries(set).map(([key, value]) => `${key} = ${toml(value)}\n`).join('')}`;
    const names = Object.keys(regions ?? { build: '' });
    const special = Object.entries(regions ?? {}).map(([name, region]) => rule(name, { workerType: name, region }, { [this.cloud.kind]: { launch: this.cloud.launchIn?.(region) ?? launch } }));
    this.#replace('workers/build.toml', `workerTypes = ${toml(names)}\n${rule('all', undefined, all)}${special.join('')}`);
  }

  // How many tasks wait for each of the pools.
  demand(tasks, names = ['build']) {
    this.#replace('demand.json', JSON.stringify(Object.fromEntries(names.map(name => [`worker-manager/${name}`, tasks]))));
  }

  #replace(name, text) {
    this.file('.new', text);
    fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    fs.renameSync(path.join(this.folder, '.new'), path.join(this.folder, name));
  }

  // At the same address: workers have it from their launch.
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
    const calls = Object.values(this.fakes).flatMap(fake => fake.calls.slice(-10).map(({ action, region, code }) => ({ action, region, code })));
    return `pool ${await show(`pools/${encodeURIComponent(pool)}`)}\nerrors ${await show('errors')}\nholds ${await show('holds')}\nproviders ${await show('providers')}\nlog ${this.output.slice(-3000)}
calls ${JSON.stringify(calls)}`;
  }

  // Waits until the pool would launch that type and no other.
  async launches(type) {
    await this.until(`the pool launches ${type}`, async () => {
      const { launchConfigs = [] } = await this.get(`pools/${encodeURIComponent(pool)}`);
      const active = launchConfigs.filter(config => config.status === 'active');
      return active.length > 0 && active.every(config => config.instanceType.startsWith(`${type}/`) || config.instanceType === type);
    });
  }

  // The hold that a failure caused, once it is there.
  async holdSaying(words, region = this.cloud.region) {
    return this.until(`a hold says ${words}`, async () => (await this.get('holds')).holds?.find(hold => words.test(hold.message) && (region === null || hold.region === region)));
  }

  // POST registerWorker by hand.
  async register(workerId, proof, { workerGroup = this.cloud.region } = {}) {
    const answer = await fetch(`${this.rootUrl}/api/worker-manager/v1/worker/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ workerPoolId: pool, providerId: this.cloud.provider, workerGroup, workerId, workerIdentityProof: { registrationKey: 'k'.repeat(44), ...proof } }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  // A registration that must fail, with a reason that its answer and the log have.
  async refuses(workerId, proof, why, more) {
    const before = this.output.length;
    const { status, body } = await this.register(workerId, proof, more);
    assert.ok(status >= 400 && status < 500, `HTTP ${status}: ${JSON.stringify(body)}`);
    assert.equal(body.credentials, undefined);
    assert.match(body.message, why);
    await this.until('the log says it, too', () => why.test(this.output.slice(before)));
  }

  async end() {
    this.powerOff();
    await super.end();
    for (const fake of Object.values(this.fakes)) await fake.close();
  }
}
