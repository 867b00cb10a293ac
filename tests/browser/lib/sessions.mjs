// Log-in, log-out, and how somebody would get around them.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';

import { checkAccess, checkMistakes, logIn, threePictures } from './browser.mjs';

const post = (host, path, headers, body = '{}') => fetch(`${host.rootUrl}/api/muster/v1/${path}`, { method: 'POST', headers, body });

// What a script would send: a session's cookie, and what belongs to it.
async function open(host, token = host.token) {
  const answer = await post(host, 'session', { 'X-Muster-Csrf': '1' }, JSON.stringify({ token }));
  assert.equal(answer.status, 200);
  return { cookie: answer.headers.get('set-cookie').split(';')[0], ...(await answer.json()) };
}
const asked = (host, cookie, path = 'pools') => fetch(`${host.rootUrl}/api/muster/v1/${path}`, { headers: { cookie } });

export function sessionTests(shared) {
  test('a wrong token is refused in words, a good one opens the dashboard, and no script can read it', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await page.goto(`${host.rootUrl}/`);
    await page.getByLabel('Token', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('is not known here').waitFor();
    await checkAccess(page, 'log-in');
    await threePictures(page, 'log-in');
    await logIn(page, host);
    assert.equal(await page.evaluate(() => document.cookie + JSON.stringify({ ...sessionStorage, ...localStorage })), '{}');
    const [cookie] = await page.context().cookies();
    assert.equal(`${cookie.httpOnly} ${cookie.sameSite}`, 'true Strict');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token', { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel('Token', { exact: true }).waitFor();
    await checkMistakes(page);
    await page.close();
  });

  test('a client with its access token can log in, and a link for reading does', async () => {
    const { browser, host } = shared;
    const { accessToken } = await host.change('PUT', 'clients/signer', { kind: 'hawk', scopes: ['muster:get:*'] });
    const page = await browser.page();
    await page.goto(`${host.rootUrl}/`);
    await page.getByLabel('a client and its access token').check();
    await page.getByLabel('Client', { exact: true }).fill('signer');
    await page.getByLabel('Access token', { exact: true }).fill(accessToken);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token', { exact: true }).waitFor();
    const link = await host.tokenFor('reader-link', ['muster:get:*']);
    await page.goto('about:blank');
    await page.goto(`${host.rootUrl}/#token=${link}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.ok(!page.url().includes('token'), 'the token stays in no history');
    await page.context().clearCookies();
    await page.close();
  });

  test('a session changes nothing without its token, after its end, or for another site', async () => {
    const { host } = shared;
    const { cookie, csrfToken } = await open(host);
    const pause = headers => post(host, 'pools/proj%2Fidle/resume', { cookie, ...headers });
    assert.equal((await pause({})).status, 401);
    assert.equal((await pause({ 'X-Muster-Csrf': 'guess' })).status, 401);
    assert.equal((await pause({ 'X-Muster-Csrf': csrfToken, 'Sec-Fetch-Site': 'cross-site' })).status, 401);
    assert.equal((await post(host, 'session', {}, JSON.stringify({ token: host.token }))).status, 400, 'a form of another site');
    assert.equal((await asked(host, cookie)).status, 200);
    assert.equal((await asked(host, `${cookie}; ${cookie}`)).status, 401);
    const out = await fetch(`${host.rootUrl}/api/muster/v1/session`, { method: 'DELETE', headers: { cookie, 'X-Muster-Csrf': csrfToken } });
    assert.equal(out.status, 204);
    assert.equal((await asked(host, cookie)).status, 401, 'a session that was closed');
  });

  test('a session and its streams end with the client', async () => {
    const { host } = shared;
    const { cookie } = await open(host, await host.tokenFor('leaver', ['muster:get:*']));
    const stream = await fetch(`${host.rootUrl}/api/muster/v1/events`, { headers: { cookie } });
    assert.equal(stream.status, 200);
    await host.change('POST', 'clients/leaver/disable');
    assert.equal((await asked(host, cookie)).status, 401);
    for await (const piece of stream.body) void piece;  // it ends
  });

  test('streams end when their client loses the scope or is disabled, whatever it came with', async () => {
    const { host } = shared;
    const token = await host.tokenFor('listener', ['muster:get:*']);
    const { cookie } = await open(host, token);
    const streams = [];
    for (const headers of [{ cookie }, { authorization: `Bearer ${token}` }])
      for (const path of ['events', 'changes']) {
        const stream = await fetch(`${host.rootUrl}/api/muster/v1/${path}`, { headers });
        assert.equal(stream.status, 200);
        streams.push(stream);
      }
    await host.change('POST', 'clients/listener', { scopes: ['muster:get:holds'] });
    for (const stream of streams) for await (const piece of stream.body) void piece;  // they end
    await host.change('POST', 'clients/listener', { scopes: ['muster:get:*'] });
    const again = await fetch(`${host.rootUrl}/api/muster/v1/changes`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(again.status, 200);
    await host.change('POST', 'clients/listener/disable');
    for await (const piece of again.body) void piece;
  });

  test('behind a proxy and a path prefix people log in, see changes, and act', async () => {
    const { browser, host } = shared;
    const prefix = '/fleet/muster';
    const proxy = http.createServer((request, response) => {
      if (!request.url.startsWith(`${prefix}/`)) return response.writeHead(404).end('not here');
      const { port } = new URL(host.rootUrl);
      const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url.slice(prefix.length),
        headers: { ...request.headers, 'x-forwarded-for': '192.0.2.1' } }, answer => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      return request.pipe(onward);
    }).listen(0, '127.0.0.1');
    await new Promise(resolve => proxy.once('listening', resolve));
    const page = await browser.page();
    await logIn(page, { ...host, rootUrl: `http://127.0.0.1:${proxy.address().port}${prefix}`, token: host.token });
    await page.getByText('live', { exact: true }).waitFor();
    await page.goto(`http://127.0.0.1:${proxy.address().port}${prefix}/#/pools`);
    await page.getByRole('link', { name: 'proj/idle' }).waitFor();
    await host.pool('proj/through-proxy');
    await page.getByRole('link', { name: 'proj/through-proxy' }).waitFor();
    await page.getByRole('link', { name: 'proj/through-proxy' }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('no workers are launched.').waitFor();
    await checkMistakes(page);
    await page.context().clearCookies();
    await page.close();
    proxy.closeAllConnections();
    proxy.close();
    await host.change('DELETE', 'pools/proj%2Fthrough-proxy');
  });

  test('a page of another site cannot use the session', async () => {
    const { browser, host } = shared;
    const page = await browser.page();
    await logIn(page, host);
    const other = http.createServer((request, response) => response.end('<!doctype html><title>x</title>')).listen(0, '127.0.0.1');
    await new Promise(resolve => other.once('listening', resolve));
    // Another port of the same machine, to which browsers send the same cookies, and another name.
    for (const name of ['127.0.0.1', 'localhost']) {
      await page.goto(`http://${name}:${other.address().port}/`);
      const outcome = await page.evaluate(async root => {
        const read = await fetch(`${root}/api/muster/v1/session`, { credentials: 'include' }).then(() => 'read', () => 'refused');
        await fetch(`${root}/api/muster/v1/pools/proj%2Fidle/resume`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' });
        return read;
      }, host.rootUrl);
      assert.equal(outcome, 'refused');
    }
    assert.ok((await host.json('pools/proj%2Fidle')).pausedUntil, 'the pause was not ended');
    other.close();
    await page.close();
  });
}
