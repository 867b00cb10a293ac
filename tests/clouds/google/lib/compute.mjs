// The calls of the compute API that this Google knows. Each takes (parameters, body, caller) and returns its answer.
import { images, machineTypes, project, projectNumber, quotaMetrics, regionNamed, regionOf, regions, zones } from './catalogue.mjs';
import { parseFilter } from './filters.mjs';
import { linkOf, zoneLink } from './instances.mjs';
import { typeNamed } from './model.mjs';
import { invalid, Refusal } from './refusal.mjs';

const missing = what => new Refusal('notFound', `The resource '${what}' was not found`);
const hash = text => String([...text].reduce((sum, letter) => (sum * 31n + BigInt(letter.charCodeAt(0))) % (2n ** 62n), 7n) + 2n ** 60n);

// Which permission a call needs. Others need none here.
export const permissions = {
  'instances.insert': 'compute.instances.create', 'instances.bulkInsert': 'compute.instances.create', 'instances.delete': 'compute.instances.delete',
  'instances.get': 'compute.instances.get', 'instances.list': 'compute.instances.list', 'instances.aggregatedList': 'compute.instances.list',
  'zoneOperations.get': 'compute.zoneOperations.get', 'zoneOperations.list': 'compute.zoneOperations.list', 'zoneOperations.wait': 'compute.zoneOperations.get',
  'globalOperations.aggregatedList': 'compute.globalOperations.list', 'regions.get': 'compute.regions.get', 'regions.list': 'compute.regions.list',
  'zones.get': 'compute.zones.get', 'zones.list': 'compute.zones.list', 'machineTypes.get': 'compute.machineTypes.get', 'machineTypes.list': 'compute.machineTypes.list',
  'machineTypes.aggregatedList': 'compute.machineTypes.list', 'images.get': 'compute.images.get', 'images.getFromFamily': 'compute.images.getFromFamily',
  'subnetworks.get': 'compute.subnetworks.get', 'projects.get': 'compute.projects.get', 'instances.getSerialPortOutput': 'compute.instances.getSerialPortOutput',
};

// What a creation needs besides, by what its body uses.
export function furtherPermissions(name, body) {
  if (!['instances.insert', 'instances.bulkInsert'].includes(name)) return [];
  const made = body.instanceProperties ?? body;
  return [
    'compute.disks.create', 'compute.subnetworks.use', 'compute.images.useReadOnly',
    ...(made.networkInterfaces?.some(entry => entry.accessConfigs?.length) ? ['compute.subnetworks.useExternalIp'] : []),
    ...(made.labels ? ['compute.instances.setLabels'] : []), ...(made.metadata ? ['compute.instances.setMetadata'] : []), ...(made.tags ? ['compute.instances.setTags'] : []),
    ...(made.serviceAccounts?.length ? ['compute.instances.setServiceAccount', 'iam.serviceAccounts.actAs'] : []),
  ];
}

export class Compute {
  constructor(instances, settings, identities) {
    Object.assign(this, { instances, settings, identities });
  }

  perform(name, parameters, body, caller) {
    if (!(name in Compute.calls)) throw new Refusal('notFound', `This Google does not know ${name}`);
    if (parameters.project !== project && !(name.startsWith('images.') && images.some(image => image.project === parameters.project)))
      throw name === 'projects.get' || !parameters.project.startsWith('other-')
        ? missing(`projects/${parameters.project}`)
        : new Refusal('forbidden', `Required '${permissions[name]}' permission for 'projects/${parameters.project}'`);
    if (parameters.zone !== undefined && !zones.includes(parameters.zone)) throw invalid('zone', parameters.zone, 'Unknown zone.');
    return Compute.calls[name].call(this, parameters, body, caller);
  }

