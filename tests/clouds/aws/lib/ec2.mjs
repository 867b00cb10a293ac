// The actions of EC2 that this AWS knows. Each takes the parameters in the official client's spelling and returns its answer.
import { groupOf, images, instanceTypes, optInRegions, regions, regionNamed, subnets, vpcOf } from './catalogue.mjs';
import { filtered, paged } from './filters.mjs';
import { checkTags } from './instances.mjs';
import { Refusal } from './refusal.mjs';

const stateCodes = { pending: 0, running: 16, 'shutting-down': 32, terminated: 48, stopping: 64, stopped: 80 };
const stateOf = name => ({ Code: stateCodes[name], Name: name });
const tagList = tags => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
const price = value => value.toFixed(6);

export class Ec2 {
  constructor(instances, settings, now) {
    Object.assign(this, { instances, settings, now });
  }

  // Whether an action changes something: a lost answer matters then.
  perform(action, parameters, { account, region }) {
    if (!regionNamed(region)) throw new Refusal(optInRegions.includes(region) ? 'OptInRequired' : 'AuthFailure', `AWS was not able to validate the provided access credentials in ${region}`, 401);
    if (!(action in Ec2.actions)) throw new Refusal('InvalidAction', `This AWS does not know ${action}`);
    if (parameters.DryRun) {
      if (action === 'RunInstances' && !images.some(image => image.id === parameters.ImageId)) throw new Refusal('InvalidAMIID.NotFound', `The image id '[${parameters.ImageId}]' does not exist`);
      throw new Refusal('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
    }
    return Ec2.actions[action].call(this, parameters, account, region);
  }

  static actions = {
    RunInstances(parameters, account, region) {
      const made = this.instances.run(account, region, parameters);
      return this.reservation(made, account);
    },

    DescribeInstances(parameters, account, region) {
      if (parameters.InstanceIds && parameters.MaxResults) throw new Refusal('InvalidParameterCombination', 'The parameter instancesSet cannot be used with the parameter maxResults');
      const known = parameters.InstanceIds ? this.instances.named(account, region, parameters.InstanceIds) : this.instances.visible(account, region);
      const found = filtered(known, parameters.Filters, {
        'instance-state-name': entry => this.instances.stateOf(entry),
        'instance-id': entry => entry.id,
        'state-reason-code': entry => entry.reason,
        'availability-zone': entry => entry.zone,
        'image-id': entry => entry.image,
        'instance-type': entry => entry.type,
        'client-token': entry => entry.token,
        'reservation-id': entry => entry.reservation,
        'instance-lifecycle': entry => (entry.market === 'spot' ? 'spot' : undefined),
      });
      const { page, next } = paged(found, parameters, { question: JSON.stringify(parameters.Filters ?? []) });
      const byReservation = new Map();
      for (const instance of page) byReservation.set(instance.reservation, [...(byReservation.get(instance.reservation) ?? []), instance]);
      return { Reservations: [...byReservation.values()].map(group => this.reservation(group, account)), NextToken: next };
    },

    TerminateInstances({ InstanceIds }, account, region) {
      const ended = this.instances.terminate(account, region, InstanceIds);
      return {
        TerminatingInstances: ended.map(({ instance, previous }) => ({
          InstanceId: instance.id, CurrentState: stateOf(this.instances.stateOf(instance)), PreviousState: stateOf(previous),
        })),
      };
    },

    DescribeInstanceStatus(parameters, account, region) {
      const known = parameters.InstanceIds ? this.instances.named(account, region, parameters.InstanceIds) : this.instances.visible(account, region);
      const shown = known.filter(entry => parameters.IncludeAllInstances || this.instances.stateOf(entry) === 'running');
      const { page, next } = paged(shown, parameters);
      return {
        InstanceStatuses: page.map(entry => ({ InstanceId: entry.id, AvailabilityZone: entry.zone, InstanceState: stateOf(this.instances.stateOf(entry)) })),
        NextToken: next,
      };
    },

    CreateTags({ Resources, Tags }, account, region) {
      const found = this.instances.named(account, region, Resources);
      for (const instance of found) {
        const tags = { ...instance.tags, ...Object.fromEntries(Tags.map(({ Key, Value = '' }) => [Key, Value])) };
        checkTags(tags);
        instance.tags = tags;
      }
      return {};
    },

    DescribeRegions(parameters) {
      const all = regions.map(({ name }) => ({ name, OptInStatus: 'opt-in-not-required' }));
      if (parameters.AllRegions) all.push(...optInRegions.map(name => ({ name, OptInStatus: 'not-opted-in' })));
      const unknown = parameters.RegionNames?.find(name => !all.some(entry => entry.name === name));
      if (unknown) throw new Refusal('InvalidParameterValue', `Invalid region provided: ${unknown}`);
      const wanted = all.filter(({ name }) => !parameters.RegionNames || parameters.RegionNames.includes(name));
      const shown = filtered(wanted, parameters.Filters, { 'region-name': entry => entry.name, 'opt-in-status': entry => entry.OptInStatus });
      return { Regions: shown.map(({ name, OptInStatus }) => ({ RegionName: name, Endpoint: `ec2.${name}.amazonaws.com`, OptInStatus })) };
    },

    DescribeAvailabilityZones(parameters, account, region) {
      const all = regionNamed(region).zones.map(zone => ({ zone, state: this.settings.zoneStates[zone] ?? 'available' }));
      const shown = filtered(all, parameters.Filters, {
        'zone-name': entry => entry.zone, state: entry => entry.state, 'region-name': () => region,
        'zone-type': () => 'availability-zone', 'opt-in-status': () => 'opt-in-not-required',
      });
      return {
        AvailabilityZones: shown.filter(({ zone }) => !parameters.ZoneNames || parameters.ZoneNames.includes(zone)).map(({ zone, state }) => ({
          ZoneName: zone, ZoneId: `${zone.replace(/-/g, '')}-az`, RegionName: region, State: state, ZoneType: 'availability-zone', OptInStatus: 'opt-in-not-required',
        })),
      };
    },

    // One price for each zone and type, which changed an hour ago, and one before it.
    DescribeSpotPriceHistory(parameters, account, region) {
      const { InstanceTypes, ProductDescriptions, AvailabilityZone, StartTime, EndTime } = parameters;
      if (ProductDescriptions && !ProductDescriptions.some(text => text.startsWith('Linux/UNIX'))) return { SpotPriceHistory: [] };
      const entries = [];
      for (const zone of regionNamed(region).zones)
        for (const { name, spot } of instanceTypes)
          for (const [age, value] of [[3_600_000, this.instances.spotPrice(zone, name)], [7_200_000, spot * 1.5]])
            entries.push({ zone, name, value, at: this.now() - age });
      const fits = entry => (!InstanceTypes || InstanceTypes.includes(entry.name)) && (!AvailabilityZone || AvailabilityZone === entry.zone) && (!EndTime || entry.at <= EndTime);
      // The price at the start counts, too: the newest one that is older.
      const current = entry => !StartTime || entry.at >= StartTime || !entries.some(other => other.zone === entry.zone && other.name === entry.name && other.at > entry.at && other.at <= StartTime);
      const found = filtered(entries.filter(entry => fits(entry) && current(entry)), parameters.Filters, {
        'instance-type': entry => entry.name, 'availability-zone': entry => entry.zone, 'product-description': () => 'Linux/UNIX',
      });
      const { page, next } = paged(found, parameters, { least: 1 });
      return {
        SpotPriceHistory: page.map(({ zone, name, value, at }) => ({
          AvailabilityZone: zone, InstanceType: name, ProductDescription: 'Linux/UNIX', SpotPrice: price(value), Timestamp: new Date(at),
        })),
        NextToken: next ?? '',
      };
    },

    DescribeInstanceTypes(parameters) {
      const wanted = instanceTypes.filter(({ name }) => !parameters.InstanceTypes || parameters.InstanceTypes.includes(name));
      const unknown = parameters.InstanceTypes?.filter(name => !wanted.some(entry => entry.name === name)) ?? [];
      if (unknown.length > 0) throw new Refusal('InvalidInstanceType', `The following supplied instance types do not exist: [${unknown.join(', ')}]`);
      const { page, next } = paged(filtered(wanted, parameters.Filters, { 'instance-type': entry => entry.name }), parameters, { most: 100 });
      return {
        InstanceTypes: page.map(({ name, vcpus, memory, architecture }) => ({
          InstanceType: name, VCpuInfo: { DefaultVCpus: vcpus }, MemoryInfo: { SizeInMiB: memory }, SupportedUsageClasses: ['on-demand', 'spot'],
          ProcessorInfo: { SupportedArchitectures: [architecture] },
        })),
        NextToken: next,
      };
    },

    DescribeInstanceTypeOfferings(parameters, account, region) {
      const places = parameters.LocationType === 'availability-zone' ? regionNamed(region).zones : [region];
      const all = places.flatMap(location => instanceTypes.map(({ name }) => ({ name, location })));
      const shown = filtered(all, parameters.Filters, { 'instance-type': entry => entry.name, location: entry => entry.location });
      const { page, next } = paged(shown, parameters);
      return {
        InstanceTypeOfferings: page.map(({ name, location }) => ({ InstanceType: name, Location: location, LocationType: parameters.LocationType ?? 'region' })),
        NextToken: next,
      };
    },

    DescribeImages(parameters) {
      const missing = parameters.ImageIds?.filter(id => !images.some(image => image.id === id)) ?? [];
      if (missing.length > 0) throw new Refusal('InvalidAMIID.NotFound', `The image id '[${missing.join(', ')}]' does not exist`);
      const shown = images.filter(({ id }) => !parameters.ImageIds || parameters.ImageIds.includes(id));
      return { Images: shown.map(({ id, architecture }) => ({ ImageId: id, Architecture: architecture, State: 'available', Name: `worker ${architecture}` })) };
    },

    DescribeSubnets(parameters, account, region) {
      const mine = subnets.filter(entry => entry.region === region);
      const missing = parameters.SubnetIds?.find(id => !mine.some(entry => entry.id === id));
      if (missing) throw new Refusal('InvalidSubnetID.NotFound', `The subnet ID '${missing}' does not exist`);
      const wanted = mine.filter(({ id }) => !parameters.SubnetIds || parameters.SubnetIds.includes(id));
      const shown = filtered(wanted, parameters.Filters, { 'subnet-id': entry => entry.id, 'availability-zone': entry => entry.zone, 'vpc-id': entry => entry.vpc });
      return {
        Subnets: shown.map(({ id, zone, vpc }) => ({
          SubnetId: id, AvailabilityZone: zone, VpcId: vpc, State: 'available', AvailableIpAddressCount: this.settings.freeAddresses[id] ?? 4000, CidrBlock: '10.0.0.0/20',
        })),
      };
    },

    DescribeKeyPairs(parameters) {
      const missing = parameters.KeyNames?.find(name => name !== 'build-workers');
      if (missing) throw new Refusal('InvalidKeyPair.NotFound', `The key pair '${missing}' does not exist`);
      return { KeyPairs: [{ KeyName: 'build-workers' }] };
    },

    GetConsoleOutput({ InstanceId }, account, region) {
      this.instances.named(account, region, [InstanceId]);
      return { InstanceId, Output: Buffer.from('Linux version 6.1\n').toString('base64'), Timestamp: new Date(this.now()) };
    },

    DescribeSecurityGroups(parameters, account, region) {
      const missing = parameters.GroupIds?.find(id => id !== groupOf(region));
      if (missing) throw new Refusal('InvalidGroup.NotFound', `The security group '${missing}' does not exist`);
      return { SecurityGroups: [{ GroupId: groupOf(region), GroupName: 'default', Description: 'default', VpcId: vpcOf(region) }] };
    },
  };

  reservation(group, account) {
    return { ReservationId: group[0]?.reservation, OwnerId: account, Instances: group.map(instance => this.describe(instance)) };
  }

  describe(instance) {
    const state = this.instances.stateOf(instance);
    const gone = state === 'terminated';
    return {
      InstanceId: instance.id, ImageId: instance.image, InstanceType: instance.type, AmiLaunchIndex: instance.index,
      State: stateOf(state), LaunchTime: new Date(instance.launched), Architecture: instance.architecture,
      Placement: { AvailabilityZone: instance.zone, Tenancy: 'default' },
      ...(gone ? {} : { PrivateIpAddress: instance.address, SubnetId: instance.subnet, VpcId: instance.vpc }),
      ...(instance.market === 'spot' ? { InstanceLifecycle: 'spot', SpotInstanceRequestId: instance.id.replace('i-', 'sir-') } : {}),
      ...(instance.reason ? { StateReason: { Code: instance.reason, Message: instance.reason } } : {}),
      ...(instance.token ? { ClientToken: instance.token } : {}),
      Tags: tagList(instance.tags),
      MetadataOptions: { HttpTokens: instance.tokensRequired ? 'required' : 'optional', HttpEndpoint: 'enabled', State: 'applied' },
    };
  }
}
