/** The five main tasks by keyboard alone, from the overview on, with scripts and without; the page of the documents tells how many keys each takes. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { listDeliveries } from '../../src/service/delivery/deliveries.ts';
import { delivering, openHook } from '../service/delivering.ts';
import { changed, made } from '../service/monitored.ts';
import { ALL } from '../support/all.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { readDoc, tableIn } from '../support/docs.ts';
import { startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';
import { startHouse } from './backfill/house.ts';
import { signIn, useBrowser } from './browser.ts';
import { type Keyboard, keyboardOf, toNextPage } from './keyboard.ts';
import { COMPANY, HOSTILE, playStory, tokenOf } from './story.ts';
import { startPages } from './visitor.ts';

const { open } = useBrowser();
const WALKS = tableIn(readDoc('docs/dashboard.md'), 'Task', 'Keys with scripts', 'Without');

/** The most keys that a task may take with scripts. */
const MOST: Readonly<Record<string, number>> = {
  'Find out why a record holds a value': 3,
  'See the preview of a plan': 12,
  'Undo a bad hour': 15,
  'Send a failing delivery again': 8,
};

/** Fails if a task takes too many keys, or another number than the page of the documents tells. */
function expectTold(task: string, script: boolean, { count }: Keyboard): void {
  if (script) expect(count, task).toBeLessThanOrEqual(MOST[task] ?? Number.POSITIVE_INFINITY);
  const row = WALKS.find((each) => each['Task'] === task);
  expect(row?.[script ? 'Keys with scripts' : 'Without'], task).toBe(String(count));
}

/** The overview, with somebody signed in who has a keyboard alone. */
async function startAt(base: string, token: string, script: boolean): Promise<{ page: Page; keys: Keyboard }> {
  const { page } = await open({ script });
  await signIn(page, base, token);
  return { page, keys: keyboardOf(page, script) };
}

it('g and a letter lead to a page, each to another, and are a text where somebody types', async () => {
  const { fixture, token } = await playStory({ service: { register: { source: 'file', path: newFolder() } } });
  const { page } = await startAt(fixture.app.adminUrl, await token('admin'), true);
  const places = await page.$$eval('header nav a', (all) =>
    all.map((each) => [each.getAttribute('data-go'), each.getAttribute('href')]),
  );
  expect(new Set(places.map(([key]) => key)).size).toBe(places.length);
  expect(places.filter(([key]) => !/^[a-z]$/u.test(key ?? ''))).toEqual([]);
  for (const [key, path] of places.slice(0, 4)) {
    await page.keyboard.press('g');
    await Promise.all([page.waitForURL(`**${path}#content`), page.keyboard.press(key ?? '')]);
  }
  await page.focus('input[type="search"]');
  await page.keyboard.type('gd');
  expect(await page.inputValue('input[type="search"]')).toBe('gd');
});

