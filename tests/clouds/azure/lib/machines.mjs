// The virtual machines of this Azure: made step by step, seen, evicted, deleted with what belongs to them. Nothing here knows HTTP.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { families, imageId, locations, sizeNamed, usualQuota, withZones } from './catalogue.mjs';
import { notFound, Refusal } from './refusal.mjs';
import { group } from './catalogue.mjs';
import { idOf, types } from './resources.mjs';

const words = {
  SkuNotAvailable: ({ size, location }) => `The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: ${size.name}' is currently not available in location '${location}'. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.`,
  AllocationFailed: () => 'Allocation failed. We do not have sufficient capacity for the requested VM size in this region. Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance',
  ZonalAllocationFailed: () => 'Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance',
  OverconstrainedAllocationRequest: () => 'Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. Please remove some constraints and try again.',
};
// The steps of a creation, in order. What comes before the failing one stays. "accept": the call itself is refused. "allocation": all is there, and the machine does not start.
export const steps = ['address', 'nic', 'accept', 'disk', 'allocation'];

export class VirtualMachines {
  all = new Map(); // by name in lower case: {id (the name), vmId, location, size, market, zone, tags, body, nics, disks, created, ended}
  history = [];

  constructor(resources, operations, settings, now) {
    Object.assign(this, { resources, operations, settings, now });
  }

  // PUT. Returns {machine, operation, created}.
  put(name, body, { onlyIfNew = false } = {}) {
    this.operations.sweep();
    const before = this.all.get(name.toLowerCase());
    if (before && !before.gone) {
      if (onlyIfNew) throw new Refusal('PreconditionFailed', `The resource ${idOf(types.machine, name)} exists already: the condition If-None-Match is not met.`);
      if (!isDeepStrictEqual(body.properties.hardwareProfile, before.body.properties.hardwareProfile) || body.location !== before.location)
        throw new Refusal('PropertyChangeNotAllowed', `Changing property 'hardwareProfile' is not allowed.`, { target: 'hardwareProfile' });
      return { machine: before, operation: this.operations.begin(before.location, () => {}), created: false };
    }
    const wanted = this.#checked(name, body);
    return { ...this.#create(name, body, wanted), created: true };
  }

  #checked(name, { location, zones, properties = {} }) {
    if (!/^[A-Za-z0-9]([\w.-]{0,62}\w)?$/.test(name)) throw new Refusal('InvalidParameter', `The entity name 'vmName' is invalid according to its validation rule: ^[^_\\W][\\w-._]{0,79}(?<![-.])$.`, { target: 'vmName' });
    if (!locations.includes(location)) throw new Refusal('LocationNotAvailableForResourceType', `The provided location '${location}' is not available for resource type 'Microsoft.Compute/virtualMachines'. List of available regions for the resource type is '${locations.join(',')}'.`);
    const { hardwareProfile, storageProfile, networkProfile, osProfile, priority, evictionPolicy, billingProfile } = properties;
    const missing = what => new Refusal('InvalidParameter', `Required parameter '${what}' is missing (null).`, { target: what });
    if (!hardwareProfile?.vmSize) throw missing('hardwareProfile.vmSize');
    const size = sizeNamed(hardwareProfile.vmSize);
    if (!size) throw new Refusal('InvalidParameter', `The value ${hardwareProfile.vmSize} provided for the VM size is not valid. The valid sizes in the current region are: ...`, { target: 'vmSize' });
    if (!storageProfile?.osDisk?.createOption) throw missing('storageProfile.osDisk.createOption');
    const image = storageProfile.imageReference;
    if (!image || (image.id ? image.id.toLowerCase() !== imageId.toLowerCase() : !(image.publisher && image.offer && image.sku && image.version)))
      throw new Refusal('InvalidParameter', `The image reference ${JSON.stringify(image)} was not found.`, { target: 'imageReference' });
    if (!osProfile?.computerName || !osProfile.adminUsername) throw missing('osProfile');
    if (!osProfile.adminPassword && !osProfile.linuxConfiguration?.disablePasswordAuthentication) throw missing('osProfile.adminPassword');
    if (osProfile.customData && (!/^[A-Za-z0-9+/]*={0,2}$/.test(osProfile.customData) || osProfile.customData.length > 87380)) throw new Refusal('InvalidParameter', 'Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.', { target: 'customData' });
    if (!networkProfile?.networkInterfaces?.length && !networkProfile?.networkInterfaceConfigurations?.length) throw missing('networkProfile');
    if (networkProfile.networkInterfaceConfigurations && !networkProfile.networkApiVersion) throw missing('networkProfile.networkApiVersion');
    if (zones?.length && (!withZones.includes(location) || !['1', '2', '3'].includes(zones[0]))) throw new Refusal('InvalidAvailabilityZone', `The zone(s) '${zones}' for resource is not supported. The supported zones for location '${location}' are '${withZones.includes(location) ? '1,2,3' : ''}'`);
    const market = priority ?? 'Regular';
    if (market === 'Regular' && (evictionPolicy || billingProfile)) throw new Refusal('OperationNotAllowed', 'Eviction policy and billing profile can be set only on Spot machines.', { status: 400 });
    const wanted = { location, zone: zones?.[0], size, market };
    this.#checkOffer(wanted);
    this.#checkQuota(wanted);
    return wanted;
  }

