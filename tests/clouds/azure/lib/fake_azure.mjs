// A whole Azure: virtual machines and what belongs to them, deployments, tokens, metadata of machines, prices, faults and settings. In process for tests in Node; fake.mjs is
// it as a program.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';

import { FakeCloud } from '../../lib/fake_cloud.mjs';
import { Faults, Throttle } from '../../lib/faults.mjs';
import { proxyServer } from '../../lib/http.mjs';
import { imageId, subnetId } from './catalogue.mjs';
import { Deployments } from './deployments.mjs';
import { Documents, sharedChain } from './documents.mjs';
import { Identities } from './identities.mjs';
import { Imds } from './imds.mjs';
import { VirtualMachines } from './machines.mjs';
import { Prices } from './prices.mjs';
import { Operations, Resources } from './resources.mjs';
import { Endpoint } from './server.mjs';

const usual = () => ({
  bootMs: 0, // from the end of the creation to PowerState/running
  operationMs: 0, // how long operations take
  retryAfter: 0, // seconds, in answers about operations that are under way and about throttled calls
  createErrors: [], // {step, code, message, status, location, zone, size, market, times}: how creations fail; steps are in machines.mjs
  visibleAfterMs: 0, // lists lag behind creations by this much
  capacity: {}, // "westus2-1 Spot Standard_D2s_v5", "westus2 Standard_D2s_v5" or "westus2" -> how many there may be
  notAvailable: {}, // the same keys -> true: SkuNotAvailable
  restricted: {}, // "westus2 Standard_D2s_v5" -> NotAvailableForSubscription
  quotas: {}, // "westus2 standardDSv5Family" or "lowPriorityCores" -> limit
  remaining: {}, // reads, writes, deletes, machines -> what the headers say is left
  priceFactors: {}, // "westus2 Standard_D2s_v5" or "westus2" -> factor
  pageSize: 200,
  throttle: {}, // call -> {burst, perSecond}
});

export class FakeAzure extends FakeCloud {
  faults = new Faults(['retryAfter']);
  #imds = new Map();

  static async start({ tls = false } = {}) {
    const fake = new FakeAzure('azure', usual());
    await fake.#start(tls);
    return fake;
  }

  async #start(tls) {
    const { settings, now } = this;
    this.chain = sharedChain(os);
    this.documents = new Documents(this.chain, now);
    this.identities = new Identities(now);
    this.operations = new Operations(settings, now);
    this.resources = new Resources(settings, this.operations);
    this.machines = new VirtualMachines(this.resources, this.operations, settings, now);
    this.machines.later = (milliseconds, act) => this.later(milliseconds, act);
    this.instances = this.machines;
    this.deployments = new Deployments(this.machines, this.resources, this.operations, now);
    this.prices = new Prices(settings);
    this.throttle = new Throttle(settings, now);
    this.endpoint = new Endpoint(this);
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

  instance(id) {
    const found = this.machines.all.get(id.toLowerCase());
    if (!found) throw new Error(`there is no machine ${id}`);
    return found;
  }

  // The metadata service of a machine.
  async imds(id) {
    if (!this.#imds.has(id)) {
      const made = new Imds(this.instance(id), this.documents);
      this.#imds.set(id, made);
      await made.listen();
    }
    return this.#imds.get(id);
  }

  // The metadata service of the machine on which the host runs: it has a managed identity.
  async hostMetadata(client) {
    const made = new Imds({ name: 'host', location: 'westus2', vmId: 'host', tags: {}, events: [] }, this.documents, asked => (asked && asked !== client ? undefined : this.identities.grant(client)));
    await made.listen();
    this.#imds.set('host', made);
    return made;
  }

  // A notice that the machine will be evicted, in its metadata; then it is.
  interrupt(id, { seconds = 30 } = {}) {
    const machine = this.instance(id);
    machine.events.push({ EventId: `E-${machine.events.length}`, EventStatus: 'Scheduled', EventType: 'Preempt', ResourceType: 'VirtualMachine', Resources: [machine.name], NotBefore: new Date(this.now() + seconds * 1000).toUTCString(), Description: '', EventSource: 'Platform', DurationInSeconds: -1 });
    this.later(seconds * 1000, () => this.machines.evict(machine));
  }

  vanish(id) {
    this.machines.vanish(this.instance(id));
  }

  // Many machines at once, for measurements.
  seed(count, { location = 'westus2', tags = {} } = {}) {
    for (let index = 0; index < count; index += 1)
      this.machines.put(`seed-${location}-${index}`, machineBody(location, { tags, name: `seed-${location}-${index}` }));
  }

  async close() {
    for (const imds of this.#imds.values()) imds.close();
    await super.close();
  }
}

// A body that this Azure takes.
export const machineBody = (location, { tags, name, size = 'Standard_D2s_v5', address = false, deleteOption = 'Delete', zones, ...properties } = {}) => ({
  location, ...(tags && { tags }), ...(zones && { zones }),
  properties: {
    hardwareProfile: { vmSize: size }, storageProfile: { imageReference: { id: imageId }, osDisk: { name: `disk-${name}`, createOption: 'FromImage', deleteOption } },
    osProfile: { computerName: name, adminUsername: 'worker', adminPassword: 'Aa1!never-told-to-anybody' },
    networkProfile: {
      networkApiVersion: '2020-11-01',
      networkInterfaceConfigurations: [{
        name: `nic-${name}`,
        properties: { primary: true, deleteOption, ipConfigurations: [{ name: 'ip0', properties: { subnet: { id: subnetId(location) }, ...(address && { publicIPAddressConfiguration: { name: `ip-${name}`, properties: { deleteOption } } }) } }] },
      }],
    },
    ...properties,
  },
});
