// The instances and operations of this Google. Nothing here knows HTTP.
import { randomBytes } from 'node:crypto';

import { images, machineTypeNamed, project, regionOf, usage, usualQuota, zones } from './catalogue.mjs';
import { invalid, Refusal } from './refusal.mjs';

const base = 'https://www.googleapis.com/compute/v1';
const number = () => String(BigInt(`0x${randomBytes(8).toString('hex')}`) >> 1n);
const namePattern = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const notFound = what => new Refusal('notFound', `The resource '${what}' was not found`);
const httpNames = { 403: 'FORBIDDEN', 409: 'CONFLICT', 412: 'PRECONDITION FAILED', 429: 'TOO MANY REQUESTS', 500: 'INTERNAL SERVER ERROR', 503: 'SERVICE UNAVAILABLE' };

export const linkOf = (...parts) => [base, ...parts].join('/');
export const zoneLink = zone => linkOf('projects', project, 'zones', zone);

export class Instances {
  all = new Map(); // by numeric id, as long as Google knows them, and a while longer with `ended`
  history = []; // all that were ever created
  operations = []; // oldest first
  #byRequest = new Map();
  #byName = new Map();
  #changing = new Set(); // those that time will change
  #addresses = 0;

  constructor(settings, now) {
    Object.assign(this, { settings, now });
  }