  #place({ location, zone, size, market }, table) {
    const places = zone ? [`${location}-${zone}`, location] : [location];
    for (const place of places) for (const key of [`${place} ${market} ${size.name}`, `${place} ${size.name}`, place]) if (key in table) return table[key];
    return undefined;
  }

  #checkOffer(wanted) {
    if (this.#place(wanted, this.settings.notAvailable)) throw new Refusal('SkuNotAvailable', words.SkuNotAvailable(wanted));
  }

  // The quotas that a machine counts for.
  quotasOf({ size, market }) {
    return market === 'Spot' ? ['lowPriorityCores'] : ['cores', size.family];
  }
  limit(location, name) {
    return this.settings.quotas[`${location} ${name}`] ?? this.settings.quotas[name] ?? usualQuota;
  }
  used(location, name) {
    return this.living().filter(machine => machine.location === location && (name === 'virtualMachines' || this.quotasOf(machine).includes(name)))
      .reduce((sum, machine) => sum + (name === 'virtualMachines' ? 1 : machine.size.cpus), 0);
  }

  #checkQuota(wanted) {
    for (const name of this.quotasOf(wanted)) {
      const [limit, used, more] = [this.limit(wanted.location, name), this.used(wanted.location, name), wanted.size.cpus];
      if (used + more > limit)
        throw new Refusal('OperationNotAllowed', `Operation could not be completed as it results in exceeding approved ${name === 'lowPriorityCores' ? 'LowPriorityCores' : name === 'cores' ? 'Total Regional Cores' : `${name} Cores`} quota. Additional details - Deployment Model: Resource Manager, Location: ${wanted.location}, Current Limit: ${limit}, Current Usage: ${used}, Additional Required: ${more}, (Minimum) New Limit Required: ${used + more}. Setup Alerts when Quota reaches threshold.`);
    }
  }

  usages(location) {
    const entry = (value, localizedValue) => ({ unit: 'Count', currentValue: this.used(location, value), limit: this.limit(location, value), name: { value, localizedValue } });
    return [entry('virtualMachines', 'Virtual Machines'), entry('cores', 'Total Regional vCPUs'), entry('lowPriorityCores', 'Total Regional Spot vCPUs'), ...families.map(family => entry(family, `${family} vCPUs`))];
  }

  // The step at which this creation fails, if it does.
  #trouble(wanted) {
    const fits = entry => (entry.location ?? wanted.location) === wanted.location && (entry.size ?? wanted.size.name) === wanted.size.name && (entry.market ?? wanted.market) === wanted.market && (entry.zone ?? wanted.zone) === wanted.zone;
    const told = this.settings.createErrors.find(entry => fits(entry) && (entry.times ?? 1) > 0);
    if (told?.times !== undefined) told.times -= 1;
    if (told) return { step: 'allocation', ...told, message: told.message ?? words[told.code]?.(wanted) ?? `The test asked for ${told.code}.` };
    const most = this.#place(wanted, this.settings.capacity) ?? Infinity;
    const there = this.living().filter(entry => entry.location === wanted.location && entry.size === wanted.size).length;
    if (there < most) return undefined;
    const code = wanted.zone ? 'ZonalAllocationFailed' : 'AllocationFailed';
    return { step: 'allocation', code, message: words[code](wanted) };
  }

  #create(name, body, wanted) {
    const trouble = this.#trouble(wanted);
    const reached = trouble ? steps.indexOf(trouble.step) : steps.length;
    const does = step => steps.indexOf(step) < reached;
    const machine = {
      id: name, name, vmId: randomUUID(), ...wanted, tags: body.tags ?? {}, body, nics: [], disks: [], created: this.now(), userData: body.properties.userData,
      customData: body.properties.osProfile.customData && Buffer.from(body.properties.osProfile.customData, 'base64'), events: [],
    };
    this.#makeNetwork(machine, does);
    if (trouble?.step === 'accept') throw new Refusal(trouble.code, trouble.message, { status: trouble.status ?? 409 });
    const error = trouble && { code: trouble.code, message: trouble.message };
    this.all.set(name.toLowerCase(), machine);
    this.history.push(machine);
    machine.operation = this.operations.begin(machine.location, () => {
      if (does('disk')) this.#makeDisks(machine);
      for (const nic of machine.nics) nic.properties.virtualMachine = { id: idOf(types.machine, name) };
      if (!error) return;
      machine.failure = error;
      machine.ended = this.now();
    }, error);
    return { machine, operation: machine.operation };
  }

  #makeNetwork(machine, does) {
    const { networkInterfaces = [], networkInterfaceConfigurations = [] } = machine.body.properties.networkProfile;
    for (const { id } of networkInterfaces) {
      const nic = this.resources.named(id);
      if (!nic) throw new Refusal('InvalidResourceReference', `Resource ${id} referenced by resource ${idOf(types.machine, machine.name)} was not found.`);
      if (nic.properties.virtualMachine) throw new Refusal('OperationNotAllowed', `Network interface ${id} is in use by another machine.`);
      machine.nics.push(nic);
    }
    for (const { name, properties } of networkInterfaceConfigurations) {
      const ipConfigurations = (properties.ipConfigurations ?? []).map(configuration => {
        const { publicIPAddressConfiguration: open, ...inside } = configuration.properties ?? {};
        const address = open && does('address') && this.resources.putAddress(open.name, { location: machine.location, sku: open.sku, zones: machine.zone && [machine.zone], properties: { ...open.properties } });
        return { name: configuration.name, properties: { subnet: inside.subnet, ...(address && { publicIPAddress: { id: address.id } }) } };
      });
      if (!does('nic')) continue;
      const nic = this.resources.putNic(name, { location: machine.location, properties: { ipConfigurations, primary: properties.primary ?? true, enableAcceleratedNetworking: properties.enableAcceleratedNetworking ?? false } });
      nic.deleteWith = properties.deleteOption === 'Delete';
      machine.nics.push(nic);
    }
  }

  #makeDisks(machine) {
    const { osDisk, dataDisks = [] } = machine.body.properties.storageProfile;
    const all = [{ name: `${machine.name}_OsDisk_1_${machine.vmId.replace(/-/g, '')}`, ...osDisk, os: true }, ...dataDisks.map(disk => ({ name: `${machine.name}_disk${disk.lun}`, ...disk }))];
    for (const wanted of all) {
      const disk = this.resources.putDisk(wanted.name, {
        location: machine.location, zones: machine.zone && [machine.zone], sku: { name: wanted.managedDisk?.storageAccountType ?? 'Standard_LRS' },
        properties: { diskSizeGB: wanted.diskSizeGB ?? 30, creationData: { createOption: wanted.createOption === 'FromImage' ? 'FromImage' : 'Empty' }, ...(wanted.os && { osType: 'Linux' }) },
      });
      disk.managedBy = idOf(types.machine, machine.name);
      disk.properties.diskState = 'Attached';
      machine.disks.push({ disk, deleteWith: wanted.deleteOption === 'Delete', os: wanted.os });
    }
  }

  known(name) {
    this.operations.sweep();
    const found = this.all.get(name.toLowerCase());
    if (!found || found.gone) throw notFound(group, types.machine, name);
    return found;
  }

  // Those that run, or will.
  living() {
    return [...this.all.values()].filter(machine => machine.ended === undefined);
  }

  // What lists show: not yet what was created a moment ago.
  visible() {
    this.operations.sweep();
    const limit = this.now() - this.settings.visibleAfterMs;
    return [...this.all.values()].filter(machine => !machine.gone && (this.settings.visibleAfterMs === 0 || machine.created <= limit));
  }

  delete(name) {
    const machine = this.known(name);
    machine.ended ??= this.now();
    machine.deletion ??= this.operations.begin(machine.location, () => this.#remove(machine));
    return machine.deletion;
  }

  // deleteOption says what goes with it; the rest stays, attached to nothing.
  #remove(machine) {
    machine.ended ??= this.now();
    machine.gone = true;
    for (const { disk, deleteWith } of machine.disks) {
      delete disk.managedBy;
      disk.properties.diskState = 'Unattached';
      if (deleteWith) this.resources.drop(disk);
    }
    const references = machine.body.properties.networkProfile.networkInterfaces ?? [];
    for (const nic of machine.nics) {
      delete nic.properties.virtualMachine;
      const reference = references.find(({ id }) => id.toLowerCase() === nic.id.toLowerCase());
      if (nic.deleteWith || reference?.properties?.deleteOption === 'Delete') this.resources.drop(nic);
    }
    this.later?.(60_000, () => this.all.get(machine.name.toLowerCase()) === machine && this.all.delete(machine.name.toLowerCase()));
  }

  // Azure takes a Spot machine: by its policy it is deleted, or it stays without power.
  evict(machine) {
    if (machine.ended !== undefined) return;
    machine.ended = this.now();
    machine.evicted = true;
    if (machine.body.properties.evictionPolicy === 'Delete') this.#remove(machine);
  }

  // Gone without anybody's request, with what belongs to it left behind.
  vanish(machine) {
    machine.ended ??= this.now();
    machine.gone = true;
    for (const nic of machine.nics) delete nic.properties.virtualMachine;
    for (const { disk } of machine.disks) {
      delete disk.managedBy;
      disk.properties.diskState = 'Unattached';
    }
  }

  provisioningState(machine) {
    if (machine.deletion && !machine.gone) return 'Deleting';
    if (!this.operations.isDone(machine.operation)) return 'Creating';
    return machine.failure ? 'Failed' : 'Succeeded';
  }

  instanceView(machine) {
    const state = this.provisioningState(machine);
    const time = new Date(machine.ended ?? machine.created).toISOString();
    const power = machine.evicted ? 'deallocated' : state === 'Succeeded' ? (this.now() - machine.created < this.settings.bootMs ? 'starting' : 'running') : undefined;
    return {
      statuses: [
        state === 'Failed'
          ? { code: `ProvisioningState/failed/${machine.failure.code}`, level: 'Error', displayStatus: 'Provisioning failed', message: machine.failure.message, time }
          : { code: `ProvisioningState/${state.toLowerCase()}`, level: 'Info', displayStatus: `Provisioning ${state.toLowerCase()}`, time },
        ...(power ? [{ code: `PowerState/${power}`, level: 'Info', displayStatus: `VM ${power}` }] : []),
      ],
    };
  }

  describe(machine, { view = false, userData = false } = {}) {
    const { properties, location, zones, identity, plan } = machine.body;
    const { adminPassword, customData, ...osProfile } = properties.osProfile;
    const { userData: hidden, networkProfile, ...rest } = properties;
    const disks = machine.disks.map(({ disk }) => ({ id: disk.id, storageAccountType: disk.sku.name }));
    return {
      id: idOf(types.machine, machine.name), name: machine.name, type: types.machine, location, tags: machine.tags, ...(zones && { zones }), ...(identity && { identity }), ...(plan && { plan }),
      properties: {
        ...rest, osProfile: { ...osProfile, secrets: [], allowExtensionOperations: true, requireGuestProvisionSignal: true }, vmId: machine.vmId, timeCreated: new Date(machine.created).toISOString(), provisioningState: this.provisioningState(machine),
        storageProfile: {
          ...properties.storageProfile, osDisk: { osType: 'Linux', ...properties.storageProfile.osDisk, ...(machine.disks.length && { name: machine.disks[0].disk.name, managedDisk: disks[0] }) },
          dataDisks: (properties.storageProfile.dataDisks ?? []).map((disk, index) => ({ ...disk, ...(disks[index + 1] && { managedDisk: disks[index + 1] }) })),
        },
        networkProfile: { networkInterfaces: machine.nics.map((nic, index) => ({ id: nic.id, properties: { primary: index === 0, deleteOption: nic.deleteWith ? 'Delete' : 'Detach' } })) },
        ...(view && { instanceView: this.instanceView(machine) }), ...(userData && hidden && { userData: hidden }),
      },
    };
  }
}
