// What people can do, and what they may not.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import path from 'node:path';

import { programs } from '../../support/node/musterd.mjs';
import { until } from '../../support/node/waiting.mjs';
import { checkAccess, checkMistakes, logIn, picture, visit } from './browser.mjs';

const dialogOf = page => page.getByRole('dialog');

export function actionTests(shared) {
  test('an action says what will happen, shows the command, and does it', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    await host.pool('proj/act');
    await visit(page, '#/pools/proj%2Fact', 'proj/act');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await dialogOf(page).getByText('No workers of proj/act are launched').waitFor();
    await page.getByLabel(/^Until/).fill('soon');
    await dialogOf(page).getByRole('button', { name: 'Pause', exact: true }).click();
    await dialogOf(page).getByText('"soon" is no time').waitFor();
    await page.getByLabel(/^Until/).fill('+2h');
    await page.getByLabel(/^Reason/).fill("it's a bad image");
    const command = await dialogOf(page).locator('code').innerText();
    assert.match(command, /muster pool pause proj\/act --for 2h --reason 'it'\\''s a bad image'/);
    await checkAccess(page, 'a dialog');
    await picture(page, 'action');
    await dialogOf(page).getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('no workers are launched.').waitFor();
    assert.ok((await host.json('pools/proj%2Fact')).pausedUntil);
    const { events } = await host.json('events?kind=audit&last=5&limit=5');
    assert.equal(events.at(-1).details.reason, "it's a bad image");
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await dialogOf(page).getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('no workers are launched.').waitFor({ state: 'detached' });
    await checkMistakes(page);
    await page.close();
  });

  test('a worker can be quarantined, released, drained and terminated', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    const worker = (await host.workers('proj/build', 3)).find(({ state }) => state === 'running');
    await visit(page, `#/workers/proj%2Fbuild/${worker.workerGroup}/${worker.workerId}`, worker.workerId);
    const press = async (name, reason) => {
      await page.getByRole('button', { name, exact: true }).click();
      if (reason) await page.getByLabel(/^Reason/).fill(reason);
      await dialogOf(page).getByRole('button', { name, exact: true }).click();
      await dialogOf(page).waitFor({ state: 'hidden' }).catch(async () => assert.fail(`${name}: ${await dialogOf(page).innerText()}`));
    };
    await press('Quarantine', 'a disk fails');
    await press('Release');
    await press('Drain');
    await until('it drains', async () => (await host.json(`pools/proj%2Fbuild/workers/${worker.workerGroup}/${worker.workerId}`)).drain !== 'none');
    await press('Terminate');
    await page.getByText(/stopp(ing|ed)/).first().waitFor();
    await checkMistakes(page);
    await page.close();
  });

  test('a client is created with a link for reading, rotated and disabled', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    await visit(page, '#/clients', 'Clients and roles');
    await page.getByRole('button', { name: 'Create client', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('people/reader');
    await dialogOf(page).getByRole('button', { name: 'Create client', exact: true }).click();
    await dialogOf(page).getByText('This is shown once.').waitFor();
    await dialogOf(page).getByText('#token=').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Close' }).click();
    const row = page.getByRole('row', { name: /people\/reader/ });
    await row.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    await dialogOf(page).getByRole('button', { name: 'Rotate secret', exact: true }).click();
    await dialogOf(page).getByText('This is shown once.').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: 'Disable', exact: true }).click();
    await dialogOf(page).getByRole('button', { name: 'Disable', exact: true }).click();
    await row.getByText('disabled').waitFor();
    await checkMistakes(page);
    await page.close();
  });

  test('without the scope a button cannot be pressed, and says what is missing', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host, await host.tokenFor('only-reads', ['muster:get:*']));
    await visit(page, '#/pools/proj%2Fbuild', 'proj/build');
    const button = page.getByRole('button', { name: 'Pause', exact: true });
    assert.ok(await button.isDisabled());
    assert.match(await button.getAttribute('title'), /muster:pause-launch-config:proj\/build/);
    await visit(page, '#/clients', 'Clients and roles');
    await page.getByText('muster:list-clients').first().waitFor();
    // The host refuses it, too, whatever the page thinks.
    const status = await page.evaluate(async () => {
      const { csrfToken } = await (await fetch('api/muster/v1/session')).json();
      const answer = await fetch('api/muster/v1/pools/proj%2Fbuild/resume', { method: 'POST', headers: { 'X-Muster-Csrf': csrfToken } });
      return answer.status;
    });
    assert.equal(status, 403);
    await page.context().clearCookies();
    await page.close();
  });

  test('the command that an action shows does the same', async () => {
    const { host } = shared;
    execFileSync(path.join(programs, 'muster'), ['pool', 'pause', 'proj/build', '--for', '1h', '--reason', 'by hand', '--url', host.rootUrl], {
      env: { ...process.env, MUSTER_TOKEN: host.token },
    });
    assert.ok((await host.json('pools/proj%2Fbuild')).pausedUntil);
    await host.change('POST', 'pools/proj%2Fbuild/resume');
  });
}
