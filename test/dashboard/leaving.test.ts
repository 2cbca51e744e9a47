/** Leaving a connection and returning to it on the dashboard: in a real browser, and for each role. */
import { describe, expect, it } from 'vitest';
import { rememberMaking } from '../../src/connector/crm/made-properties.ts';
import { readLeft } from '../../src/connector/links/left.ts';
import { listLinks } from '../../src/connector/links/links.ts';
import { ALL } from '../support/all.ts';
import { signIn, useBrowser } from './browser.ts';
import { playStory } from './story.ts';

const { open } = useBrowser();

/** The suite takes the first. */
const VISITS = [
  { script: true, language: 'en-GB', left: 'hubspot was left', property: 'property stays: it holds values of others' },
  {
    script: false,
    language: 'da-DK',
    left: 'hubspot er forladt',
    property: 'feltet bliver: der står værdier fra andre i det',
  },
] as const;

describe.each(ALL ? VISITS : VISITS.slice(0, 1))(
  'with scripts $script, in $language',
  ({ script, language, left, property }) => {
    it('an administrator sees what is removed, leaves, sees the rest, and returns', async () => {
      const { fixture, records, token } = await playStory();
      const { adminUrl: base, store } = fixture.app;
      fixture.hubspot.edit(records.hubspot, { cvr_city: 'Odense' });
      const place = { provider: 'hubspot', account: '24680135' };
      await store.write((tx) => rememberMaking(tx, place, new Map([['cvr_city', 'made']]), 1));
      const { page, expectSound } = await open({ script, language, width: script ? 1280 : 320 });
      await signIn(page, base, await token('admin'));
      /** The live part of a page is renewed by its script, and else by the person. */
      const shown = (selector: string): Promise<void> =>
        expect
          .poll(async () => {
            const count = await page.locator(selector).count();
            if (count === 0 && !script) await page.reload();
            return count;
          })
          .toBeGreaterThan(0);
      await page.goto(`${base}/connections/hubspot`);
      await page.click('a[href="/connections/hubspot/leave"]');
      await expectSound();
      await page.check('[name="undo"]');
      await page.check('[name="removeProperties"]');
      await page.click('main button.primary');
      await shown('form[action$="/confirm"]');
      expect(await page.textContent('main')).toContain(property);
      await expectSound();
      expect(await readLeft(store.db, 'hubspot')).toBeUndefined();

      await page.click('form[action$="/confirm"] button');
      await shown('section.notice');
      await expectSound();
      expect((await listLinks(store.db, { provider: 'hubspot' })).map(({ state }) => state)).toEqual(['removed']);
      expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ cvr_city: 'Odense' });
      await page.click('section.notice a[href="/connections/hubspot"]');
      expect(await page.textContent('section.notice h2')).toBe(left);
      expect(await page.textContent('section.notice')).toContain('connector.providers.hubspot');
      await expectSound();
      for (const path of ['/connections', '/']) {
        await page.goto(base + path);
        await expectSound();
      }

      await page.goto(`${base}/connections/hubspot`);
      await page.click('form[action$="/return"] button');
      await expectSound();
      await page.click('main form[method="post"] button:not([hidden])');
      await page.waitForURL(`${base}/connections/hubspot`);
      expect(await readLeft(store.db, 'hubspot')).toBeUndefined();
      expect((await listLinks(store.db, { provider: 'hubspot' })).map(({ state }) => state)).toEqual(['active']);
    });
  },
);

it('an operator sees that a connection was left, but cannot leave one or confirm it', async () => {
  const { fixture, signedIn } = await playStory();
  const { store } = fixture.app;
  const [ada, olga] = [await signedIn('admin'), await signedIn('operator')];
  await ada.get('/connections/hubspot/leave');
  const run = (await ada.post('/connections/hubspot/leave', {})).headers['location'];
  await fixture.settled();
  const preview = await olga.get(String(run));
  expect([preview.text.includes('/confirm"'), preview.text.includes('Only an administrator')]).toEqual([false, true]);
  expect((await olga.get('/connections/hubspot')).text).not.toContain('/leave"');
  expect((await olga.post(`${run}/confirm`, {})).headers['location']).toBe(run);
  expect(await readLeft(store.db, 'hubspot')).toBeUndefined();
  await ada.get(String(run));
  await ada.post(`${run}/confirm`, {});
  await expect.poll(() => readLeft(store.db, 'hubspot')).toBeDefined();
  const shown = (await olga.get('/connections/hubspot')).text;
  expect(shown).toContain('hubspot was left');
  expect(shown).not.toContain('/return"');
  const refused = await ada.post('/connections/hubspot/leave', {});
  expect(refused.headers['location']).toMatch(/^\/(?:connections\/hubspot|runs\/\d+)$/);
  expect((await ada.get('/connections/nobody/leave')).status).toBe(404);
});
