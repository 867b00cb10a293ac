// A whole Google Cloud: compute, tokens, metadata of instances, prices, faults and settings. In process for tests in Node; fake.mjs is it as a program.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';

import { FakeCloud } from '../../lib/fake_cloud.mjs';
import { Faults, Throttle } from '../../lib/faults.mjs';
import { proxyServer } from '../../lib/http.mjs';
import { Billing } from './billing.mjs';
import { project, regionNamed, workerAccount } from './catalogue.mjs';
import { Compute } from './compute.mjs';
import { Identities } from './identities.mjs';
import { Instances } from './instances.mjs';
import { Metadata } from './metadata.mjs';
import { Endpoint } from './server.mjs';

const usual = () => ({
  bootMs: 0, // from the end of the creation to RUNNING
  operationMs: 0, // how long operations take
  operationErrors: [], // {zone, type, market, code, message, status, errorDetails, times}: how creations end; what is not named fits all
  visibleAfterMs: 0, // lists lag behind creations by this much
  shutdownMs: 0,
  capacity: {}, // "us-central1-a SPOT n2-standard-4", "us-central1-a n2-standard-4" or "us-central1-a" -> how many there may be
  quotas: {}, // "us-central1 N2_CPUS" or "N2_CPUS" -> limit
  unreachable: [], // zones that aggregated lists cannot reach
  zoneStates: {}, // zone -> DOWN
  notSold: {}, // zone -> machine types
  priceFactors: {}, // "us-central1 n2" -> factor
  serviceAccounts: [workerAccount.email],
  throttle: {}, // call -> {burst, perSecond}
});

export class FakeGoogle extends FakeCloud {
  faults = new Faults();
  #metadata = new Map();

  static async start({ tls = false } = {}) {
    const fake = new FakeGoogle('google', usual());
    await fake.#start(tls);
    return fake;
  }

  async #start(tls) {
    const { settings, now, faults } = this;
    this.identities = new Identities(now);
    this.instances = new Instances(settings, now);
    this.endpoint = new Endpoint({
      compute: new Compute(this.instances, settings, this.identities), billing: new Billing(this.identities, settings), identities: this.identities, faults,
      throttle: new Throttle(settings, now), now, url: () => this.url,
    });
    this.url = `http://127.0.0.1:${await this.serve(http.createServer(this.endpoint.handler()))}`;
    this.proxyUrl = `http://127.0.0.1:${await this.serve(proxyServer(this.passedProxy))}`;
    if (!tls) return;
    const [key, certificate] = ['tls.key', 'tls.pem'].map(name => path.join(this.folder, name));
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    this.certificateFile = certificate;
    this.tlsUrl = `https://127.0.0.1:${await this.serve(https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(certificate) }, this.endpoint.handler()))}`;
  }

  get calls() {
    return this.endpoint.calls;
  }
  get keyFileText() {
    return this.identities.keyFile(`${this.url}/token`);
  }

  instance(id) {
    const found = this.instances.all.get(id);
    if (!found) throw new Error(`there is no instance ${id}`);
    return found;
  }

  // The metadata server of an instance.
  async imds(id) {
    if (!this.#metadata.has(id)) {
      const made = new Metadata(this.instance(id), this.identities);
      this.#metadata.set(id, made);
      await made.listen();
    }
    return this.#metadata.get(id);
  }

  // The metadata server of the machine on which the host runs.
  async hostMetadata(email) {
    const machine = { id: '7000000000000000001', name: 'host', project, zone: 'us-central1-a', type: 'e2-small', created: this.now(), attributes: {} };
    const made = new Metadata(machine, this.identities, () => this.identities.grant(email));
    await made.listen();
    this.#metadata.set('host', made);
    return made;
  }

  // A notice that the instance will be taken away, in its metadata; then it is.
  interrupt(id, { seconds = 30 } = {}) {
    const instance = this.instance(id);
    instance.preempted = true;
    this.#metadata.get(id)?.changed();
    this.later(seconds * 1000, () => this.instances.preempt(instance));
  }

  // An instance is gone and nobody asked for it.
  vanish(id) {
    Object.assign(this.instance(id), { ended: this.now(), gone: true });
  }

  // Many instances at once, for measurements.
  seed(count, { region, labels = {}, ...more }) {
    const { zones } = regionNamed(region);
    for (let index = 0; index < count; index += 1) {
      const zone = zones[index % zones.length];
      this.instances.insert(undefined, zone, {
        name: `seed-${region}-${index}`, machineType: `zones/${zone}/machineTypes/n2-standard-2`, labels, networkInterfaces: [{ network: 'global/networks/default' }],
        disks: [{ boot: true, autoDelete: true, initializeParams: { sourceImage: 'global/images/family/worker' } }], ...more,
      });
    }
  }

  async close() {
    for (const metadata of this.#metadata.values()) metadata.close();
    await super.close();
  }
}
