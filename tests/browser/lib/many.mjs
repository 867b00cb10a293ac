// Many pools and workers: the page stays quick and small.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../support/node/waiting.mjs';
import { checkMistakes, logIn, picture, visit } from './browser.mjs';
import { Host } from './host.mjs';

const thorough = process.env.MUSTER_THOROUGH === '1';
const pools = thorough ? 10_000 : 2000;
const workers = thorough ? 100_000 : 5000;

// From a key to the next frame that has its effect.
const inputToPaint = page => page.evaluate(() => new Promise(resolve => {
  const field = document.querySelector('[data-search]');
  field.focus();
  const began = performance.now();
  field.value = '000';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - began)));
}));

export function manyTests(shared) {
  test(`${pools} pools and ${workers} workers stay usable`, { timeout: 900_000 }, async () => {
    const { browser } = shared;
    const host = await Host.start();
    try {
      let made = 0;
      const maker = async () => {
        while (made < pools) await host.pool(`many/p-${String(made++).padStart(5, '0')}`, { maxCapacity: 0 });
      };
      await Promise.all(Array.from({ length: 8 }, maker));
      await host.pool('many/workers', { minCapacity: workers, maxCapacity: workers });
      await until('the workers are there', async () => (await host.json('workers?limit=1')).total >= workers, 600_000);
      const page = await browser.page();
      await logIn(page, shared.host);
      await visit(page, '#/pools', 'Pools');
      const small = await inputToPaint(page);
      await logIn(page, host);
      await visit(page, '#/pools', 'Pools');
      await page.getByRole('table', { name: 'pools' }).waitFor();
      assert.equal(await page.getByRole('table', { name: 'pools' }).getAttribute('aria-rowcount'), String(pools + 2));
      const rows = () => page.evaluate(() => document.querySelectorAll('.list-row').length);
      assert.ok((await rows()) < 100, 'only rows that one sees are there');
      const paint = await inputToPaint(page);
      await page.getByRole('link', { name: 'many/p-00000' }).waitFor();
      await page.getByRole('searchbox').fill('');
      await page.locator(`[role=table][aria-rowcount="${pools + 2}"]`).waitFor();
      await page.evaluate(() => { document.querySelector('.list-body').scrollTop = 1e9; });
      await page.getByRole('link', { name: 'many/workers' }).waitFor();
      assert.ok((await rows()) < 100);
      await picture(page, 'many-pools');
      await visit(page, '#/workers', 'Workers');
      await page.getByRole('table', { name: 'workers' }).waitFor();
      for (let i = 0; i < 20; ++i)
        await page.evaluate(part => { const list = document.querySelector('.list-body'); list.scrollTop = list.scrollHeight * part; }, i / 20);
      await page.waitForFunction(() => document.querySelector('.list-row a'));
      assert.ok((await rows()) < 100);
      const bytes = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? 0);
      console.log(`${pools} pools, ${workers} workers: input to paint ${Math.round(paint)} ms, heap ${Math.round(bytes / 1e6)} MB`);
      assert.ok(thorough ? paint <= 200 : paint <= 5 * Math.max(small, 40), `input to paint took ${paint} ms, with two pools ${small} ms`);
      assert.ok(bytes < 100e6, `the page uses ${bytes} bytes`);
      await checkMistakes(page);
      await page.context().clearCookies();
      await page.close();
    } finally {
      await host.end();
    }
  });
}
