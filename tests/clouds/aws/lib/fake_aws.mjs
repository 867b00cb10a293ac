// A whole AWS: services, endpoint, metadata of instances, faults and settings. In process for tests in Node; fake.mjs is it as a program.
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';

import { FakeCloud } from '../../lib/fake_cloud.mjs';
import { Faults, Throttle } from '../../lib/faults.mjs';
import { proxyServer } from '../../lib/http.mjs';
import { accountId, regions, subnets } from './catalogue.mjs';
import { Documents } from './documents.mjs';
import { Ec2 } from './ec2.mjs';
import { Identities, Sts } from './identities.mjs';
import { Imds } from './imds.mjs';
import { Instances } from './instances.mjs';
import { Queues, ServiceQuotas } from './queues.mjs';
import { Endpoint } from './server.mjs';

const usual = () => ({
  bootMs: 0, // from pending to running
  visibleAfterMs: 0, // lists lag behind launches by this much
  shutdownMs: 0,
  forgetMs: 60_000, // how long lists show what is terminated
  capacity: {}, // "us-east-1a spot m5.large" or "us-east-1a m5.large" -> how many there may be
  quotas: {}, // quota code -> virtual processors
  spotPrices: {}, // "us-east-1a m5.large" -> dollars
  zoneStates: {},
  freeAddresses: {},
  throttle: {}, // action -> {burst, perSecond}
});

export class FakeAws extends FakeCloud {
  faults = new Faults();
  #imds = new Map();

  constructor() {
    super('aws', usual());
  }

  static async start({ tls = false } = {}) {
    const fake = new FakeAws();
    await fake.#start(tls);
    return fake;
  }

  async #start(tls) {
    const { now } = this;
    this.documents = new Documents(this.folder);
    this.identities = new Identities(now);
    this.instances = new Instances(this.settings, now);
    this.queues = new Queues(this.settings, now);
    this.endpoint = new Endpoint({
      services: {
        ec2: new Ec2(this.instances, this.settings, now), sts: new Sts(this.identities), sqs: this.queues, servicequotas: new ServiceQuotas(this.settings),
        zoneOfSubnet: id => subnets.find(entry => entry.id === id)?.zone,
      },
      identities: this.identities, faults: this.faults, throttle: new Throttle(this.settings, now), now,
    });
    this.url = `http://127.0.0.1:${await this.serve(http.createServer(this.endpoint.handler()))}`;
    this.proxyUrl = `http://127.0.0.1:${await this.serve(proxyServer(this.passedProxy))}`;
    if (tls) {
      const options = { key: fs.readFileSync(this.documents.keyFile), cert: fs.readFileSync(this.documents.certificateFile) };
      this.tlsUrl = `https://127.0.0.1:${await this.serve(https.createServer(options, this.endpoint.handler()))}`;
    }
  }

  get certificateFile() {
    return this.documents.certificateFile;
  }
  get calls() {
    return this.endpoint.calls;
  }
  get credentials() {
    const { accessKeyId, secretAccessKey } = this.identities.keys.values().next().value;
    return { accessKeyId, secretAccessKey };
  }

  instance(id) {
    const found = this.instances.all.get(id);
    if (!found) throw new Error(`there is no instance ${id}`);
    return found;
  }

  // The metadata service of an instance.
  async imds(id) {
    if (!this.#imds.has(id)) {
      const made = new Imds(this.instance(id), this.documents, this.now);
      await made.listen();
      this.#imds.set(id, made);
    }
    return this.#imds.get(id);
  }

  // The metadata service of the machine on which the host runs: it has a role.
  async imdsWithRole(name, { seconds = 3600, account = accountId } = {}) {
    const machine = { id: 'i-0000000000000host', account, region: regions[0].name, zone: regions[0].zones[0], tokensRequired: true, launched: this.now() };
    const role = { name, credentials: () => this.identities.temporary({ account, arn: `arn:aws:sts::${account}:assumed-role/${name}/${machine.id}`, seconds }) };
    const made = new Imds(machine, this.documents, this.now, role);
    await made.listen();
    this.#imds.set(name, made);
    return made;
  }

  // A notice that the instance will be taken away, in its metadata and in the queues; then it is.
  interrupt(id, { action = 'terminate', seconds = 120 } = {}) {
    const instance = this.instance(id);
    const at = this.now() + seconds * 1000;
    instance.notice = { action, time: new Date(at).toISOString().replace(/\.\d+/, '') };
    this.#tellQueues(instance, 'EC2 Spot Instance Interruption Warning', { 'instance-id': id, 'instance-action': action });
    this.later(seconds * 1000, () => this.instances.end(instance, 'Server.SpotInstanceTermination'));
  }

  recommendRebalance(id) {
    const instance = this.instance(id);
    instance.rebalance = { noticeTime: new Date(this.now()).toISOString().replace(/\.\d+/, '') };
    this.#tellQueues(instance, 'EC2 Instance Rebalance Recommendation', { 'instance-id': id });
  }

  // Only the queue is told, as for a machine whose agent is not there.
  #tellQueues(instance, type, detail) {
    for (const name of this.queues.names())
      this.queues.send(name, {
        version: '0', id: instance.id, 'detail-type': type, source: 'aws.ec2', account: instance.account, time: new Date(this.now()).toISOString(),
        region: instance.region, resources: [`arn:aws:ec2:${instance.zone}:instance/${instance.id}`], detail,
      });
  }

  // An instance is gone and nobody asked for it.
  vanish(id) {
    this.instances.end(this.instance(id), 'Server.InternalError');
  }

  // Many instances at once, for measurements.
  seed(count, { region, tags = {}, ...more }) {
    const { zones } = regions.find(entry => entry.name === region);
    for (let done = 0; done < count; done += 1000) {
      const [first, ...rest] = this.instances.run(accountId, region, {
        MinCount: Math.min(1000, count - done), MaxCount: Math.min(1000, count - done), ImageId: 'ami-0123456789abcdef0', InstanceType: 'm5.large',
        Placement: { AvailabilityZone: zones[(done / 1000) % zones.length] },
        TagSpecifications: [{ ResourceType: 'instance', Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }], ...more,
      });
      for (const instance of [first, ...rest]) instance.tags = { ...instance.tags };
    }
  }

  async close() {
    for (const imds of this.#imds.values()) imds.close();
    await super.close();
  }
}