  static calls = {
    'instances.insert'(parameters, body, caller) {
      return this.instances.describeOperation(this.instances.insert(caller, parameters.zone, body, parameters));
    },
    'instances.bulkInsert'(parameters, body, caller) {
      return this.instances.describeOperation(this.instances.bulkInsert(caller, parameters.zone, body, parameters));
    },
    'instances.delete'(parameters, body, caller) {
      return this.instances.describeOperation(this.instances.delete(caller, parameters.zone, parameters.instance, parameters));
    },
    'instances.get'({ zone, instance }) {
      return this.instances.describe(this.instances.known(zone, instance));
    },
    'instances.list'(parameters) {
      const shown = this.instances.visible(parameters.zone).map(entry => this.instances.describe(entry));
      return this.list('compute#instanceList', 'Instance', shown, parameters);
    },
    'instances.aggregatedList'(parameters) {
      const shown = this.instances.visible().map(entry => [`zones/${entry.zone}`, entry]);
      return this.aggregated('compute#instanceAggregatedList', 'Instance', 'instances', shown, parameters, entry => this.instances.describe(entry));
    },
    'instances.getSerialPortOutput'({ zone, instance }) {
      this.instances.known(zone, instance);
      return { kind: 'compute#serialPortOutput', contents: 'Linux version 6.1\n', start: '0', next: '18' };
    },
    'instances.testIamPermissions'({ zone, resource }, { permissions: asked = [] }, caller) {
      this.instances.known(zone, resource);
      return { permissions: asked.filter(permission => this.identities.may(caller, permission)) };
    },
    'zoneOperations.get'({ zone, operation }) {
      return this.instances.describeOperation(this.operation(zone, operation));
    },
    'zoneOperations.wait'({ zone, operation }) {
      return this.instances.describeOperation(this.operation(zone, operation));
    },
    'zoneOperations.list'(parameters) {
      const shown = this.instances.operations.filter(entry => entry.zone === parameters.zone).map(entry => this.instances.describeOperation(entry));
      return this.list('compute#operationList', 'Operation', shown, parameters);
    },
    'globalOperations.aggregatedList'(parameters) {
      const shown = this.instances.operations.map(entry => [`zones/${entry.zone}`, entry]);
      return this.aggregated('compute#operationAggregatedList', 'Operation', 'operations', shown, parameters, entry => this.instances.describeOperation(entry));
    },
    'regions.get'({ region }) {
      return this.region(regionNamed(region) ?? (() => { throw missing(`projects/${project}/regions/${region}`); })());
    },
    'regions.list'(parameters) {
      return this.list('compute#regionList', 'Region', regions.map(region => this.region(region)), parameters);
    },
    'zones.get'({ zone }) {
      return this.zone(zone);
    },
    'zones.list'(parameters) {
      return this.list('compute#zoneList', 'Zone', zones.map(zone => this.zone(zone)), parameters);
    },
    'machineTypes.get'({ zone, machineType }) {
      const found = machineTypes.find(entry => entry.name === machineType && this.sold(zone, entry.name));
      if (!found) throw missing(`projects/${project}/zones/${zone}/machineTypes/${machineType}`);
      return this.machineType(zone, found);
    },
    'machineTypes.list'(parameters) {
      const shown = machineTypes.filter(entry => this.sold(parameters.zone, entry.name)).map(entry => this.machineType(parameters.zone, entry));
      return this.list('compute#machineTypeList', 'MachineType', shown, parameters);
    },
    'machineTypes.aggregatedList'(parameters) {
      const shown = zones.flatMap(zone => machineTypes.filter(entry => this.sold(zone, entry.name)).map(entry => [`zones/${zone}`, { zone, entry }]));
      return this.aggregated('compute#machineTypeAggregatedList', 'MachineType', 'machineTypes', shown, parameters, ({ zone, entry }) => this.machineType(zone, entry));
    },
    'images.get'({ project: owner, image }) {
      return this.image(owner, entry => entry.name === image, image);
    },
    'images.getFromFamily'({ project: owner, family }) {
      return this.image(owner, entry => entry.family === family, `family/${family}`);
    },
    'subnetworks.get'({ region, subnetwork }) {
      if (!regionNamed(region) || subnetwork !== 'default') throw missing(`projects/${project}/regions/${region}/subnetworks/${subnetwork}`);
      const link = linkOf('projects', project, 'regions', region, 'subnetworks', subnetwork);
      return { kind: 'compute#subnetwork', id: hash(link), name: subnetwork, network: linkOf('projects', project, 'global/networks/default'), region: linkOf('projects', project, 'regions', region), ipCidrRange: '10.128.0.0/20', selfLink: link };
    },
    'projects.get'() {
      return { kind: 'compute#project', id: projectNumber, name: project, selfLink: linkOf('projects', project), defaultServiceAccount: `${projectNumber}-compute@developer.gserviceaccount.com`, xpnProjectStatus: 'UNSPECIFIED_XPN_PROJECT_STATUS' };
    },
  };

  operation(zone, name) {
    const found = this.instances.operations.find(entry => entry.zone === zone && (entry.name === name || entry.id === name));
    if (!found) throw missing(`projects/${project}/zones/${zone}/operations/${name}`);
    return found;
  }

  region({ name, zones: own }) {
    const link = linkOf('projects', project, 'regions', name);
    return {
      kind: 'compute#region', id: hash(link), name, status: 'UP', selfLink: link, zones: own.map(zoneLink),
      quotas: quotaMetrics.map(metric => ({ metric, limit: this.instances.quota(name, metric), usage: this.instances.used(name, metric) })),
    };
  }

