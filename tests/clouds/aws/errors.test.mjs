// What the provider makes of AWS's errors: class, scope and sentence, in the words of the host.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { Fleet } from './lib/fleet.mjs';

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
  ['RequestLimitExceeded', 'throttle', ['region'], /./],
  ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', 'auth', ['region', 'instanceType'], /AWSServiceRoleForEC2Spot/],
  ['UnauthorizedOperation', 'auth', ['region'], /permission/],
  ['AuthFailure', 'auth', ['region'], /credentials/],
  ['OptInRequired', 'auth', ['region'], /enable/],
  ['InvalidAMIID.NotFound', 'config', ['region', 'launchConfig'], /ImageId/],
  ['InvalidGroup.NotFound', 'config', ['region', 'launchConfig'], /SecurityGroupIds/],
  ['InvalidSubnetID.NotFound', 'config', ['region', 'launchConfig'], /./],
  ['Unsupported', 'config', ['region', 'zone', 'instanceType'], /./],
  ['InternalError', 'transient', ['region'], /./],
  ['SomethingThatNobodyKnows', undefined, ['launchConfig'], /SomethingThatNobodyKnows/],
];

describe('errors of AWS', () => {
  let fleet;
  before(async () => (fleet = await Fleet.start({ values: { maxCapacity: 1 } })));
  after(() => fleet.end());
  beforeEach(async () => {
    fleet.demand(0);
    fleet.fake.faults.clear();
    await fleet.own('holds/ec2', { method: 'DELETE' });
  });

  for (const [code, errorClass, scope, advice] of rows)
    it(`${code}_is_${errorClass ?? 'held_narrowly'}`, async () => {
      const status = /Capacity|Internal/.test(code) ? 500 : code === 'RequestLimitExceeded' ? 503 : 400;
      fleet.fake.faults.add({ kind: 'error', action: 'RunInstances', code, status, message: `AWS says ${code}.` });
      fleet.demand(1);
      const error = await fleet.errorSaying(new RegExp(`${code.replace('.', '\\.')}\\b`));
      const text = JSON.stringify(error);
      assert.match(text, advice);
      assert.match(text, new RegExp(`AWS says ${code}`), 'AWS\'s own words are there');
      if (errorClass) assert.match(text, new RegExp(`"${errorClass}"`));
      const hold = await fleet.until(`a hold for ${code}`, async () => (await fleet.get('holds')).holds?.find(entry => JSON.stringify(entry).includes(code)));
      for (const part of scope) assert.ok(hold.scope?.[part] ?? hold[part], `the hold has no ${part}: ${JSON.stringify(hold)}`);
      assert.equal(fleet.living().length, 0);
    });
});
