// All tests of the dashboard in one process: a browser and two hosts serve them all.
import { after, before, describe } from 'node:test';

import { Browser } from './lib/browser.mjs';
import { evil, Host } from './lib/host.mjs';
import { actionTests } from './lib/actions.mjs';
import { emptyTests } from './lib/empty.mjs';
import { liveTests } from './lib/live.mjs';
import { manyTests } from './lib/many.mjs';
import { pageTests } from './lib/pages.mjs';
import { sessionTests } from './lib/sessions.mjs';

const shared = {};

describe('the dashboard', { concurrency: false }, () => {
  before(async () => {
    shared.browser = await Browser.start();
    shared.host = await Host.start({ workers: { 'team.toml': workers } });
    shared.emptyHost = await Host.start();
    const { host } = shared;
    await host.pool('proj/build', { minCapacity: 3, maxCapacity: 8, description: evil });
    await host.pool('proj/idle');
    for (const worker of (await host.workers('proj/build', 3)).slice(0, 2)) await host.register(worker);
    await host.change('POST', 'teams/ios/requests', { resources: { gpu: 1 }, tags: [] }).catch(() => undefined);
    await host.change('POST', 'pools/proj%2Fidle/pause', { until: '2099-01-01T00:00:00Z', reason: evil });
  });
  after(async () => {
    await Promise.all([shared.browser?.end(), shared.host?.end(), shared.emptyHost?.end()]);
  });
  sessionTests(shared);
  pageTests(shared);
  emptyTests(shared);
  actionTests(shared);
  liveTests(shared);
  manyTests(shared);
});

// A mistake in it: the page shows it with its line.
const workers = `
[[rule]]
name = "all"
[rule.values]
maxCapacity = "many"
`;
