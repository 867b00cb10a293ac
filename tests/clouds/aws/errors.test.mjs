// What the provider makes of AWS's errors: class, scope and sentence of the hold that the host shows.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Fleet } from './lib/fleet.mjs';
import { thorough } from '../lib/thorough.mjs';

// What AWS answers to RunInstances, and the hold that must follow: its class, the parts of its scope, and what to do.
const rows = [
  ['InsufficientInstanceCapacity', 'capacity', ['region', 'zone', 'instanceType'], /more instance types or zones/],
  ['UnfulfillableCapacity', 'capacity', ['region', 'zone', 'instanceType'], /./],
  ['InsufficientCapacityOnHost', 'capacity', ['region', 'zone', 'instanceType'], /./],
  ['InsufficientFreeAddressesInSubnet', 'capacity', ['region', 'zone'], /subnet/],
  ['VcpuLimitExceeded', 'quota', ['region'], /Service Quotas/],
  ['MaxSpotInstanceCountExceeded', 'quota', ['region'], /Service Quotas/],
  ['MaxFleetCountExceeded', 'quota', ['region'], /./],
  ['MaxSpotFleetRequestCountExceeded', 'quota', ['region'], /./],
  ['ResourceLimitExceeded', 'quota', ['region'], /./],
  ['TargetCapacityLimitExceededException', 'quota', ['region'], /./],
  ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', 'auth', ['region', 'instanceType'], /AWSServiceRoleForEC2Spot/],
  ['UnauthorizedOperation', 'auth', ['region'], /permission/],
  ['AuthFailure', 'auth', ['region'], /credentials/],
  ['OptInRequired', 'auth', ['region'], /enable/],
  ['InvalidAMIID.NotFound', 'config', ['region', 'launchConfigId'], /ImageId/],
  ['InvalidGroup.NotFound', 'config', ['region', 'launchConfigId'], /SecurityGroupIds/],
  ['InvalidSubnetID.NotFound', 'config', ['region', 'launchConfigId'], /./],
  ['Unsupported', 'config', ['region', 'zone', 'instanceType'], /./],
  // The last one: the provider slows down for a while.
  ['RequestLimitExceeded', 'throttle', ['region'], /./],
];

describe('errors of AWS', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ values: { maxCapacity: 1 } })));
  after(() => fleet.end());
  beforeEach(async () => {
    fleet.demand(0);
    await fleet.until('nothing is wanted and nothing under way', async () => (await fleet.get('pools/worker-manager%2Fbuild')).pending === 0 && (await fleet.workers()).length === 0);
    fleet.fake.faults.clear();
    await fleet.own('holds/ec2', { method: 'DELETE' });
  });

  const usual = ['InsufficientInstanceCapacity', 'VcpuLimitExceeded', 'UnauthorizedOperation', 'InvalidAMIID.NotFound'];
  for (const [code, errorClass, scope, advice] of rows.filter(([code_]) => thorough || usual.includes(code_)))
    it(`${code}_is_${errorClass}`, async () => {
      const status = /Capacity/.test(code) ? 500 : code === 'RequestLimitExceeded' ? 503 : 400;
      fleet.fake.faults.add({ kind: 'error', action: 'RunInstances', code, status, message: `AWS says ${code}.` });
      fleet.demand(1);
      const hold = await fleet.holdSaying(new RegExp(`${code.replace('.', '\\.')}:`));
      assert.equal(hold.class, errorClass);
      assert.match(hold.message, advice);
      assert.match(hold.message, new RegExp(`AWS says ${code}\\..*request `), 'AWS\'s own words and the request\'s number are there');
      for (const part of scope) assert.ok(hold[part], `the hold has no ${part}: ${JSON.stringify(hold)}`);
      assert.equal(fleet.living().length, 0);
    });
});
