// The instances of this AWS: launched, seen, tagged, taken away. Nothing here knows HTTP.
import { randomBytes } from 'node:crypto';

import { groupOf, images, quotaFor, regionOfZone, subnets, subnetOf, typeNamed, vpcOf } from './catalogue.mjs';
import { Refusal } from './refusal.mjs';

const newId = prefix => `${prefix}-0${randomBytes(8).toString('hex')}`;
const idPattern = /^i-([0-9a-f]{8}|[0-9a-f]{17})$/;
const canonical = value => JSON.stringify(value, (_, item) =>
  item && item.constructor === Object ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item);

export class Instances {
  all = new Map(); // by instance id
  history = []; // all that were ever launched
  #tokens = new Map(); // account, region and ClientToken -> {parameters, ids}
  #addresses = 0;

  constructor(settings, now) {
    this.settings = settings;
    this.now = now;
  }

  // RunInstances. Returns the instances, the same ones if the token was used with the same parameters before.
  run(account, region, parameters) {
    const key = parameters.ClientToken && `${account} ${region} ${parameters.ClientToken}`;
    const before = key && this.#tokens.get(key);
    if (before) {
      if (before.parameters !== canonical(parameters))
        throw new Refusal('IdempotentParameterMismatch', 'Arguments on this idempotent request are inconsistent with arguments used in previous request(s).');
      const there = before.ids.map(id => this.all.get(id)).filter(instance => instance && this.stateOf(instance) !== 'terminated');
      if (there.length === 0) throw new Refusal('IdempotentInstanceTerminated', 'The client token of this request was used before, for instances that have been terminated.');
      return before.ids.map(id => this.all.get(id)).filter(Boolean);
    }
    const wanted = this.#checked(account, region, parameters);
    const count = this.#possible(account, region, parameters, wanted);
    const reservation = newId('r');
    const made = Array.from({ length: count }, (_, index) => this.#launch(account, region, parameters, wanted, reservation, index));
    if (key) this.#tokens.set(key, { parameters: canonical(parameters), ids: made.map(instance => instance.id) });
    return made;
  }

  #checked(account, region, parameters) {
    const { MinCount, MaxCount, ImageId, InstanceType = 'm1.small', SubnetId, Placement, UserData, InstanceMarketOptions } = parameters;
    if (MinCount < 1 || MaxCount < MinCount) throw invalid(`Minimum instance count (${MinCount}) must be positive, and not more than the maximum (${MaxCount}).`);
    const image = images.find(entry => entry.id === ImageId);
    if (ImageId === undefined) throw new Refusal('MissingParameter', 'The request must contain the parameter ImageId');
    if (!/^ami-[0-9a-f]+$/.test(ImageId)) throw new Refusal('InvalidAMIID.Malformed', `Invalid id: "${ImageId}" (expecting "ami-...")`);
    if (!image) throw new Refusal('InvalidAMIID.NotFound', `The image id '[${ImageId}]' does not exist`);
    const subnet = this.#subnet(region, SubnetId);
    const zone = subnet?.zone ?? Placement?.AvailabilityZone ?? `${region}a`;
    if (subnet && Placement?.AvailabilityZone && Placement.AvailabilityZone !== zone)
      throw new Refusal('InvalidParameterCombination', `The subnet ${SubnetId} is not in ${Placement.AvailabilityZone}`);
    if (regionOfZone(zone) !== region || !subnets.some(entry => entry.zone === zone)) throw invalid(`Invalid availability zone: [${zone}]`);
    const type = typeNamed(InstanceType);
    if (!type) throw new Refusal('Unsupported', `Your requested instance type (${InstanceType}) is not supported in your requested Availability Zone (${zone}).`);
    if (type.architecture !== image.architecture) throw invalid(`The architecture '${type.architecture}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI.`);
    this.#checkGroups(region, parameters.SecurityGroupIds);
    if (UserData !== undefined) readUserData(UserData);
    const market = InstanceMarketOptions?.MarketType === 'spot' ? 'spot' : 'onDemand';
    const bid = Number(InstanceMarketOptions?.SpotOptions?.MaxPrice ?? Infinity);
    const price = this.spotPrice(zone, InstanceType);
    if (market === 'spot' && bid < price) throw new Refusal('SpotMaxPriceTooLow', `Your Spot request price of ${bid} is lower than the minimum required Spot request fulfillment price of ${price}.`);
    return { zone, type, market, image };
  }

  #subnet(region, id) {
    if (id === undefined) return undefined;
    const found = subnets.find(entry => entry.id === id && entry.region === region);
    if (!found) throw new Refusal('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
    return found;
  }

