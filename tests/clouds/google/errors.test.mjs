import { describeErrors } from '../lib/errors.mjs';
import { google } from './lib/fleet.mjs';

// What Google says of a creation, and the hold that must follow. `late`: by its operation; otherwise the call itself is refused.
const late = { late: true };
const rows = [
  ['ZONE_RESOURCE_POOL_EXHAUSTED', 'capacity', ['region', 'zone', 'instanceType'], /more machine types or zones/, late],
  ['ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', 'capacity', ['region', 'zone', 'instanceType'], /more machine types or zones/, late],
  ['RESOURCE_NOT_READY', 'capacity', ['region', 'zone'], /./, late],
  ['UNSUPPORTED_OPERATION', 'capacity', ['region', 'zone', 'instanceType'], /preempted/, late],
  ['IP_SPACE_EXHAUSTED', 'capacity', ['region', 'launchConfigId'], /subnetwork/, late],
  ['QUOTA_EXCEEDED', 'quota', ['region'], /quota/, { late: true, status: 403 }],
  ['quotaExceeded', 'quota', ['region'], /quota/],
  ['RESOURCE_OPERATION_RATE_EXCEEDED', 'throttle', ['region', 'zone'], /slows down/, late],
  ['forbidden', 'auth', ['launchConfigId'], /permission/],
  ['accessNotConfigured', 'auth', [], /gcloud services enable/],
  ['billingNotEnabled', 'auth', [], /billing/],
  ['invalid', 'config', ['region', 'launchConfigId'], /google\.launch/],
  ['VPC_NOT_FOUND', 'config', ['launchConfigId'], /network/, late],
  ['SUBNET_NOT_FOUND_FOR_VPC', 'config', ['region', 'launchConfigId'], /subnetwork/, late],
  ['INTERNAL_ERROR', 'capacity', ['launchConfigId'], /Google has trouble of its own/, { late: true, status: 500 }],
  // The last one: the provider slows down for a while.
  ['rateLimitExceeded', 'throttle', [], /slows down/],
];

describeErrors('Google', google, {
  rows,
  usual: ['ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', 'QUOTA_EXCEEDED', 'forbidden', 'invalid'],
  options: { provider: () => ({ regions: undefined, zones: ['us-central1-a'] }) },
  provoke(fake, code, { late: isLate = false, status } = {}) {
    const message = `Google says ${code}.`;
    if (isLate) fake.configure({ operationErrors: [{ code, message, status }] });
    else for (const action of ['instances.insert', 'instances.bulkInsert']) fake.faults.add({ kind: 'error', action, code, message, status });
  },
  calm(fake) {
    fake.configure({ operationErrors: [] });
    fake.faults.clear();
  },
});
