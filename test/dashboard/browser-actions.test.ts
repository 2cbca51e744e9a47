/** Actions on a company's records in a real browser, with scripts and without. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { ALL } from '../support/all.ts';
import { signIn, useBrowser } from './browser.ts';
import { COMPANY, playStory } from './story.ts';

const { open } = useBrowser();

/** Opens a page again until it shows this: on a busy machine a CRM may take longer to answer than a page waits. */
const shows = (page: Page, text: string): Promise<void> =>
  expect
    .poll(async () => {
      const shown = (await page.textContent('main')) ?? '';
      if (!shown.includes(text)) await page.reload();
      return shown;
    })
    .toContain(text);

describe.each([true, false])('with scripts: %s', (script) => {
  // Without scripts by night: the forms are the same.
  it.runIf(ALL || script)(
    'an edit is released on the page of the company, and the hold of another property begins and ends',
    async () => {
      const { fixture, records, token } = await playStory();
      const base = fixture.app.adminUrl;
      const secret = await token('operator');
      const { page, expectSound } = await open({ script, width: script ? 1280 : 390 });
      await page.goto(`${base}/login`);
      await page.fill('#token', secret);
      await page.click('button.primary');
      await page.waitForURL(`${base}/`);
      await page.goto(`${base}/companies/${COMPANY}`);
      await page.click('td[data-label="Actions"] a[href*="/release?"]');
      await page.selectOption('#property', 'phone');
      await expectSound();
      await page.click('main button.primary');
      await page.waitForSelector('main form[method="post"]');
      await shows(page, '+4530405060');
      await expectSound();
      await page.click('main button.primary');
      await page.waitForURL(`${base}/companies/${COMPANY}`);
      await fixture.settled();
      expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });

      await page.click('td[data-label="Actions"] a[href*="/hold?provider=salesforce"]');
      await page.selectOption('#property', 'Phone');
      await page.fill('#reason', '<i>why</i>');
      await page.click('main button.primary');
      await page.waitForSelector('main form[method="post"]');
      await page.click('main button.primary');
      await page.waitForURL(`${base}/companies/${COMPANY}`);
      expect(await page.textContent('main')).toContain('<i>why</i>');
      await expectSound();
      await page.click('.lines a[href*="/end?provider=salesforce"]');
      await page.click('main button.primary');
      await page.waitForURL(`${base}/companies/${COMPANY}`);
      expect(await page.textContent('main')).not.toContain('hold: nothing is written');

      fixture.hubspot.edit(records.hubspot, { phone: '+4588888888' });
      const updates = { phoneNumber: { before: '30405060', after: '51515151' } };
      await fixture.post({ entityId: COMPANY, timestamp: '2026-04-01T09:00:00.000Z', updates });
      await fixture.settled();
      await page.goto(`${base}/inbox?kind=difference`);
      await page.click('.bar summary');
      await page.click('.bar button[formaction="/runs/answers"][value="accept-difference"]');
      const pageOf = (selector: string): Promise<void> =>
        expect
          .poll(async () => {
            const count = await page.locator(selector).count();
            if (count === 0 && !script) await page.reload();
            return count;
          })
          .toBeGreaterThan(0);
      await pageOf('form[action$="/confirm"]');
      await expectSound();
      await page.click('form[action$="/confirm"] button');
      await pageOf('.state.ok');
      await expectSound();
      await fixture.settled();
      expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4551515151' });

      await page.goto(`${base}/companies/${COMPANY}`);
      await page.click(`a[href="/companies/${COMPANY}/link"]`);
      await page.selectOption('#provider', 'hubspot');
      await page.fill('#record', fixture.hubspot.add({ name: 'Birk Vest' }));
      await expectSound();
      await page.click('main button.primary');
      await page.waitForSelector('main form[method="post"]');
      await expectSound();
      await page.click('main button.primary');
      await page.waitForURL(`${base}/companies/${COMPANY}`);
      expect(await page.locator('a[href*="/unlink?provider=hubspot"]').count()).toBe(2);
      await page.locator('a[href*="/unlink?provider=hubspot"]').last().click();
      await expectSound();
      await page.click('main button.primary');
      await page.waitForURL(`${base}/companies/${COMPANY}`);
      expect(await page.locator('a[href*="/unlink?provider=hubspot"]').count()).toBe(1);
    },
  );

  it('Enter on a box of the review list gives no answer, nor does Enter on the box of a confirmation', async () => {
    const { fixture, records, token } = await playStory({
      connections: { hubspot: { match: { property: 'cvr_number' } } },
    });
    const base = fixture.app.adminUrl;
    const { page, expectSound } = await open({ script });
    await signIn(page, base, await token('admin'));
    const pressIn = async (address: string, box: string): Promise<void> => {
      await page.goto(`${base}${address}`);
      await page.check(box);
      await page.focus(box);
      await page.keyboard.press('Enter');
      await page.waitForTimeout(300);
      expect(page.url()).toBe(`${base}${address}`);
      await expectSound();
    };
    await pressIn('/inbox?kind=difference', '.entries input[name="choice"]');
    const other = fixture.hubspot.add({ name: 'Birk Øst', cvr_number: '10150817' });
    const link = new URLSearchParams({ provider: 'hubspot', record: other });
    await pressIn(`/companies/${COMPANY}/link?${link}`, 'input[name="consent"]');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 1)).toEqual([]);
    await page.goto(`${base}/inbox?kind=difference`);
    await page.check('.entries input[name="choice"]');
    await page.click('.bar button[value="keep-difference"]');
    await page.waitForURL(`${base}/inbox/answers`);
    expect(await page.textContent('main')).toContain('Keep, and hold without an end: 1 entry.');
    await expectSound();
    await page.click('form[action="/inbox/back"] button');
    await page.waitForURL(`${base}/inbox/back`);
    expect(await page.textContent('main')).toContain('the difference is in review again');
    await expectSound();
    await fixture.settled();
    await page.goto(`${base}/inbox?kind=difference`);
    await page.check('.entries input[name="choice"]');
    await page.click('.bar button[value="keep-difference"]');
    await page.click('main form[action="/inbox/back"] a');
    await page.check('td input[name="choice"]');
    await expectSound();
    await page.click('form[action="/inbox/back"] button:not([hidden])');
    expect(await page.textContent('main')).toContain('the difference is in review again');
  });
});
