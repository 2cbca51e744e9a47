/** What pages do in a real browser: long values, the keyboard, figures that are brought up to date, and time zones. */
import { describe, expect, it } from 'vitest';
import { readerOf } from '../../src/dashboard/page/reader.ts';
import { revokeOperator } from '../../src/runtime/operators/operators.ts';
import { signIn, useBrowser } from './browser.ts';
import { COMPANY, playStory } from './story.ts';
import { startPages } from './visitor.ts';

const { open } = useBrowser();
describe('every page', () => {
  it('shows a value without a break within the page, and the columns beside it', async () => {
    const { fixture, records, token } = await playStory();
    const long = `https://example.com/${'a'.repeat(300)}`;
    fixture.hubspot.edit(records.hubspot, { name: long });
    fixture.salesforce.edit(records.salesforce, { Name: 'n'.repeat(120) });
    await fixture.post({
      entityId: COMPANY,
      timestamp: '2026-03-04T09:00:00.000Z',
      updates: { name: { before: 'Birk', after: `Birk${'k'.repeat(200)}` }, website: { before: null, after: long } },
    });
    await fixture.settled();
    const secret = await token('operator');
    const { page } = await open({ isAudited: false });
    await signIn(page, fixture.app.adminUrl, secret);
    for (const path of [`/companies/${COMPANY}`, '/inbox?kind=difference', '/writes']) {
      await page.goto(fixture.app.adminUrl + path);
      const hidden = await page.evaluate(
        '[...document.querySelectorAll(".scroll")].map((each) => each.scrollWidth - each.clientWidth)',
      );
      expect([path, hidden]).toEqual([path, (hidden as readonly number[]).map(() => 0)]);
    }
  });

  it('is reached by keyboard alone, past the navigation too', async () => {
    const { fixture, token } = await playStory();
    const secret = await token('viewer');
    const { page } = await open();
    await page.goto(`${fixture.app.adminUrl}/login`);
    await page.waitForSelector('#token:focus');
    await page.keyboard.type(secret);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#overview');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('location.hash')).toBe('#content');
    await page.goto(`${fixture.app.adminUrl}/companies`);
    await page.waitForSelector('#q:focus');
    await page.keyboard.type('birk');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/companies?q=birk');
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('q');
  });
});

describe('a page that refreshes itself', () => {
  it('shows new figures, and keeps the focus', async () => {
    const { fixture, token } = await playStory();
    const { page } = await open();
    await page.clock.install();
    await signIn(page, fixture.app.adminUrl, await token('viewer'));
    await page.focus('#overview .scroll');
    await fixture.app.store.write((tx) => tx.updateTable('link').set({ state: 'conflict' }).execute());
    await page.clock.runFor(11_000);
    await expect.poll(() => page.textContent('#overview')).toContain('Links in conflict or refused: 2');
    expect(await page.evaluate('document.activeElement.className')).toBe('scroll');
  });

  it('says within 20 seconds that cvrsync died or hangs, ages its times meanwhile, and says when it is back', async () => {
    const { base, operator, close } = await startPages();
    const { page } = await open();
    await page.clock.install();
    await signIn(page, base, await operator('Ida', 'viewer'));
    const notice = page.locator('#stale');
    expect(await page.textContent('#overview')).toContain(', checked now');
    // A daemon that hangs: it takes the call, and does not answer.
    await page.route(`${base}/`, () => undefined);
    await page.clock.runFor(20_000);
    await expect.poll(() => notice.isVisible()).toBe(true);
    expect(await page.textContent('#overview')).toMatch(/, checked (?:1\d|20) seconds ago/u);
    await page.unroute(`${base}/`);
    await page.clock.runFor(17_000);
    await expect.poll(() => notice.isVisible()).toBe(false);
    await close();
    await page.clock.runFor(20_000);
    await expect.poll(() => notice.innerText()).toContain('cvrsync sends no new figures');
    expect(await page.getAttribute('#overview', 'class')).toBe('stale');
    await page.clock.runFor(300_000);
    expect(await page.textContent('#overview')).toContain(', checked 5 minutes ago');
  });

  it('says within 20 seconds that the operator was revoked', async () => {
    const { base, operator, store } = await startPages();
    const { page, expectSound } = await open({ language: 'da-DK' });
    await page.clock.install();
    await signIn(page, base, await operator('Ida', 'viewer'));
    await store.write((tx) => revokeOperator(tx, 'Ida', Date.now()));
    await page.clock.runFor(20_000);
    await expect
      .poll(() => page.innerText('#stale'))
      .toBe('Du er logget ud. Disse tal er fra sidste tjek og kan være forkerte nu. Log ind');
    await expectSound();
  });
});

it('all times of a page are in one zone, which it names, independent of the zone of the reader', async () => {
  const { fixture, token } = await playStory();
  const { page } = await open({ timezone: 'America/New_York' });
  await signIn(page, fixture.app.adminUrl, await token('viewer'));
  await page.goto(`${fixture.app.adminUrl}/writes`);
  expect(await page.textContent('main')).toContain('Time zone: Europe/Copenhagen');
  const times = await page.$$eval('time', (all) => all.map((each) => [each.dateTime, each.textContent]));
  expect(times.length).toBeGreaterThan(0);
  const reader = readerOf('en-GB');
  for (const [at = '', shown] of times) expect(shown).toBe(reader.time(Date.parse(String(at))));
});