  zone(name) {
    return { kind: 'compute#zone', id: hash(name), name, status: this.settings.zoneStates[name] ?? 'UP', region: linkOf('projects', project, 'regions', regionOf(name)), selfLink: zoneLink(name) };
  }

  sold(zone, name) {
    return this.settings.notSold[zone]?.includes(name) !== true;
  }

  machineType(zone, { name, cpus, memory, architecture, accelerator }) {
    return {
      kind: 'compute#machineType', id: hash(name), name, guestCpus: cpus, memoryMb: memory, architecture, zone, isSharedCpu: name === 'e2-small', selfLink: `${zoneLink(zone)}/machineTypes/${name}`,
      ...(accelerator && { accelerators: [{ guestAcceleratorType: accelerator, guestAcceleratorCount: 1 }] }),
    };
  }

  image(owner, fits, name) {
    const found = images.find(entry => entry.project === owner && fits(entry));
    if (!found) throw missing(`projects/${owner}/global/images/${name}`);
    return { kind: 'compute#image', id: hash(found.name), name: found.name, family: found.family, status: 'READY', architecture: found.architecture, diskSizeGb: found.diskSizeGb, selfLink: linkOf('projects', owner, 'global/images', found.name) };
  }

  #filtered(typeName, items, { filter, orderBy }, documentOf) {
    if (orderBy && !['name', 'creationTimestamp desc'].includes(orderBy)) throw invalid('orderBy', orderBy, 'Must be name or creationTimestamp desc.');
    if (!filter) return items;
    const fields = typeNamed(typeName);
    const knows = path => {
      const [first, ...rest] = path.split('.');
      return first in fields.fields && (rest.length === 0 || fields.fields[first].map || fields.fields[first].resolve().resolvedType !== null);
    };
    const fits = parseFilter(filter, knows, (item, path) => path.split('.').reduce((value, step) => value?.[step], documentOf(item)));
    return items.filter(fits);
  }

  #paged(items, { maxResults = 500, pageToken, filter }) {
    if (maxResults < 0 || maxResults > 500) throw invalid('maxResults', maxResults, 'Values must be within the range of [0, 500]');
    const question = JSON.stringify(filter ?? '');
    let from = 0;
    if (pageToken) {
      const [at, about] = Buffer.from(pageToken, 'base64url').toString().split(' ', 2).concat(['']);
      if (!/^\d+$/.test(at) || about !== hash(question)) throw invalid('pageToken', pageToken, 'The page token is not for this question.');
      from = Number(at);
    }
    const page = items.slice(from, from + (maxResults || 500));
    const next = from + page.length < items.length ? Buffer.from(`${from + page.length} ${hash(question)}`).toString('base64url') : undefined;
    return { page, next };
  }

  list(kind, typeName, items, parameters) {
    const { page, next } = this.#paged(this.#filtered(typeName, items, parameters, item => item), parameters);
    return { kind, id: 'list', ...(page.length && { items: page }), ...(next && { nextPageToken: next }) };
  }

  // `items`: [scope, item]. Every scope is in every page, with a warning if it has nothing there.
  aggregated(kind, typeName, member, items, parameters, documentOf) {
    const lost = this.settings.unreachable;
    if (lost.length && !parameters.returnPartialSuccess) throw new Refusal('backendError', `The service is currently unavailable: ${lost.join(', ')}.`);
    const described = new Map();
    const documentFor = item => described.get(item) ?? described.set(item, documentOf(item[1])).get(item);
    const reached = items.filter(([scope]) => !lost.includes(scope.slice(6)));
    const { page, next } = this.#paged(this.#filtered(typeName, reached, parameters, documentFor), parameters);
    const scopes = {};
    for (const zone of zones) {
      const scope = `zones/${zone}`;
      scopes[scope] = lost.includes(zone)
        ? { warning: { code: 'UNREACHABLE', message: `The scope '${scope}' could not be reached.`, data: [{ key: 'scope', value: scope }] } }
        : { warning: { code: 'NO_RESULTS_ON_PAGE', message: `There are no results for scope '${scope}' on this page.`, data: [{ key: 'scope', value: scope }] } };
    }
    for (const item of page) {
      const scope = item[0];
      if (!scopes[scope][member]) scopes[scope] = { [member]: [] };
      scopes[scope][member].push(documentFor(item));
    }
    return { kind, id: 'aggregated', items: scopes, ...(next && { nextPageToken: next }), ...(lost.length && { unreachables: lost.map(zoneLink) }) };
  }
}