  // instances.insert. Returns the operation, the same one for the same requestId.
  insert(caller, zone, body, { requestId, sourceInstanceTemplate } = {}) {
    const before = this.#before(`insert ${zone}`, requestId);
    if (before) return before;
    if (sourceInstanceTemplate) throw invalid('sourceInstanceTemplate', sourceInstanceTemplate, 'This Google has no templates.');
    const wanted = this.#checked(zone, body, 'resource');
    if (!namePattern.test(body.name ?? '')) throw invalid('resource.name', body.name, 'Must be a match of regex \'(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)\'');
    if (this.named(zone, body.name)) throw new Refusal('alreadyExists', `The resource 'projects/${project}/zones/${zone}/instances/${body.name}' already exists`);
    this.#checkQuota(wanted, 1);
    const instance = this.#create(zone, body, wanted);
    const operation = this.operation(caller, zone, 'insert', { target: instance, error: this.#trouble(wanted) });
    instance.operation = operation;
    if (requestId) this.#byRequest.set(`insert ${zone} ${requestId}`, operation);
    return operation;
  }

  // instances.bulkInsert: as many as there is room for, at least minCount.
  bulkInsert(caller, zone, { count, minCount = count, namePattern: pattern, perInstanceProperties, instanceProperties, ...others }, { requestId } = {}) {
    const before = this.#before(`bulkInsert ${zone}`, requestId);
    if (before) return before;
    if (others.sourceInstanceTemplate || others.locationPolicy) throw invalid('resource', Object.keys(others).join(), 'This Google wants instanceProperties, in one zone.');
    if (!instanceProperties) throw new Refusal('required', 'Required field \'instanceProperties\' not specified');
    const names = perInstanceProperties ? Object.keys(perInstanceProperties) : pattern ? numbered(pattern, Number(count)) : undefined;
    if (!names) throw new Refusal('required', 'Required field \'namePattern or perInstanceProperties\' not specified');
    if (names.length !== Number(count)) throw invalid('resource.perInstanceProperties', names.length, `Number of names must be equal to count ${count}.`);
    const finals = names.map(name => perInstanceProperties?.[name]?.name ?? name);
    for (const name of finals) {
      if (!namePattern.test(name)) throw invalid('resource.perInstanceProperties.name', name, 'Must be a match of regex \'(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)\'');
      if (this.named(zone, name)) throw new Refusal('alreadyExists', `The resource 'projects/${project}/zones/${zone}/instances/${name}' already exists`);
    }
    if (!/^[a-z0-9-]+$/.test(instanceProperties.machineType ?? '')) throw invalid('resource.instanceProperties.machineType', instanceProperties.machineType, 'Must be the name of a machine type.');
    const wanted = this.#checked(zone, { ...instanceProperties, machineType: `zones/${zone}/machineTypes/${instanceProperties.machineType}` }, 'resource.instanceProperties');
    this.#checkQuota(wanted, Number(minCount));
    const group = randomBytes(8).toString('hex');
    const room = this.#room(wanted);
    const made = room < Number(minCount) ? 0 : Math.min(room, finals.length);
    const whole = this.operation(caller, zone, 'bulkInsert', {
      group, targetLink: `${zoneLink(zone)}/instances`, error: made === 0 ? (this.#trouble(wanted) ?? stockout(zone, wanted.type.name)) : undefined,
      bulk: { perLocationStatus: { [`zones/${zone}`]: { targetVmCount: finals.length, createdVmCount: made, failedToCreateVmCount: finals.length - made, status: 'DONE' } } },
    });
    finals.slice(0, made).forEach((name, index) => {
      const label = perInstanceProperties?.[names[index]];
      const instance = this.#create(zone, { ...instanceProperties, name, ...(label?.hostname && { hostname: label.hostname }) }, wanted);
      instance.operation = this.operation(caller, zone, 'insert', { target: instance, group });
    });
    if (requestId) this.#byRequest.set(`bulkInsert ${zone} ${requestId}`, whole);
    return whole;
  }

  #before(what, requestId) {
    if (requestId === undefined) return undefined;
    if (!uuidPattern.test(requestId) || /^[0-]+$/.test(requestId)) throw invalid('requestId', requestId, 'Must be a UUID.');
    return this.#byRequest.get(`${what} ${requestId}`);
  }

  #checked(zone, body, where) {
    const { machineType, disks, networkInterfaces, scheduling = {}, labels = {}, metadata } = body;
    const [, place, typeName] = /(?:^|\/)zones\/([^/]+)\/machineTypes\/([^/]+)$/.exec(machineType ?? '') ?? [];
    if (machineType === undefined) throw new Refusal('required', `Required field '${where}.machineType' not specified`);
    if (!typeName) throw invalid(`${where}.machineType`, machineType, 'The URL is malformed.');
    if (place !== zone) throw invalid(`${where}.machineType`, machineType, 'The machine type must be in the zone of the instance.');
    const type = machineTypeNamed(typeName);
    if (!type) throw invalid(`${where}.machineType`, machineType, `Machine type with name '${typeName}' does not exist in zone '${zone}'.`);
    if (!disks?.length) throw new Refusal('invalid', `Invalid value for field '${where}.disks': ''. No disks are specified.`);
    const image = this.#imageOf(disks, where);
    if (image.architecture !== type.architecture) throw new Refusal('invalid', `Requested boot disk architecture (${image.architecture}) is not compatible with machine type architecture (${type.architecture}).`);
    if (!networkInterfaces?.length) throw new Refusal('invalid', `Invalid value for field '${where}.networkInterfaces': ''. At least one network interface is required.`);
    this.#checkNetworks(zone, networkInterfaces, where);
    const market = scheduling.provisioningModel === 'SPOT' || scheduling.preemptible ? 'SPOT' : 'STANDARD';
    if (market === 'SPOT' && scheduling.automaticRestart !== false) throw invalid(`${where}.scheduling.automaticRestart`, scheduling.automaticRestart ?? true, 'Automatic restart is not supported for Spot and preemptible VMs.');
    if (market === 'SPOT' && scheduling.onHostMaintenance === 'MIGRATE') throw invalid(`${where}.scheduling.onHostMaintenance`, 'MIGRATE', 'Spot VMs cannot be migrated.');
    if (market !== 'SPOT' && scheduling.instanceTerminationAction && !scheduling.maxRunDuration) throw invalid(`${where}.scheduling.instanceTerminationAction`, scheduling.instanceTerminationAction, 'You cannot specify a termination action for a VM instance that has the standard provisioning model (default).');
    checkLabels(labels, `${where}.labels`);
    for (const disk of disks) checkLabels(disk.initializeParams?.labels ?? {}, `${where}.disks.initializeParams.labels`);
    checkMetadata(metadata);
    for (const { email } of body.serviceAccounts ?? [])
      if (email !== 'default' && !this.settings.serviceAccounts.includes(email)) throw invalid(`${where}.serviceAccounts[0].email`, email, 'The service account does not exist.');
    return { zone, type, image, market };
  }

  #imageOf(disks, where) {
    const boot = disks.find(disk => disk.boot);
    if (!boot) throw new Refusal('invalid', `Invalid value for field '${where}.disks': ''. Boot disk must be the first disk attached to the instance.`);
    const source = boot.initializeParams?.sourceImage;
    if (!source) throw invalid(`${where}.disks[0].initializeParams.sourceImage`, '', 'This Google boots from images only.');
    const [, owner, family, name] = /projects\/([^/]+)\/global\/images\/(family\/)?([^/]+)$/.exec(source) ?? /^()global\/images\/(family\/)?([^/]+)$/.exec(source) ?? [];
    const found = images.find(image => image.project === (owner || project) && (family ? image.family : image.name) === name);
    if (!found) throw invalid(`${where}.disks[0].initializeParams.sourceImage`, source, 'The referenced image resource cannot be found.');
    return found;
  }

