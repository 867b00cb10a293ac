import { describeErrors } from '../lib/errors.mjs';
import { sizes } from './lib/catalogue.mjs';
import { azure } from './lib/fleet.mjs';

// What Azure says of a creation, and the hold that must follow. `late`: by its operation; otherwise the call itself is refused.
const late = { late: true };
const rows = [
  ['AllocationFailed', 'capacity', ['region', 'instanceType'], /allow more sizes/, late],
  ['ZonalAllocationFailed', 'capacity', ['region', 'instanceType'], /allow more sizes/, late],
  ['OverconstrainedAllocationRequest', 'capacity', ['region', 'instanceType'], /constraint/, late],
  ['SkuNotAvailable', 'capacity', ['region', 'instanceType'], /market Regular/],
  ['SubnetIsFull', 'capacity', ['region', 'launchConfigId'], /subnet/],
  ['QuotaExceeded', 'quota', ['region', 'instanceType'], /Quotas/],
  ['PublicIPCountLimitReached', 'quota', ['region'], /Quotas/],
  ['ResourceQuotaExceeded', 'quota', ['region'], /Quotas/],
  ['AuthorizationFailed', 'auth', ['region'], /permission/, { status: 403 }],
  ['ReadOnlyDisabledSubscription', 'auth', [], /subscription/],
  ['MissingSubscriptionRegistration', 'auth', ['region'], /az provider register/],
  ['RequestDisallowedByPolicy', 'config', ['region', 'launchConfigId'], /policy/, { status: 403 }],
  ['ImageNotFound', 'config', ['region', 'launchConfigId'], /image/, { status: 404 }],
  ['InvalidResourceReference', 'config', ['region', 'launchConfigId'], /subnet/, { status: 400 }],
  ['InvalidParameter', 'config', ['region', 'launchConfigId'], /azure\.launch/, { status: 400 }],
  ['OSProvisioningTimedOut', 'config', ['region', 'launchConfigId'], /image/, late],
  // The last one: the provider slows down for a while.
  ['TooManyRequests', 'throttle', ['region'], /slows down/, { status: 429 }],
];

let lateSizes = 0;
describeErrors('Azure', azure, {
  rows,
  usual: ['AllocationFailed', 'SkuNotAvailable', 'QuotaExceeded', 'AuthorizationFailed', 'ImageNotFound'],
  provoke: (fake, code, { late: isLate = false, status = 409 } = {}) => fake.configure({ createErrors: [{ step: isLate ? 'allocation' : 'accept', code, status, message: `Azure says ${code}.` }] }),
  // The provider remembers what failed late.
  vary(index, how) {
    const { name } = sizes[how === late ? lateSizes++ : 5];
    return { section: { vmSizes: [{ size: name, capacity: 1 }] }, type: name };
  },
  calm: fake => fake.configure({ createErrors: [] }),
});
