/** Every page in a real browser: nothing reported, nothing wider than its window, no rule of accessibility broken. */
import { describe, expect, it } from 'vitest';
import { LOOKS, signIn, useBrowser } from './browser.ts';
import { COMPANY, playStory } from './story.ts';

const { open } = useBrowser();
const PAGES = [
  '/',
  '/review',
  '/review?kind=difference',
  '/review/upload',
  '/review/copy/body/1',
  '/companies',
  '/companies?q=bi',
  `/companies/${COMPANY}`,
  `/companies/${COMPANY}/link`,
  '/backfill',
  '/backfill/hubspot',
  '/writes',
  `/writes?entity=${COMPANY}`,
  '/connections',
  '/connections/hubspot',
  '/audit',
  '/installation',
  '/sessions',
];

describe('every page', () => {
  it('is sound in both themes, from 360 to 2560 px, in both languages, with and without scripts', async () => {
    const { fixture, records, token } = await playStory();
    const base = fixture.app.adminUrl;
    const secret = await token('operator');
    await fixture.post('{"entityId": ');
    const hold = `/companies/${COMPANY}/hold?provider=hubspot&record=${records.hubspot}`;
    for (const look of LOOKS) {
      const { page, expectSound } = await open(look);
      await page.goto(`${base}/login`);
      await page.fill('#token', secret);
      await page.click('button.primary');
      await page.waitForURL(`${base}/`);
      for (const path of [...PAGES, hold, `${hold}&property=*`]) {
        await page.goto(base + path);
        expect(await page.textContent('h1'), path).not.toBe('');
        await expectSound();
      }
    }
  });

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
    for (const path of [`/companies/${COMPANY}`, '/review?kind=difference', '/writes']) {
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

describe('with scripts', () => {
  it('times are in the zone of the reader, and the overview brings itself up to date', async () => {
    const { fixture, token } = await playStory();
    const secret = await token('viewer');
    const { page } = await open({ language: 'en-GB' });
    await page.clock.install();
    await page.goto(`${fixture.app.adminUrl}/login`);
    await page.fill('#token', secret);
    await page.click('button.primary');
    await page.waitForSelector('#overview');
    expect(await page.textContent('footer')).toContain('Europe/Copenhagen');
    await fixture.app.store.write((tx) => tx.updateTable('link').set({ state: 'conflict' }).execute());
    await page.clock.runFor(16_000);
    await expect.poll(() => page.textContent('#overview')).toContain('Links in conflict or refused: 2');
  });
});
