// Pages change with the fleet, and survive a restart of the host.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkMistakes, logIn, picture, visit } from './browser.mjs';

export function liveTests(shared) {
  test('a change is on the page within a second of its event', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    await visit(page, '#/events', 'Events');
    await page.getByText('live', { exact: true }).waitFor();
    const began = Date.now();
    await host.pool('proj/fresh');
    await page.getByText('proj/fresh').first().waitFor({ timeout: 5000 });
    const took = Date.now() - began;
    console.log(`an event was shown after ${took} ms`);
    assert.ok(took < 1500, `an event was shown after ${took} ms`);  // one second, and what the request itself takes
    await visit(page, '#/pools', 'Pools');
    await host.pool('proj/fresher');
    await page.getByRole('link', { name: 'proj/fresher' }).waitFor({ timeout: 5000 });
    await checkMistakes(page);
    await page.close();
  });

  test('a page that is open while the host restarts says so, and goes on', async () => {
    const { browser, emptyHost: host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    await visit(page, '#/pools', 'Pools');
    await page.getByText('live', { exact: true }).waitFor();
    const { port } = new URL(host.rootUrl);
    await host.stop();
    await page.getByText('The host does not answer').first().waitFor({ timeout: 15_000 });
    await picture(page, 'no-host');
    host.file('muster.toml', host.read('muster.toml').replace(/listen = "[^"]*"/, `listen = "127.0.0.1:${port}"`));
    await host.run();
    await page.getByText('live', { exact: true }).waitFor({ timeout: 20_000 });
    await host.pool('proj/after');
    await page.getByRole('link', { name: 'proj/after' }).waitFor({ timeout: 10_000 });
    assert.equal(await page.getByLabel('Token', { exact: true }).count(), 0, 'the session outlives the restart');
    await checkMistakes(page);
    await page.context().clearCookies();
    await page.close();
  });
}
