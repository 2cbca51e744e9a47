/** Signing in with a real browser: with scripts and without, narrow and wide, light and dark. */
import { describe, expect, it } from 'vitest';
import { IDLE_MS } from '../../src/runtime/operators/sessions.ts';
import { ALL } from '../support/all.ts';
import { type Look, useBrowser } from './browser.ts';
import { startPages } from './visitor.ts';

const { open } = useBrowser();
const LOOKS: readonly Look[] = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 390 },
  { theme: 'light', width: 360, language: 'da-DK' },
  { theme: 'dark', width: 2560, script: false },
];

// The suite takes those that differ most.
describe.each(ALL ? LOOKS : LOOKS.slice(-2))('in a browser with %j', (look) => {
  it('an operator signs in, looks around, and signs out', async () => {
    const { base, operator } = await startPages();
    const token = await operator('Ida', 'operator');
    const { page, expectSound } = await open(look);
    await page.goto(`${base}/sessions`);
    await expectSound();
    await page.fill('#token', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    await page.fill('#token', token);
    await page.click('button.primary');
    await page.waitForURL('**/sessions');
    await expect.poll(() => page.textContent('tbody')).toContain('Chrome');
    for (const path of ['/', '/sessions', '/nothing']) {
      await page.goto(base + path);
      // The one address that is not there is reported, and only that.
      if (path !== '/nothing') await page.waitForSelector('h1');
    }
    await page.goto(`${base}/`);
    await page.click('.account button');
    await page.waitForURL('**/login');
  });
});

describe('a form', () => {
  it('that was sent after the session ended takes effect after a sign-in and a confirmation, by keyboard alone', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const { base, operator, store } = await startPages({ now: () => now });
    const token = await operator('Ida', 'viewer');
    const { page } = await open();
    const signIn = async () => {
      await page.waitForSelector('#token:focus');
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
    };
    await page.goto(`${base}/sessions`);
    await signIn();
    await page.waitForSelector('table');
    now += IDLE_MS + 1;
    await page.focus('tbody button');
    await page.keyboard.press('Enter');
    await signIn();
    await page.waitForSelector('form[action="/sessions/end"]');
    const sessions = () => store.db.selectFrom('session').select('hash').execute();
    expect(await sessions()).toHaveLength(2);
    await page.focus('main button.primary');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sessions');
    expect(await sessions()).toHaveLength(1);
  });
});
