// What people can do, and what they may not.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
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

  test('a hold is released, a request cancelled, teams attached and detached, configurations read again', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    const press = async (button, name, fields = {}) => {
      await button.click();
      for (const [label, value] of Object.entries(fields)) await dialogOf(page).getByLabel(new RegExp(`^${label}`)).fill(value);
      await dialogOf(page).getByRole('button', { name, exact: true }).click();
      await dialogOf(page).waitFor({ state: 'hidden' }).catch(async () => assert.fail(`${name}: ${await dialogOf(page).innerText()}`));
    };
    const audited = async () => JSON.stringify((await host.json('events?kind=audit&last=200&limit=200')).events.map(({ text }) => text));

    await host.pool('proj/rare', { minCapacity: 3, instanceType: 'rare' });
    await until('the provider has no more of them', async () => (await host.json('holds')).holds.length > 0);
    await visit(page, '#/holds', 'Holds');
    await press(page.getByRole('button', { name: 'Release', exact: true }).first(), 'Release');
    assert.match(await audited(), /releaseHold/);
    await host.change('DELETE', 'pools/proj%2Frare').catch(() => undefined);

    const request = await host.change('POST', 'teams/web/requests', { workerPoolId: 'proj/idle' });
    await visit(page, '#/queue', 'Queue');
    const row = page.getByRole('row', { name: new RegExp(`\\b${request.requestId}\\b`) }).first();
    await press(row.getByRole('button', { name: 'Cancel request', exact: true }), 'Cancel request');
    await until('nobody waits for it', async () => (await host.own(`teams/web/requests/${request.requestId}`)).status !== 200 ||
      (await host.json(`teams/web/requests/${request.requestId}`)).state === 'ended');

    await host.change('PUT', 'worker-pools/proj%2Fidle');
    await visit(page, '#/pools/proj%2Fidle', 'proj/idle');
    await press(page.getByRole('button', { name: 'Attach teams', exact: true }), 'Attach teams', { Teams: 'web ios' });
    const teams = async () => JSON.stringify(await host.json('worker-pools'));
    assert.match(await teams(), /"ios"/);
    await press(page.getByRole('button', { name: 'Detach teams', exact: true }), 'Detach teams', { Teams: 'web, ios' });
    assert.doesNotMatch(await teams(), /"ios"/);
    await host.change('DELETE', 'worker-pools/proj%2Fidle');

    await visit(page, '#/configurations', 'Configurations');
    await press(page.getByRole('button', { name: 'Reload', exact: true }), 'Reload');
    await checkMistakes(page);
    await page.close();
  });

  test('each of them is refused without its scope, by the page and by the host', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    const { requestId } = await host.change('POST', 'teams/web/requests', { workerPoolId: 'proj/idle' });
    await logIn(page, host, await host.tokenFor('sees-all', ['muster:get:*', 'muster:list-requests:*']));
    for (const [hash, heading, name, scope] of [
      ['#/pools/proj%2Fidle', 'proj/idle', 'Attach teams', 'muster:manage-worker-pools:proj/idle'],
      ['#/pools/proj%2Fidle', 'proj/idle', 'Detach teams', 'muster:manage-worker-pools:proj/idle'],
      ['#/configurations', 'Configurations', 'Reload', 'muster:reload-worker-configurations'],
    ]) {
      await visit(page, hash, heading);
      const button = page.getByRole('button', { name, exact: true });
      assert.ok(await button.isDisabled(), name);
      assert.equal(await button.getAttribute('title'), `needs the scope ${scope}`);
    }
    const refusals = await page.evaluate(async id => {
      const { csrfToken } = await (await fetch('api/muster/v1/session')).json();
      const ask = async (method, path, body) => (await fetch(`api/muster/v1/${path}`, { method, body, headers: { 'X-Muster-Csrf': csrfToken } })).status;
      return [await ask('DELETE', 'holds/sim'), await ask('DELETE', `teams/web/requests/${id}`), await ask('POST', 'worker-configurations/reload', '{}'),
        await ask('POST', 'worker-pools/proj%2Fidle/attach', '{"teams":["x"]}'), await ask('POST', 'worker-pools/proj%2Fidle/detach', '{"teams":["x"]}')];
    }, requestId);
    assert.deepEqual(refusals, [403, 403, 403, 403, 403]);
    await page.context().clearCookies();
    await page.close();
  });

  test('every command that an action shows is one that the command line takes', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-actions-'));
    const bundle = path.join(folder, 'actions.mjs');
    const { buildSync } = createRequire(`${process.env.MUSTER_WEB}/package.json`)('esbuild');
    buildSync({ entryPoints: [`${process.env.MUSTER_WEB}/src/actions.tsx`], bundle: true, format: 'esm', outfile: bundle, jsx: 'automatic', jsxImportSource: 'preact',
      banner: { js: 'globalThis.setInterval = () => 0;' } });
    const all = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', `
      globalThis.document = {}; globalThis.location = { href: '', hash: '' };
      const actions = await import(${JSON.stringify(bundle)});
      const worker = { workerPoolId: 'proj/build', workerGroup: 'g', workerId: 'w' };
      const subject = { ...worker, launchConfigId: 'lc-1', providerId: 'sim', scope: 'region eu-1', requestId: '7', team: 'web', state: 'waiting', clientId: 'people/lena', disabled: false };
      const values = [{}, { until: '+2h', reason: "it's \`bad\` $HOME", teams: 'web ios', id: 'people/lena', kind: 'token', scopes: 'muster:get:* muster:a', description: 'for reading', when: 'now' },
        { until: '2030-01-31T12:00Z', reason: 'x', teams: 'web', id: 'a', kind: 'hawk', scopes: '' }];
      const shown = {};
      for (const [name, made] of Object.entries(actions)) {
        const about = /Pool|Teams$/.test(name) ? 'proj/build' : name === 'rollBackPlugin' ? 'provider/simulated' : name === 'createClient' ? () => {} : subject;
        const action = typeof made === 'function' ? made(about, () => {}) : made;
        shown[name] = values.filter(each => (action.fields ?? []).every(field => !field.required || each[field.id])).map(each => action.command(each));
      }
      console.log(JSON.stringify(shown));`], { encoding: 'utf8' }));
    fs.rmSync(folder, { recursive: true });
    assert.ok(Object.keys(all).length >= 17, Object.keys(all).join());
    for (const [name, commands] of Object.entries(all))
      for (const command of commands) {
        // It is understood, and then nobody answers at that address.
        const { status, stderr, stdout } = spawnSync('sh', ['-c', `${command} --url http://127.0.0.1:1 < /dev/null`],
          { encoding: 'utf8', env: { ...process.env, PATH: `${programs}:${process.env.PATH}`, MUSTER_TOKEN: 'x' } });
        assert.equal(status, 1, `${name}: ${command}: ${stderr}${stdout}`);
        assert.match(stderr + stdout, /127\.0\.0\.1:1/, `${name}: ${command}`);
      }
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
