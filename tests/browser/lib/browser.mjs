// Chromium, with everything that may not happen counted: violations of the policy, errors of scripts, attacks that worked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { chromium } from 'playwright-core';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const pictures = path.resolve('screenshots');

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-chromium-'));
    browser.context = await chromium.launchPersistentContext(browser.folder, {
      executablePath: process.env.MUSTER_CHROMIUM ?? '/usr/bin/chromium',
      headless: true,
      bypassCSP: false,
      viewport: { width: 1280, height: 900 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
        '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
    });
    return browser;
  }

  async end() {
    await this.context.close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  // A page whose mistakes are remembered. Those before it are closed: a browser has six connections to a host.
  async page() {
    const before = this.context.pages();
    const page = await this.context.newPage();
    for (const each of before) await each.close();
    page.setDefaultTimeout(8000);
    page.mistakes = [];
    page.on('pageerror', error => page.mistakes.push(`error: ${error.message}`));
    page.on('console', message => {
      const text = message.text();
      if (/Content Security Policy|Refused to/.test(text)) page.mistakes.push(text);
    });
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', event => {
        console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    return page;
  }
}

export async function checkMistakes(page) {
  assert.deepEqual(page.mistakes, []);
  assert.equal(await page.evaluate(() => window.attacked), undefined, 'a text became a script');
}

// Nothing serious for people who use a screen reader or a keyboard.
export async function checkAccess(page, name) {
  // The page's policy allows no other script; the browser's own world does.
  const client = await page.context().newCDPSession(page);
  const { frameTree } = await client.send('Page.getFrameTree');
  const { executionContextId } = await client.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' });
  await client.send('Runtime.evaluate', { expression: axe, contextId: executionContextId });
  const { result } = await client.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, help, nodes }) => ({ id, help, nodes: nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)) }))))`,
    awaitPromise: true, returnByValue: true, contextId: executionContextId,
  });
  await client.detach();
  assert.deepEqual(JSON.parse(result.value), [], `${name}: axe has serious findings`);
}

export async function picture(page, name) {
  fs.mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}

// Light, dark, and on a phone.
export async function threePictures(page, name) {
  await picture(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: 'light' });
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, `${name}-phone`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${name}: a phone scrolls sideways`);
  await page.setViewportSize(size);
}

export async function logIn(page, host, token = host.token) {
  await page.context().clearCookies();
  await page.goto(`${host.rootUrl}/`);
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

export async function visit(page, hash, heading) {
  await page.evaluate(to => { location.hash = to; }, hash);
  if (heading) await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.waitForFunction(() => !document.querySelector('.loading'));
}
