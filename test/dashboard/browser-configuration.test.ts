/** The page of the accepted configuration in a real browser: everything that can wait there, and an answer by keyboard. */
import { expect, it } from 'vitest';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { handwritten, type Started } from '../connector/rules/fixture.ts';
import { ALL } from '../support/all.ts';
import { type Look, signIn, useBrowser } from './browser.ts';
import { keyboardOf } from './keyboard.ts';

const { open } = useBrowser();
const ADDRESS = '/installation/configuration';
/** Narrower than the narrowest phone, and each language without scripts. */
const LOOKS: readonly Look[] = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 320, language: 'da-DK' },
  { theme: 'light', width: 320, script: false },
  { theme: 'dark', width: 1280, language: 'da-DK', script: false },
];
/** Replaces the names that people wrote, and fills a property. */
const CHANGED = { hubspot: { fields: { name: [{ property: 'name', policy: 'always' }, 'selskabsstatus'] } } };

const adminOf = async ({ app }: Started): Promise<string> =>
  (await app.store.write((tx) => createOperator(tx, { name: 'ida', role: 'admin' }, Date.now()))) ?? '';

/** The text of the page, in each look; each is sound. */
async function looked({ app }: Started, token: string): Promise<readonly string[]> {
  const texts: string[] = [];
  // The suite takes the narrow ones: one with scripts, and one without.
  for (const look of ALL ? LOOKS : LOOKS.slice(1, 3)) {
    const { page, expectSound } = await open(look);
    await signIn(page, app.adminUrl, token);
    await page.goto(app.adminUrl + ADDRESS);
    await expectSound();
    texts.push((await page.textContent('main')) ?? '');
  }
  return texts;
}

it('shows pending changes with values of real records and their names, and is answered by keyboard alone', async () => {
  const { start, names } = await handwritten('sqlite', 2);
  const started = await start(CHANGED);
  await started.app.connector?.drained();
  const token = await adminOf(started);
  for (const text of await looked(started, token)) {
    for (const value of ['Kunde 0', 'Kunde 1', 'B ApS', 'selskabsstatus']) expect(text).toContain(value);
    expect(text).toMatch(/Kunde 0.*B ApS.*(?:a person wrote it|skrevet af et menneske)/su);
    expect(text).toMatch(/Written: 4\. Replaced: 2, 2 |Skrives: 4\. Erstattes: 2, heraf 2 /u);
    // Where nothing is written yet, the examples say so.
    expect(text).toMatch(/selskabsstatus(?:blank|tom)/u);
  }
  const { page, expectSound } = await open({ width: 320, isAudited: false });
  await signIn(page, started.app.adminUrl, token);
  await page.goto(started.app.adminUrl + ADDRESS);
  const keyboard = keyboardOf(page, true);
  await keyboard.skipToContent();
  await keyboard.press(/^Accept this configuration$/u);
  await expect.poll(names).toEqual(['B ApS', 'B ApS']);
  expect(keyboard.count).toBeLessThan(20);
  await page.goto(started.app.adminUrl + ADDRESS);
  expect(await page.textContent('main')).toContain('Nothing waits to be accepted.');
  await expectSound();
});

it('shows a connection that was removed from the file, and is sound', async () => {
  const { start } = await handwritten('sqlite', 2);
  const started = await start({ hubspot: false });
  await started.app.connector?.drained();
  for (const text of await looked(started, await adminOf(started)))
    expect(text).toMatch(/hubspot is not configured any more\. 2 linked|hubspot er ikke .*\b2\b/u);
});