describe.each([true, false])('by keyboard alone, with scripts: %s', (script) => {
  /** What the suite tries with scripts alone, and the night without them, too. */
  const atFirst = it.runIf(ALL || script);

  atFirst('somebody finds out why a record holds a value', async () => {
    const { fixture, records, token } = await playStory();
    const { page, keys } = await startAt(fixture.app.adminUrl, await token('viewer'), script);
    if (script) await keys.key('/');
    else await keys.tabTo(/^Name, CVR number, record id/u);
    await keys.enter(`https://app.hubspot.com/contacts/42/record/0-2/${records.hubspot}`);
    await Promise.all([page.waitForURL(`**/companies/${COMPANY}`), keys.key('Enter')]);
    const row = page.locator('tr', { has: page.locator('th', { hasText: /^Phone$/u }) }).first();
    expect(await row.textContent()).toContain('+4599999999');
    expect(await row.textContent()).toContain('a person’s edit is kept');
    expectTold('Find out why a record holds a value', script, keys);
  });

  atFirst('somebody decides 20 differences, all in one way', async () => {
    const { fixture, ids, token } = await withDifferences();
    const { page, keys } = await startAt(fixture.app.adminUrl, token, script);
    await toDifferences(keys);
    if (script) for (const name of ['p', 'b']) await keys.key(name);
    else {
      for (const name of ['Shift+Tab', 'Shift+Tab']) await keys.key(name);
      await toNextPage(page, () => keys.key('Enter'));
    }
    await toNextPage(page, () => keys.key('Enter'));
    expect(await page.textContent('main')).toContain('20 entries');
    expectTold('Decide 20 differences, all in one way', script, keys);
    await fixture.settled();
    expect(ids.map((id) => fixture.hubspot.get(id)?.['phone'])).toEqual(Array(20).fill('+4530405060'));
  });

  it('somebody decides 20 differences, ten of them otherwise', async () => {
    const { fixture, ids, token } = await withDifferences();
    const { page, keys } = await startAt(fixture.app.adminUrl, token, script);
    await toDifferences(keys);
    await chooseTen(keys, script);
    await pressAnswer(page, keys, script && 0, 'Write the register’s value');
    await toNextPage(page, () => keys.key('Enter'));
    await chooseTen(keys, script);
    await pressAnswer(page, keys, script && 1, 'Keep, and hold for 90 days');
    expectTold('Decide 20 differences, ten of them otherwise', script, keys);
    await fixture.settled();
    const held = ids.map((id) => fixture.hubspot.get(id)?.['phone']);
    expect(held.toSorted()).toEqual([...Array(10).fill('+4530405060'), ...Array(10).fill('+4599999999')]);
  });

  it('somebody applies a plan', async () => {
    const { fixture, add, token, links } = await startHouse();
    const id = add('hubspot', '10150817');
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const { keys } = await startAt(fixture.app.adminUrl, await token('operator'), script);
    await keys.go('b', /^Backfill$/u);
    await keys.press(/^hubspot$/u);
    await keys.press(/^Preview …$/u);
    await keys.shows('1 record would be linked');
    expectTold('See the preview of a plan', script, keys);
    await keys.skipToContent();
    await keys.press(/^Link 1 record$/u);
    await keys.shows('Done');
    expectTold('Apply a plan', script, keys);
    expect(await links('hubspot')).toEqual({ [id]: 'CVR-1-10150817 number active' });
  });

  atFirst('somebody undoes a bad hour', async () => {
    const { fixture, records, token } = await playStory();
    const { keys } = await startAt(fixture.app.adminUrl, await token('operator'), script);
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: HOSTILE });
    await keys.go('w', /^Writes$/u);
    await keys.press(/^The last hour$/u);
    await keys.press(/^Take these writes back …$/u);
    await keys.shows('Ready: nothing was written yet');
    await keys.skipToContent();
    await keys.press(/^Restore \d+ properties$/u);
    await keys.shows('Done');
    expectTold('Undo a bad hour', script, keys);
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: 'Birk ApS', phone: '+4599999999' });
    expect(fixture.salesforce.get(records.salesforce)).toMatchObject({ Name: 'Birk ApS' });
  });

  atFirst('somebody sends a failing delivery again', async () => {
    const { base, operator, store } = await startPages();
    let status = 500;
    const hook = await openHook((response) => void response.writeHead(status).end());
    await made(store, { url: hook.url, target: 'all' });
    const { publish, later } = delivering(store);
    const state = async () => (await listDeliveries(store.db))[0]?.state;
    await publish(changed({ name: 'Havblik ApS' }));
    await expect.poll(state).toBe('failing');
    const { page, keys } = await startAt(base, await operator('Ida', 'operator'), script);
    await keys.go('d', /^Deliveries$/u);
    await keys.press(/^failing, tried again 1$/u);
    if (script) await keys.key('j');
    else await keys.tabTo(/^1$/u);
    await toNextPage(page, () => keys.key('Enter'));
    // Not before: on a busy machine it would be sent by itself until here.
    status = 204;
    await keys.press(/^Send now$/u);
    expectTold('Send a failing delivery again', script, keys);
    await later(0);
    expect(await state()).toBe('done');
  });
});

/** From the overview to the list of differences, whose first entry has the focus. */
async function toDifferences(keys: Keyboard): Promise<void> {
  await keys.skipToContent();
  await keys.press(/^20 properties hold another value/u);
}

/** The box of an entry stands before its name, so the focus begins behind the first box. */
async function chooseTen(keys: Keyboard, script: boolean): Promise<void> {
  if (script) {
    for (let chosen = 1; chosen < 10; chosen += 1) await keys.key('Shift+J');
    return;
  }
  await keys.key('Shift+Tab');
  await keys.key('Space');
  for (let chosen = 1; chosen < 10; chosen += 1) {
    await keys.tabTo(/^choose difference/u);
    await keys.key('Space');
  }
}

/** Presses an answer to what is chosen; `at` is its place among the answers, to which a key leads. */
async function pressAnswer(page: Page, keys: Keyboard, at: number | false, name: string): Promise<void> {
  if (at === false) await keys.press(new RegExp(`^${name}$`, 'u'));
  else {
    await keys.key('b');
    for (let passed = 0; passed < at; passed += 1) await keys.key('Tab');
    await toNextPage(page, () => keys.key('Enter'));
  }
  expect(await page.textContent('main')).toContain('10');
}

/** 20 records whose phone number a person edited before the register changed it. */
async function withDifferences() {
  const fixture = await startFixture();
  const ids: string[] = [];
  for (let at = 0; at < 20; at += 1)
    ids.push(await fixture.addLinked('hubspot', `CVR-1-${cvrNumber(at)}`, { name: 'Birk ApS', phone: '+4599999999' }));
  for (let at = 0; at < 20; at += 1)
    await fixture.post({
      entityId: `CVR-1-${cvrNumber(at)}`,
      timestamp: '2026-03-02T09:00:00.000Z',
      updates: { phoneNumber: { before: '20304050', after: '30405060' } },
    });
  await fixture.settled();
  return { fixture, ids, token: await tokenOf(fixture, 'operator') };
}
