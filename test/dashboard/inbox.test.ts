/** The inbox in a browser: a list, and one of its entries beside it, which keys inside the list answer. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { ALL } from '../support/all.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { type Fixture, startFixture } from '../support/fixture.ts';
import { type Look, signIn, useBrowser } from './browser.ts';
import { focusGiven, keyboardOf } from './keyboard.ts';
import { tokenOf } from './story.ts';
import { newVisitor } from './visitor.ts';

const { open } = useBrowser();
/** The suite takes the first two. */
const LOOKS: readonly Look[] = [
  { width: 320, theme: 'dark' },
  { width: 1024, script: false },
  { width: 390, language: 'da-DK' },
  { width: 1440 },
];
const LIST = '/inbox?kind=difference';
const HELD = '+4599999999';
const TOLD = '+4530405060';

/** Records whose phone number a person edited before the register changed it, in the order of the list. */
async function withDifferences(count: number, held = HELD) {
  const fixture = await startFixture();
  for (let at = 0; at < count; at += 1)
    await fixture.addLinked('hubspot', `CVR-1-${cvrNumber(at)}`, { name: `Birk ${at} ApS`, phone: held });
  for (let at = 0; at < count; at += 1)
    await fixture.post({
      entityId: `CVR-1-${cvrNumber(at)}`,
      timestamp: '2026-03-02T09:00:00.000Z',
      updates: { phoneNumber: { before: '20304050', after: '30405060' } },
    });
  await fixture.settled();
  return fixture;
}

const idsIn = (page: Page): Promise<readonly string[]> =>
  page.$$eval('.entries input', (boxes) => boxes.map((box) => (box.getAttribute('value') ?? '').split(' ')[1] ?? ''));
const recordOf = (id: string): string => id.split('/')[2] ?? '';
const phones = (fixture: Fixture, ids: readonly string[]) =>
  ids.map((id) => fixture.hubspot.get(recordOf(id))?.['phone']);
/** How much of what has the focus lies beneath the bar that stays at the window's bottom, in px. */
const BENEATH =
  "document.activeElement.getBoundingClientRect().bottom - document.querySelector('.bar').getBoundingClientRect().top";
const shown = (page: Page): Promise<string | null> => page.getAttribute('#entry', 'data-shown');

async function openList(fixture: Fixture, look: Parameters<typeof open>[0] = {}, token?: string) {
  const tab = await open(look);
  await signIn(tab.page, fixture.app.adminUrl, token ?? (await tokenOf(fixture, 'operator')));
  await tab.page.goto(fixture.app.adminUrl + LIST);
  await focusGiven(tab.page);
  return tab;
}

/** Presses a key until the next entry is shown: a key answers only what has been on screen for half a second. */
async function answerWith(page: Page, key: string): Promise<void> {
  const before = await shown(page);
  // Half a second after the entry is drawn a single press is enough.
  await page.waitForTimeout(600);
  await page.keyboard.press(key);
  await expect.poll(() => shown(page).catch(() => before)).not.toBe(before);
  await page.waitForLoadState();
}