  #checkGroups(region, ids = []) {
    for (const id of ids)
      if (id !== groupOf(region)) throw new Refusal('InvalidGroup.NotFound', `The security group '${id}' does not exist in VPC '${vpcOf(region)}'`);
  }

  // How many of MinCount to MaxCount there is room for.
  #possible(account, region, { MinCount, MaxCount }, { zone, type, market }) {
    const room = this.settings.capacity[`${zone} ${market} ${type.name}`] ?? this.settings.capacity[`${zone} ${type.name}`] ?? Infinity;
    const taken = this.living().filter(entry => entry.zone === zone && entry.type === type.name && (entry.market === market || room === Infinity)).length;
    if (room - taken < MinCount)
      throw new Refusal('InsufficientInstanceCapacity', `We currently do not have sufficient ${type.name} capacity in the Availability Zone you requested (${zone}). Our system will be working on provisioning additional capacity.`);
    const quota = quotaFor(type.name, market);
    const limit = this.settings.quotas[quota.code] ?? quota.value;
    const used = this.living().filter(entry => entry.account === account && entry.region === region && quotaFor(entry.type, entry.market).code === quota.code)
      .reduce((sum, entry) => sum + typeNamed(entry.type).vcpus, 0);
    const allowed = Math.floor((limit - used) / type.vcpus);
    if (allowed < MinCount && market === 'spot') throw new Refusal('MaxSpotInstanceCountExceeded', 'Max spot instance count exceeded');
    if (allowed < MinCount)
      throw new Refusal('VcpuLimitExceeded', `You have requested more vCPU capacity than your current vCPU limit of ${limit} allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.`);
    return Math.min(MaxCount, room - taken, allowed);
  }

  #launch(account, region, parameters, { zone, type, market, image }, reservation, index) {
    const number = ++this.#addresses;
    const instance = {
      id: newId('i'), account, region, zone, reservation, index, market,
      type: type.name, image: image.id, architecture: image.architecture,
      subnet: subnetOf(zone), vpc: vpcOf(region), group: groupOf(region),
      address: `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`,
      token: parameters.ClientToken,
      tags: tagsFor(parameters, 'instance'), volumeTags: tagsFor(parameters, 'volume'),
      userData: parameters.UserData === undefined ? undefined : readUserData(parameters.UserData),
      tokensRequired: parameters.MetadataOptions?.HttpTokens === 'required',
      protected: parameters.DisableApiTermination === true,
      launched: this.now(),
    };
    this.all.set(instance.id, instance);
    this.history.push(instance);
    return instance;
  }

  // AWS forgets a while after the end.
  sweep() {
    for (const [id, instance] of this.all)
      if (instance.ended !== undefined && this.now() - instance.ended > this.settings.forgetMs) this.all.delete(id);
  }

  stateOf(instance) {
    const now = this.now();
    if (instance.ended !== undefined) return now - instance.ended < this.settings.shutdownMs ? 'shutting-down' : 'terminated';
    return now - instance.launched < this.settings.bootMs ? 'pending' : 'running';
  }

  living() {
    return [...this.all.values()].filter(instance => instance.ended === undefined);
  }

  // What lists show: not yet what was launched a moment ago.
  visible(account, region) {
    this.sweep();
    const limit = this.now() - this.settings.visibleAfterMs;
    return [...this.all.values()].filter(entry => entry.account === account && entry.region === region && (entry.launched <= limit || this.settings.visibleAfterMs === 0));
  }

  named(account, region, ids) {
    this.sweep();
    for (const id of ids) if (!idPattern.test(id)) throw new Refusal('InvalidInstanceID.Malformed', `Invalid id: "${id}"`);
    const missing = ids.filter(id => this.all.get(id)?.region !== region || this.all.get(id).account !== account);
    if (missing.length === 1) throw new Refusal('InvalidInstanceID.NotFound', `The instance ID '${missing[0]}' does not exist`);
    if (missing.length > 1) throw new Refusal('InvalidInstanceID.NotFound', `The instance IDs '${missing.join(', ')}' do not exist`);
    return ids.map(id => this.all.get(id));
  }

  // TerminateInstances: all or none.
  terminate(account, region, ids) {
    const found = this.named(account, region, ids);
    const kept = found.find(instance => instance.protected);
    if (kept) throw new Refusal('OperationNotPermitted', `The instance '${kept.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.`);
    return found.map(instance => {
      const previous = this.stateOf(instance);
      this.end(instance);
      return { instance, previous };
    });
  }

  end(instance, reason = 'Client.UserInitiatedShutdown') {
    instance.ended ??= this.now();
    instance.reason ??= reason;
  }

  spotPrice(zone, typeName) {
    return this.settings.spotPrices[`${zone} ${typeName}`] ?? typeNamed(typeName).spot;
  }
}

const invalid = message => new Refusal('InvalidParameterValue', message);

function readUserData(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) throw invalid('Invalid BASE64 encoding of user data');
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > 16384) throw invalid('User data is limited to 16384 bytes');
  return bytes;
}

function tagsFor(parameters, resource) {
  const tags = {};
  for (const specification of parameters.TagSpecifications ?? [])
    if (specification.ResourceType === resource)
      for (const { Key, Value = '' } of specification.Tags ?? []) {
        if (Key in tags) throw invalid(`Duplicate tag key '${Key}' specified.`);
        tags[Key] = Value;
      }
  checkTags(tags);
  return tags;
}

export function checkTags(tags) {
  const keys = Object.keys(tags);
  if (keys.length > 50) throw new Refusal('TagLimitExceeded', 'The maximum number of Tags for a resource has been reached.');
  for (const key of keys) {
    if (key === '' || key.length > 127 || /^aws:/i.test(key)) throw invalid(`Tag keys starting with 'aws:' are reserved, and a key has 1 to 127 characters: '${key}'`);
    if (tags[key].length > 255) throw invalid(`Tag value exceeds the maximum length of 255 characters: '${key}'`);
  }
}