  #checkNetworks(zone, interfaces, where) {
    for (const { network, subnetwork } of interfaces) {
      if (network && !/(^|\/)networks\/default$/.test(network)) throw invalid(`${where}.networkInterfaces[0].network`, network, 'The referenced network resource cannot be found.');
      if (subnetwork && !new RegExp(`(^|/)regions/${regionOf(zone)}/subnetworks/default$`).test(subnetwork))
        throw invalid(`${where}.networkInterfaces[0].subnetwork`, subnetwork, 'The referenced subnetwork resource cannot be found.');
    }
  }

  // Quotas that are full are said at once.
  #checkQuota({ zone, type, market }, count) {
    const region = regionOf(zone);
    for (const [metric, each] of Object.entries(usage({ type: type.name, market }))) {
      const limit = this.quota(region, metric);
      if (this.used(region, metric) + each * count > limit)
        throw new Refusal('quotaExceeded', `Quota '${metric}' exceeded.  Limit: ${limit.toFixed(1)} in region ${region}.`);
    }
  }

  quota(region, metric) {
    return this.settings.quotas[`${region} ${metric}`] ?? this.settings.quotas[metric] ?? usualQuota;
  }
  used(region, metric) {
    return this.living().filter(instance => regionOf(instance.zone) === region).reduce((sum, instance) => sum + (usage(instance)[metric] ?? 0), 0);
  }

  #room({ zone, type, market }) {
    const { capacity } = this.settings;
    const most = capacity[`${zone} ${market} ${type.name}`] ?? capacity[`${zone} ${type.name}`] ?? capacity[zone] ?? Infinity;
    return most - this.living().filter(entry => entry.zone === zone && entry.type === type.name).length;
  }

  // The error with which the operation ends, if it does.
  #trouble(wanted) {
    const fits = entry => (entry.zone ?? wanted.zone) === wanted.zone && (entry.type ?? wanted.type.name) === wanted.type.name && (entry.market ?? wanted.market) === wanted.market;
    const told = this.settings.operationErrors.find(entry => fits(entry) && (entry.times ?? 1) > 0);
    if (told?.times !== undefined) told.times -= 1;
    if (told) return told;
    // The instance itself is already there.
    if (this.#room(wanted) >= 0 && !(this.settings.capacity[wanted.zone] === 0)) return undefined;
    return stockout(wanted.zone, wanted.type.name);
  }

  #create(zone, body, { type, image, market }) {
    const count = ++this.#addresses;
    const instance = {
      id: number(), name: body.name, zone, region: regionOf(zone), project, type: type.name, market, image: image.name, body, labels: body.labels ?? {},
      account: body.serviceAccounts?.[0]?.email ?? '', address: `10.128.${(count >> 8) & 255}.${count & 255}`, preempted: false, created: this.now(),
      hasAddress: (body.networkInterfaces ?? []).some(entry => entry.accessConfigs?.length > 0), attributes: Object.fromEntries((body.metadata?.items ?? []).map(({ key, value }) => [key, value])),
    };
    this.all.set(instance.id, instance);
    this.#byName.set(`${zone} ${instance.name}`, instance);
    this.history.push(instance);
    return instance;
  }

  operation(caller, zone, operationType, { target, targetLink, error, group, bulk, user = caller?.email ?? 'system@google.com', done = false }) {
    const operation = {
      id: number(), name: `operation-${this.now()}-${randomBytes(6).toString('hex')}`, zone, type: operationType, target, group, bulk, user, error,
      targetLink: targetLink ?? `${zoneLink(zone)}/instances/${target.name}`, inserted: this.now(), ends: done ? this.now() : this.now() + this.settings.operationMs,
    };
    // An instance whose creation fails was never really there.
    if (error && operationType === 'insert') {
      target.fails = operation;
      this.#changing.add(target);
    }
    this.operations.push(operation);
    if (this.operations.length > 60_000) this.operations.splice(0, 20_000);
    return operation;
  }

  isDone(operation) {
    return this.now() >= operation.ends;
  }

  // What time has brought: creations that failed, deletions that are done, machines that Google took.
  sweep() {
    for (const instance of this.#changing) {
      if (instance.fails && this.isDone(instance.fails)) {
        instance.ended ??= this.now();
        instance.gone = true;
      }
      if (instance.deletion && this.isDone(instance.deletion)) instance.gone = true;
      if (!instance.gone || this.now() - instance.ended < 60_000) continue;
      this.all.delete(instance.id);
      this.#changing.delete(instance);
    }
  }

  statusOf(instance) {
    if (instance.deletion) return 'STOPPING';
    if (instance.ended !== undefined) return this.now() - instance.ended < this.settings.shutdownMs ? 'STOPPING' : 'TERMINATED';
    if (!this.isDone(instance.operation ?? { ends: 0 })) return 'PROVISIONING';
    return this.now() - instance.created < this.settings.bootMs ? 'STAGING' : 'RUNNING';
  }

  // Those that run, or will.
  living() {
    return [...this.all.values()].filter(instance => instance.ended === undefined && !instance.gone && !instance.fails);
  }

  // What lists show: not yet what was created a moment ago.
  visible(zone) {
    this.sweep();
    const limit = this.now() - this.settings.visibleAfterMs;
    return [...this.all.values()].filter(entry => (zone === undefined || entry.zone === zone) && !entry.gone && (this.settings.visibleAfterMs === 0 || entry.created <= limit));
  }

  // By name or by number.
  named(zone, name) {
    this.sweep();
    const found = this.#byName.get(`${zone} ${name}`) ?? this.all.get(name);
    return found?.zone === zone && !found.gone ? found : undefined;
  }

  known(zone, name) {
    if (!zones.includes(zone)) throw notFound(`projects/${project}/zones/${zone}`);
    const found = this.named(zone, name);
    if (!found) throw notFound(`projects/${project}/zones/${zone}/instances/${name}`);
    return found;
  }

  delete(caller, zone, name, { requestId } = {}) {
    const before = this.#before(`delete ${zone}`, requestId);
    if (before) return before;
    const instance = this.known(zone, name);
    if (instance.body.deletionProtection) throw new Refusal('invalid', 'Resource cannot be deleted if it\'s protected against deletion.', { status: 412 });
    const operation = this.operation(caller, zone, 'delete', { target: instance });
    instance.deletion ??= operation;
    instance.ended ??= this.now();
    this.#changing.add(instance);
    if (requestId) this.#byRequest.set(`delete ${zone} ${requestId}`, operation);
    return operation;
  }

  // Google takes a machine: an operation of its own tells of it.
  preempt(instance) {
    if (instance.ended !== undefined) return;
    this.operation(undefined, instance.zone, 'compute.instances.preempted', { target: instance, done: true });
    instance.ended = this.now();
    if (instance.body.scheduling?.instanceTerminationAction === 'DELETE') instance.gone = true;
    this.#changing.add(instance);
  }

  describe(instance) {
    const { body, zone } = instance;
    const status = this.statusOf(instance);
    return {
      ...body, kind: 'compute#instance', id: instance.id, name: instance.name, zone: zoneLink(zone), status,
      creationTimestamp: new Date(instance.created).toISOString(), machineType: `${zoneLink(zone)}/machineTypes/${instance.type}`,
      selfLink: `${zoneLink(zone)}/instances/${instance.name}`, labels: instance.labels, labelFingerprint: '42WmSpB8rSM=', cpuPlatform: 'Unknown CPU Platform',
      disks: body.disks.map((disk, index) => ({
        kind: 'compute#attachedDisk', type: 'PERSISTENT', mode: 'READ_WRITE', index, boot: disk.boot ?? false, autoDelete: disk.autoDelete ?? false,
        deviceName: `persistent-disk-${index}`, source: `${zoneLink(zone)}/disks/${instance.name}${index ? `-${index}` : ''}`,
      })),
      networkInterfaces: body.networkInterfaces.map((entry, index) => ({ ...entry, kind: 'compute#networkInterface', name: `nic${index}`, networkIP: instance.address })),
      ...(status === 'TERMINATED' && { lastStopTimestamp: new Date(instance.ended).toISOString() }),
    };
  }

  describeOperation(operation) {
    const done = this.isDone(operation);
    const failed = done && operation.error;
    return {
      kind: 'compute#operation', id: operation.id, name: operation.name, zone: zoneLink(operation.zone), operationType: operation.type, targetLink: operation.targetLink,
      ...(operation.target && { targetId: operation.target.id }), status: done ? 'DONE' : 'RUNNING', user: operation.user, progress: done ? 100 : 0,
      insertTime: new Date(operation.inserted).toISOString(), startTime: new Date(operation.inserted).toISOString(), ...(done && { endTime: new Date(operation.ends).toISOString() }),
      selfLink: `${zoneLink(operation.zone)}/operations/${operation.name}`, ...(operation.group && { operationGroupId: operation.group }),
      ...(operation.bulk && { instancesBulkInsertOperationMetadata: operation.bulk }),
      ...(failed && {
        error: { errors: [{ code: failed.code, message: failed.message ?? `The test asked for ${failed.code}.`, ...(failed.errorDetails && { errorDetails: failed.errorDetails }) }] },
        httpErrorStatusCode: failed.status ?? 503, httpErrorMessage: httpNames[failed.status ?? 503] ?? 'BAD REQUEST',
      }),
    };
  }
}

