// Every page with content: it opens, has no mistake, and everybody can use it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { checkAccess, checkMistakes, logIn, threePictures, visit } from './browser.mjs';

export function pageTests(shared) {
  test('the types that the pages were built with are those of the document that the host serves', async () => {
    const { generateTypes } = await import(`${process.env.MUSTER_WEB}/scripts/generate_types.mjs`);
    const document_ = await (await fetch(`${shared.host.rootUrl}/api/muster/v1/openapi.json`)).json();
    assert.equal(fs.readFileSync(`${process.env.MUSTER_WEB}/src/api_types.ts`, 'utf8'), generateTypes(document_));
  });

  test('every page shows what there is, to everybody, and no text becomes a script', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    const [worker] = await host.workers('proj/build', 3);
    const pool = '#/pools/proj%2Fbuild';
    const pages = [
      ['overview', '#/', 'Overview', 'Provider broken is down'],
      ['pools', '#/pools', 'Pools', 'proj/build'],
      ['pool', pool, 'proj/build', 'The whole story'],
      ['launch-configs', `${pool}/launch-configs`, 'proj/build', 'tried'],
      ['decisions', `${pool}/decisions`, 'proj/build', /^Bids$/],
      ['pool-workers', `${pool}/workers`, 'proj/build', worker.workerId],
      ['pool-errors', `${pool}/errors`, 'proj/build', 'No errors'],
      ['pool-configuration', `${pool}/configuration`, 'proj/build', undefined],
      ['workers', '#/workers', 'Workers', worker.workerId],
      ['worker', `#/workers/proj%2Fbuild/${worker.workerGroup}/${worker.workerId}`, worker.workerId, 'launched'],
      ['queue', '#/queue', 'Queue', 'Teams and shares'],
      ['configurations', '#/configurations', 'Configurations', 'team.toml'],
      ['providers', '#/providers', 'Providers and plugins', 'provider/simulated'],
      ['provider', '#/providers/sim', 'Provider sim', 'availabilityZone=eu-1a'],
      ['plugin-instance', '#/plugin-instances/sim', 'Plugin instance sim', 'p99'],
      ['holds', '#/holds', 'Holds', 'No holds'],
      ['errors', '#/errors', 'Errors', 'No errors'],
      ['events', '#/events', 'Events', 'worker-requested'],
      ['clients', '#/clients', 'Clients and roles', 'admin'],
      ['hosts', '#/hosts', 'Hosts', host.folder],
    ];
    for (const [name, hash, heading, text] of pages) {
      await visit(page, hash, heading);
      if (text) await page.getByText(text).first().waitFor({ timeout: 5000 }).catch(error => assert.fail(`${name} lacks "${text}": ${error.message}`));
      await checkAccess(page, name);
      await threePictures(page, name);
      await checkMistakes(page);
    }
    await page.close();
  });

  test('a mistake in a worker configuration is shown with its line', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await page.goto(`${host.rootUrl}/#/configurations`);
    await page.getByRole('button', { name: /team\.toml:\d+:\d+/ }).first().waitFor();
    await page.goto(`${host.rootUrl}/#/`);
    await page.getByText('Worker configurations are refused').waitFor();
    await checkMistakes(page);
    await page.close();
  });

  test('links lead back, keys lead to pages, and an unknown page says so', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await page.goto(`${host.rootUrl}/#/pools`);
    await page.getByRole('link', { name: 'proj/build' }).click();
    await page.getByRole('heading', { level: 1, name: 'proj/build' }).waitFor();
    await page.getByRole('link', { name: 'Decisions' }).click();
    await page.getByRole('heading', { level: 2, name: 'Decisions' }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Pools' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { level: 1, name: 'Holds' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('these keys').waitFor();
    await page.keyboard.press('Escape');
    await visit(page, '#/pools', 'Pools');
    await page.keyboard.press('/');
    await page.keyboard.type('idle');
    await page.getByRole('link', { name: 'proj/build' }).waitFor({ state: 'detached' });
    assert.match(page.url(), /search=idle/);
    await page.reload();
    await page.getByRole('link', { name: 'proj/idle' }).waitFor();
    await visit(page, '#/nothing-here', 'No such page');
    await visit(page, '#/pools/proj%2Fnosuch');
    await page.getByText('there is no worker pool proj/nosuch').first().waitFor();
    await page.close();
  });
}
