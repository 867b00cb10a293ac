// The network interfaces, addresses and disks of this Azure, and its long-running operations. Nothing here knows HTTP.
import { randomBytes, randomUUID } from 'node:crypto';

import { group, groupPath, subnets, subscription } from './catalogue.mjs';
import { notFound, Refusal } from './refusal.mjs';

export const types = {
  machine: 'Microsoft.Compute/virtualMachines', disk: 'Microsoft.Compute/disks', nic: 'Microsoft.Network/networkInterfaces', address: 'Microsoft.Network/publicIPAddresses',
  deployment: 'Microsoft.Resources/deployments',
};
export const idOf = (type, name) => `${groupPath}/providers/${type}/${name}`;
const keyOf = id => id.toLowerCase();

export class Operations {
  all = new Map(); // id -> {location, started, ends, error}

  constructor(settings, now) {
    Object.assign(this, { settings, now });
  }

  begin(location, act, error) {
    const made = { id: randomUUID(), location, started: this.now(), ends: this.now() + this.settings.operationMs, act, error };
    this.all.set(made.id, made);
    this.settle(made);
    return made;
  }

  isDone(operation) {
    return this.now() >= operation.ends;
  }

  settle(operation) {
    if (!this.isDone(operation) || !operation.act) return;
    const { act } = operation;
    operation.act = undefined;
    act();
  }

  // What time has brought.
  sweep() {
    for (const operation of this.all.values()) this.settle(operation);
  }

  describe(id) {
    const operation = this.all.get(id);
    if (!operation) throw new Refusal('NotFound', `The operation ${id} was not found.`);
    this.settle(operation);
    const done = this.isDone(operation);
    return {
      name: id, status: !done ? 'InProgress' : operation.error ? 'Failed' : 'Succeeded', startTime: new Date(operation.started).toISOString(),
      ...(done && { endTime: new Date(operation.ends).toISOString() }), ...(done && operation.error && { error: operation.error }),
    };
  }
}

export class Resources {
  all = new Map(); // lower-case id -> {id, name, type, location, tags, zones, sku, properties, managedBy}
  #addresses = 0;

  constructor(settings, operations) {
    Object.assign(this, { settings, operations });
  }

  get(type, name) {
    this.operations.sweep();
    const found = this.all.get(keyOf(idOf(type, name)));
    if (!found) throw notFound(group, type, name);
    return found;
  }

  list(type) {
    this.operations.sweep();
    return [...this.all.values()].filter(resource => resource.type === type);
  }

  named(id) {
    return this.all.get(keyOf(id));
  }

  // All that are there besides machines.
  get left() {
    return [...this.all.values()].map(({ type, name }) => `${type.split('/')[1]}/${name}`);
  }

  #add(type, name, document) {
    const resource = { id: idOf(type, name), name, type, ...document };
    this.all.set(keyOf(resource.id), resource);
    return resource;
  }

  putAddress(name, { location, tags, sku, zones, properties = {} }) {
    if (!/^[A-Za-z0-9][\w.-]{0,78}\w$/.test(name)) throw new Refusal('InvalidResourceName', `Resource name ${name} is invalid.`);
    const number = ++this.#addresses;
    return this.#add(types.address, name, {
      location, tags, sku: sku ?? { name: 'Basic', tier: 'Regional' }, zones,
      properties: { publicIPAddressVersion: 'IPv4', publicIPAllocationMethod: 'Dynamic', idleTimeoutInMinutes: 4, ...properties, provisioningState: 'Succeeded', ipAddress: `20.0.${number >> 8}.${number & 255}` },
    });
  }

  putNic(name, { location, tags, properties = {} }) {
    const configurations = properties.ipConfigurations ?? [];
    if (configurations.length === 0) throw new Refusal('NetworkInterfaceMustHaveAtLeastOneIpConfiguration', `Network interface ${name} must have at least one IP configuration.`);
    const number = ++this.#addresses;
    const made = configurations.map((configuration, index) => {
      const { subnet, publicIPAddress } = configuration.properties ?? {};
      if (!subnets.some(id => id.toLowerCase() === (subnet?.id ?? '').toLowerCase())) throw new Refusal('InvalidResourceReference', `Resource ${subnet?.id} referenced by resource ${idOf(types.nic, name)} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`);
      const address = publicIPAddress && this.named(publicIPAddress.id);
      if (publicIPAddress && !address) throw new Refusal('InvalidResourceReference', `Resource ${publicIPAddress.id} referenced by resource ${idOf(types.nic, name)} was not found.`);
      if (address) address.properties.ipConfiguration = { id: `${idOf(types.nic, name)}/ipConfigurations/${configuration.name}` };
      return {
        id: `${idOf(types.nic, name)}/ipConfigurations/${configuration.name}`, name: configuration.name,
        properties: { privateIPAllocationMethod: 'Dynamic', privateIPAddressVersion: 'IPv4', ...configuration.properties, primary: index === 0, provisioningState: 'Succeeded', privateIPAddress: `10.0.${(number >> 8) & 255}.${number & 255}` },
      };
    });
    return this.#add(types.nic, name, { location, tags, properties: { ...properties, ipConfigurations: made, provisioningState: 'Succeeded', resourceGuid: randomUUID() } });
  }

  putDisk(name, { location, tags, zones, sku, properties = {} }) {
    return this.#add(types.disk, name, {
      location, tags, zones, sku: { name: sku?.name ?? 'Standard_LRS', tier: 'Standard' },
      properties: { diskSizeGB: 30, creationData: { createOption: 'Empty' }, ...properties, provisioningState: 'Succeeded', diskState: 'Unattached', uniqueId: randomUUID(), timeCreated: new Date(this.operations.now()).toISOString() },
    });
  }

  // What is in use stays.
  remove(type, name) {
    const resource = this.get(type, name);
    if (type === types.nic && resource.properties.virtualMachine)
      throw new Refusal('NicInUse', `Network Interface ${resource.id} is used by existing resource ${resource.properties.virtualMachine.id}. In order to delete the network interface, it must be dissociated from the resource.`);
    if (type === types.address && resource.properties.ipConfiguration)
      throw new Refusal('PublicIPAddressCannotBeDeleted', `Public IP address ${resource.id} can not be deleted since it is still allocated to resource ${resource.properties.ipConfiguration.id}.`);
    if (type === types.disk && resource.managedBy) throw new Refusal('OperationNotAllowed', `Disk ${name} is attached to VM ${resource.managedBy}.`);
    return this.operations.begin(resource.location, () => this.drop(resource));
  }

  // A network interface lets go of its addresses, and takes those with it that are to be deleted with it.
  drop(resource) {
    this.all.delete(keyOf(resource.id));
    if (resource.type !== types.nic) return;
    for (const { properties } of resource.properties.ipConfigurations) {
      const address = properties.publicIPAddress && this.named(properties.publicIPAddress.id);
      if (!address) continue;
      delete address.properties.ipConfiguration;
      if (address.properties.deleteOption === 'Delete' || properties.publicIPAddress.properties?.deleteOption === 'Delete') this.drop(address);
    }
  }

  describe({ id, name, type, location, tags, zones, sku, properties, managedBy }) {
    return { id, name, type, location, ...(tags && { tags }), ...(zones && { zones }), ...(sku && { sku }), ...(managedBy && { managedBy }), ...(type.includes('Network') && { etag: `W/"${randomBytes(4).toString('hex')}"` }), properties };
  }
}

export { subscription };