describe('the inbox', () => {
  it('takes at most 30 keys to decide 20 differences, one by one and as a range', async () => {
    const fixture = await withDifferences(20);
    const { page, expectSound } = await openList(fixture);
    const ids = await idsIn(page);
    const keys = keyboardOf(page, true);
    let single = 0;
    for (const key of ['a', 's', 'a']) {
      await answerWith(page, key);
      single += 1;
    }
    for (let at = 1; at < 17; at += 1) {
      await keys.key('Shift+J');
      await expect.poll(() => page.evaluate(BENEATH)).toBeLessThanOrEqual(0);
    }
    expect(await page.textContent('[data-chosen]')).toBe('17');
    const chosen = await page.evaluate(
      'document.activeElement.closest("li").querySelector("input").value.split(" ")[1]',
    );
    await expect.poll(() => shown(page)).toBe(chosen);
    await expectSound();
    await keys.press(/^Write the register’s value$/u);
    expect(await page.textContent('main')).toContain('17 entries');
    expect(keys.count + single).toBeLessThanOrEqual(30);
    await fixture.settled();
    expect(phones(fixture, ids)).toEqual([TOLD, HELD, ...Array(18).fill(TOLD)]);
    const [hold] = JSON.parse((await fixture.cli('hold', 'list', '--json')).stdout);
    expect(Date.parse(hold.until) - Date.now()).toBeGreaterThan(89 * 86_400_000);
  });

  it('continues with the next entry after an answer, which can be undone', async () => {
    const fixture = await withDifferences(3);
    const { page, expectSound } = await openList(fixture);
    const [first, second] = await idsIn(page);
    await page.click('#entry button[value="keep-difference"]');
    await page.waitForURL(/done=/u);
    expect(await shown(page)).toBe(second);
    expect(await page.textContent('[role="status"]')).toBe(`Keep, and hold without an end: ${first}`);
    expect(await page.evaluate('document.activeElement.className')).toBe('entry-link');
    await expectSound();
    await page.click('form[action="/inbox/back"] button');
    await page.waitForURL((url) => !url.searchParams.has('done'));
    await fixture.settled();
    await page.goto(`${fixture.app.adminUrl}${LIST}&at=${first}`);
    expect(await shown(page)).toBe(first);
    expect(JSON.parse((await fixture.cli('hold', 'list', '--json')).stdout)).toEqual([]);
  });

  it('says that another person has answered an entry, and does nothing', async () => {
    const fixture = await withDifferences(2);
    const { page } = await openList(fixture);
    const [first = ''] = await idsIn(page);
    await fixture.cli('review', 'keep', first);
    await page.click('#entry button[value="accept-difference"]');
    await page.waitForURL(/inbox\/answers$/u);
    expect(await page.textContent('main')).toContain('settled already');
    await fixture.settled();
    expect(phones(fixture, [first])).toEqual([HELD]);
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 5)).toEqual([]);
  });

  it('selects a range by a click with Shift, and the page without a script', async () => {
    const fixture = await withDifferences(5);
    const token = await tokenOf(fixture, 'operator');
    const { page } = await openList(fixture, {}, token);
    await page.click('.entries li:nth-child(2) input');
    await page.click('.entries li:nth-child(4) input', { modifiers: ['Shift'] });
    expect(await page.$$eval('.entries input:checked', (boxes) => boxes.length)).toBe(3);
    const plain = await openList(fixture, { script: false }, token);
    await plain.page.click('text=Choose all of this page');
    await plain.page.click('.bar button[value="accept-difference"]:not([formaction])');
    expect(await plain.page.textContent('main')).toContain('Write the register’s value: 5 entries.');
    await plain.expectSound();
  });

  it('marks differences letter by letter, and names invisible and look-alike letters', async () => {
    const fixture = await withDifferences(1, '+45 30\u00a040\u200b5061');
    const { page, expectSound } = await openList(fixture);
    const [held, told] = await page.$$eval('#entry dd.side', (sides) => sides.map((side) => side.innerHTML));
    expect(held).toContain('>U+00A0</span>');
    expect(held).toContain('>U+200B</span>');
    expect(held).not.toContain('\u200b');
    expect(told).toMatch(/<mark>.*<\/mark>/u);
    await expectSound();
  });

  it.each(ALL ? LOOKS : LOOKS.slice(0, 2))('is sound at $width px', async (look) => {
    const fixture = await withDifferences(2);
    const { page, expectSound } = await openList(fixture, look);
    await expectSound();
    await page.emulateMedia({ forcedColors: 'active' });
    await expectSound();
    await page.goto(`${fixture.app.adminUrl}/inbox`);
    await expectSound();
  });

  it('redirects from its former addresses', async () => {
    const fixture = await withDifferences(1);
    const ida = newVisitor(fixture.app.adminUrl);
    await ida.signIn(await tokenOf(fixture, 'viewer'));
    const to = async (path: string) => (await ida.get(path)).headers['location'];
    expect(await to('/review?kind=difference&provider=hubspot')).toBe('/inbox?kind=difference&provider=hubspot');
    expect(await to('/review.csv?kind=link')).toBe('/inbox.csv?kind=link');
    expect(await to('/review/answered')).toBe('/inbox/answered');
    expect(await to('/review/copy/body/1')).toBe('/inbox/copy/body/1');
    expect(await to('/match')).toBe('/inbox?kind=match');
    expect(await to('/match?at=hubspot/12')).toBe('/inbox?kind=match&at=match%2Fhubspot%2F12');
    const { text } = await ida.get(LIST);
    expect(text).not.toContain('name="choice"');
    expect(text).not.toContain('action="/inbox/answers"');
  });
});
