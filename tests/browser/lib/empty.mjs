// Pages without anything to show say what to do, and pages that may not read say which scope is missing.
import { test } from 'node:test';

import { checkAccess, checkMistakes, logIn, visit } from './browser.mjs';

const empty = [
  ['#/', 'Overview', 'Needs a person'],
  ['#/pools', 'Pools', 'No pools are configured.'],
  ['#/workers', 'Workers', 'No workers.'],
  ['#/queue', 'Queue', 'Nobody waits.'],
  ['#/configurations', 'Configurations', 'Name a pool and the facts'],
  ['#/holds', 'Holds', 'No holds'],
  ['#/errors', 'Errors', 'No errors'],
  ['#/events', 'Events', 'Newest first'],
  ['#/clients', 'Clients and roles', 'No roles. They are in'],
  ['#/hosts', 'Hosts', 'No sources of demand'],
];

export function emptyTests(shared) {
  test('a page with nothing to show says what to do', async () => {
    const { browser, emptyHost } = shared;
    const page = await browser.page();
    await logIn(page, emptyHost);
    for (const [hash, heading, text] of empty) {
      await visit(page, hash, heading);
      await page.getByText(text).first().waitFor({ timeout: 5000 });
      await checkAccess(page, `${heading}, empty`);
    }
    await checkMistakes(page);
    await page.close();
  });

  test('who may read nothing is told which scope is missing', async () => {
    const { browser, emptyHost } = shared;
    const page = await browser.page();
    await logIn(page, emptyHost, await emptyHost.tokenFor('stranger', []));
    for (const [hash, heading, scope] of [
      ['#/pools', 'Pools', 'muster:get:pools'], ['#/workers', 'Workers', 'muster:get:workers'], ['#/queue', 'Queue', 'muster:get:queue'],
      ['#/holds', 'Holds', 'muster:get:holds'], ['#/errors', 'Errors', 'muster:get'], ['#/events', 'Events', 'muster:get:events'],
      ['#/clients', 'Clients and roles', 'muster:list-clients'], ['#/hosts', 'Hosts', 'muster:get:status'],
      ['#/providers', 'Providers and plugins', 'muster:get:providers'], ['#/configurations', 'Configurations', 'muster:get:worker-configurations'],
    ]) {
      await visit(page, hash, heading);
      await page.getByRole('alert').getByText(scope).first().waitFor({ timeout: 5000 });
    }
    await checkAccess(page, 'a page that was refused');
    await checkMistakes(page);
    await page.context().clearCookies();
    await page.close();
  });
}
