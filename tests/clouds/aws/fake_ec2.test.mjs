// The fake EC2, driven by AWS's own client.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';

import { groupOf, subnetOf } from './lib/catalogue.mjs';
import { FakeAws } from './lib/fake_aws.mjs';
import { officialClient } from './lib/official_client.mjs';

const image = 'ami-0123456789abcdef0';
const launch = { ImageId: image, InstanceType: 'm5.large', MinCount: 1, MaxCount: 1 };
const spot = { MarketType: 'spot', SpotOptions: { SpotInstanceType: 'one-time' } };

describe('the fake EC2', () => {
  let fake;
  let ec2;
  const run = more => ec2.runInstances({ ...launch, ...more }).promise();
  const refused = (promise, code, words = /./) => assert.rejects(promise, error => error.code === code && words.test(error.message));
  const living = async (parameters = {}) => ((await ec2.describeInstances(parameters).promise()).Reservations ?? []).flatMap(entry => entry.Instances);

  beforeEach(async () => {
    await fake?.close();
    fake = await FakeAws.start();
    ec2 = officialClient('ec2', fake);
  });
  after(() => fake.close());

  it('refuses_what_is_not_in_the_model', async () => {
    const loose = officialClient('ec2', fake, { paramValidation: false });
    const wrong = parameters => loose.runInstances({ ...launch, ...parameters }).promise();
    await refused(wrong({ MinCount: undefined }), 'MissingParameter', /MinCount/);
    await refused(wrong({ MaxCount: 'many' }), 'InvalidParameterValue', /MaxCount/);
    await refused(wrong({ InstanceType: 'm5.enormous' }), 'InvalidParameterValue', /InstanceType/);
    await refused(wrong({ InstanceMarketOptions: { MarketType: 'auction' } }), 'InvalidParameterValue', /MarketType/);
    await refused(wrong({ DisableApiTermination: 'perhaps' }), 'InvalidParameterValue', /DisableApiTermination/);
    const unknown = loose.makeRequest('runInstances', launch);
    unknown.on('build', () => (unknown.httpRequest.body += '&Colour=red'));
    await refused(unknown.promise(), 'UnknownParameter', /Colour/);
    const action = loose.makeRequest('runInstances', launch);
    action.on('build', () => (action.httpRequest.body = 'Action=StartFire&Version=2016-11-15'));
    await refused(action.promise(), 'InvalidAction', /StartFire/);
    assert.equal(fake.instances.all.size, 0);
  });

  it('refuses_images_subnets_groups_zones_and_user_data_that_are_wrong', async () => {
    await refused(run({ ImageId: 'ami-0000000000000dead' }), 'InvalidAMIID.NotFound');
    await refused(run({ ImageId: 'my image' }), 'InvalidAMIID.Malformed');
    await refused(run({ SubnetId: subnetOf('us-west-2a') }), 'InvalidSubnetID.NotFound');
    await refused(run({ SecurityGroupIds: ['sg-1'] }), 'InvalidGroup.NotFound');
    await refused(run({ Placement: { AvailabilityZone: 'us-east-1z' } }), 'InvalidParameterValue', /us-east-1z/);
    await refused(run({ SubnetId: subnetOf('us-east-1a'), Placement: { AvailabilityZone: 'us-east-1b' } }), 'InvalidParameterCombination');
    await refused(run({ UserData: 'not base64' }), 'InvalidParameterValue', /BASE64/);
    await refused(run({ UserData: Buffer.alloc(16385).toString('base64') }), 'InvalidParameterValue', /16384/);
    await refused(run({ InstanceType: 'c6g.large' }), 'InvalidParameterValue', /architecture/);
    await refused(run({ InstanceType: 'u-6tb1.metal' }), 'Unsupported');
    await refused(run({ TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'aws:x', Value: '' }] }] }), 'InvalidParameterValue', /aws:/);
  });

  it('launches_tags_shows_and_terminates', async () => {
    const made = await run({
      MaxCount: 3, SubnetId: subnetOf('us-east-1b'), SecurityGroupIds: [groupOf('us-east-1')], InstanceMarketOptions: spot,
      TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'a', Value: 'b <&>' }] }, { ResourceType: 'volume', Tags: [{ Key: 'a', Value: 'b' }] }],
    });
    assert.deepEqual(made.Instances.map(entry => entry.AmiLaunchIndex), [0, 1, 2]);
    const shown = await living({ Filters: [{ Name: 'tag:a', Values: ['b*'] }, { Name: 'instance-state-name', Values: ['pending', 'running'] }] });
    assert.equal(shown.length, 3);
    assert.equal(shown[0].Placement.AvailabilityZone, 'us-east-1b');
    assert.equal(shown[0].InstanceLifecycle, 'spot');
    assert.deepEqual(shown[0].Tags, [{ Key: 'a', Value: 'b <&>' }]);
    assert.ok(shown[0].LaunchTime instanceof Date);
    const id = shown[0].InstanceId;
    await ec2.createTags({ Resources: [id], Tags: [{ Key: 'c', Value: 'd' }] }).promise();
    assert.equal((await living({ Filters: [{ Name: 'tag-key', Values: ['c'] }] })).length, 1);
    fake.configure({ shutdownMs: 3_600_000 });
    const ended = await ec2.terminateInstances({ InstanceIds: [id] }).promise();
    assert.equal(ended.TerminatingInstances[0].CurrentState.Name, 'shutting-down');
    fake.configure({ shutdownMs: 0 });
    assert.equal((await living({ InstanceIds: [id] }))[0].State.Name, 'terminated');
    fake.configure({ forgetMs: -1 });
    await refused(living({ InstanceIds: [id] }), 'InvalidInstanceID.NotFound');
    await refused(ec2.terminateInstances({ InstanceIds: [id, shown[1].InstanceId] }).promise(), 'InvalidInstanceID.NotFound', new RegExp(id));
    assert.equal(fake.instances.living().length, 2, 'none of a call that is refused is terminated');
    await refused(ec2.terminateInstances({ InstanceIds: ['x'] }).promise(), 'InvalidInstanceID.Malformed');
  });

  it('launches_once_for_a_token', async () => {
    const first = await run({ ClientToken: 'once', MaxCount: 2 });
    const again = await run({ ClientToken: 'once', MaxCount: 2 });
    assert.deepEqual(again.Instances.map(entry => entry.InstanceId), first.Instances.map(entry => entry.InstanceId));
    assert.equal(again.ReservationId, first.ReservationId);
    await refused(run({ ClientToken: 'once', MaxCount: 3 }), 'IdempotentParameterMismatch');
    const west = officialClient('ec2', fake, { region: 'us-west-2' });
    await west.runInstances({ ...launch, ClientToken: 'once' }).promise();
    assert.equal(fake.instances.all.size, 3);
    await ec2.terminateInstances({ InstanceIds: first.Instances.map(entry => entry.InstanceId) }).promise();
    await refused(run({ ClientToken: 'once', MaxCount: 2 }), 'IdempotentInstanceTerminated');
  });

  it('gives_what_there_is_between_the_least_and_the_most', async () => {
    fake.configure({ capacity: { 'us-east-1a m5.large': 2 } });
    assert.equal((await run({ MaxCount: 5 })).Instances.length, 2);
    await refused(run({}), 'InsufficientInstanceCapacity', /m5\.large.*us-east-1a/);
    assert.equal((await run({ Placement: { AvailabilityZone: 'us-east-1b' } })).Instances.length, 1);
    fake.configure({ capacity: {}, quotas: { 'L-1216C47A': 10, 'L-34B43A08': 1 } });
    assert.equal((await run({ MaxCount: 5 })).Instances.length, 2, '3 of 5 are taken');
    await refused(run({}), 'VcpuLimitExceeded', /limit of 10/);
    await refused(run({ InstanceMarketOptions: spot }), 'MaxSpotInstanceCountExceeded');
    await refused(run({ InstanceMarketOptions: { ...spot, SpotOptions: { MaxPrice: '0.001' } } }), 'SpotMaxPriceTooLow', /0\.035/);
  });

  it('shows_pages_whose_tokens_belong_to_one_question', async () => {
    fake.seed(2500, { region: 'us-east-1', tags: { owner: 'us' } });
    const Filters = [{ Name: 'tag:owner', Values: ['us'] }];
    let pages = 0;
    let token;
    const seen = new Set();
    do {
      const page = await ec2.describeInstances({ Filters, MaxResults: 1000, NextToken: token }).promise();
      for (const { Instances } of page.Reservations) for (const { InstanceId } of Instances) seen.add(InstanceId);
      token = page.NextToken;
      pages += 1;
    } while (token);
    assert.deepEqual([pages, seen.size], [3, 2500]);
    const { NextToken } = await ec2.describeInstances({ Filters, MaxResults: 5 }).promise();
    await refused(ec2.describeInstances({ MaxResults: 5, NextToken }).promise(), 'InvalidParameterValue', /token/);
    await refused(ec2.describeInstances({ MaxResults: 1001 }).promise(), 'InvalidParameterValue', /1000/);
    await refused(ec2.describeInstances({ MaxResults: 5, InstanceIds: [[...seen][0]] }).promise(), 'InvalidParameterCombination');
    await refused(ec2.describeInstances({ Filters: [{ Name: 'colour', Values: ['red'] }] }).promise(), 'InvalidParameterValue', /colour/);
  });

  it('shows_a_launch_later_if_it_is_told_to_be_eventually_consistent', async () => {
    fake.configure({ visibleAfterMs: 3_600_000, bootMs: 3_600_000 });
    const { Instances } = await run({});
    assert.equal(Instances[0].State.Name, 'pending');
    assert.equal((await living()).length, 0);
    fake.clockOffset = 3_600_001;
    ec2.config.systemClockOffset = fake.clockOffset;
    assert.equal((await living())[0].State.Name, 'running');
  });

  it('knows_regions_zones_types_prices_subnets_and_quotas', async () => {
    const { Regions } = await ec2.describeRegions({}).promise();
    assert.equal(Regions.length, 4);
    const { AvailabilityZones } = await ec2.describeAvailabilityZones({}).promise();
    assert.deepEqual(AvailabilityZones.map(entry => entry.ZoneName), ['us-east-1a', 'us-east-1b', 'us-east-1c']);
    fake.configure({ spotPrices: { 'us-east-1b m5.large': 0.01 } });
    const prices = await ec2.describeSpotPriceHistory({ InstanceTypes: ['m5.large'], StartTime: new Date(Date.now() - 60_000), ProductDescriptions: ['Linux/UNIX'] }).promise();
    assert.deepEqual(prices.SpotPriceHistory.map(entry => Number(entry.SpotPrice)), [0.035, 0.01, 0.035]);
    assert.equal((await ec2.describeSubnets({ SubnetIds: [subnetOf('us-east-1a')] }).promise()).Subnets[0].AvailabilityZone, 'us-east-1a');
    assert.equal((await ec2.describeImages({ ImageIds: [image] }).promise()).Images[0].Architecture, 'x86_64');
    assert.equal((await ec2.describeInstanceTypes({ InstanceTypes: ['c5.xlarge'] }).promise()).InstanceTypes[0].VCpuInfo.DefaultVCpus, 4);
    const offered = await ec2.describeInstanceTypeOfferings({ LocationType: 'availability-zone', Filters: [{ Name: 'instance-type', Values: ['m5.large'] }] }).promise();
    assert.equal(offered.InstanceTypeOfferings.length, 3);
    const { Quotas } = await officialClient('servicequotas', fake).listServiceQuotas({ ServiceCode: 'ec2' }).promise();
    assert.equal(Quotas.find(entry => entry.QuotaCode === 'L-417A185B').Value, 0);
    await refused(officialClient('ec2', fake, { region: 'af-south-1' }).describeRegions({}).promise(), 'OptInRequired');
    await refused(officialClient('ec2', fake, { region: 'mars-north-1' }).describeRegions({}).promise(), 'AuthFailure');
  });

  it('says_what_a_dry_run_would_do', async () => {
    await refused(run({ DryRun: true }), 'DryRunOperation');
    await refused(run({ DryRun: true, ImageId: 'ami-0000000000000dead' }), 'InvalidAMIID.NotFound');
    fake.identities.denied.add('ec2:RunInstances');
    await refused(run({ DryRun: true }), 'UnauthorizedOperation', /ec2:RunInstances/);
    assert.equal(fake.instances.all.size, 0);
  });

  it('goes_wrong_on_request', async () => {
    const fault = more => fake.faults.add({ times: 1, ...more });
    fault({ kind: 'error', code: 'InsufficientInstanceCapacity', zone: 'us-east-1a', type: 'm5.large', market: 'spot' });
    await run({ Placement: { AvailabilityZone: 'us-east-1a' } });
    await refused(run({ Placement: { AvailabilityZone: 'us-east-1a' }, InstanceMarketOptions: spot }), 'InsufficientInstanceCapacity');
    fault({ kind: 'error', code: 'RequestLimitExceeded' });
    await assert.rejects(run({}), error => error.code === 'RequestLimitExceeded' && error.statusCode === 503 && error.retryable);
    const before = fake.instances.all.size;
    fault({ kind: 'cut', action: 'RunInstances' });
    await assert.rejects(run({ ClientToken: 'lost' }), error => error.code !== undefined);
    assert.equal(fake.instances.all.size, before + 1, 'the answer is lost, the instance is there');
    assert.equal((await run({ ClientToken: 'lost' })).Instances.length, 1);
    assert.equal(fake.instances.all.size, before + 1);
    fault({ kind: 'refuse' });
    await assert.rejects(run({}));
    assert.equal(fake.instances.all.size, before + 1);
    for (const kind of ['truncated', 'html', 'empty', 'redirect']) {
      fault({ kind, action: 'DescribeInstances' });
      await living().then(found => assert.equal(found.length, 0), error => assert.ok(error.code));
    }
    fake.configure({ throttle: { DescribeRegions: { burst: 2, perSecond: 0 } } });
    await ec2.describeRegions({}).promise();
    await ec2.describeRegions({}).promise();
    await refused(ec2.describeRegions({}).promise(), 'RequestLimitExceeded');
    assert.throws(() => fake.faults.add({ kind: 'fire' }), /kind is one of/);
  });
});