export const stockout = (zone, typeName) => ({
  code: 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', status: 503,
  message: `The zone 'projects/${project}/zones/${zone}' does not have enough resources available to fulfill the request.  '(resource type:compute)'.`,
  errorDetails: [
    { errorInfo: { reason: 'resource_availability', domain: 'compute.googleapis.com', metadatas: { vmType: typeName, zone, zonesAvailable: '', attachment: '' } } },
    { localizedMessage: { locale: 'en-US', message: `A ${typeName} VM instance is currently unavailable in the ${zone} zone. Consider trying your request in another zone that has capacity.` } },
  ],
});

const numbered = (pattern, count) => Array.from({ length: count }, (_, index) => pattern.replace(/#+/, signs => String(index + 1).padStart(signs.length, '0')));

function checkLabels(labels, where) {
  if (Object.keys(labels).length > 64) throw invalid(where, Object.keys(labels).length, 'There may be at most 64 labels.');
  for (const [key, value] of Object.entries(labels)) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key)) throw invalid(where, key, `Label key '${key}' violates format constraints. The key can only contain lowercase letters, numeric characters, underscores and dashes, must start with a letter, and has at most 63 characters.`);
    if (!/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value)) throw invalid(where, value, `Label value '${value}' violates format constraints. The value can only contain lowercase letters, numeric characters, underscores and dashes. The value can be at most 63 characters long.`);
  }
}

function checkMetadata(metadata) {
  const keys = (metadata?.items ?? []).map(item => item.key);
  if (new Set(keys).size !== keys.length) throw new Refusal('invalid', 'Invalid value for field \'resource.metadata\': Metadata has duplicate keys.');
  const size = (metadata?.items ?? []).reduce((sum, item) => sum + item.key.length + (item.value?.length ?? 0), 0);
  if (size > 512 * 1024 || (metadata?.items ?? []).some(item => (item.value?.length ?? 0) > 256 * 1024)) throw new Refusal('invalid', 'Metadata size limit exceeded.');
}
