/**
 * Every page of the route table in a real browser: no rule of accessibility broken, nothing wider than its window, nothing
 * reported, under 60 kB. `npm test` looks at each page once, in one language and theme or the other; `npm run test:all` at
 * each in both, at every width, with forced colours, without scripts, empty, and while a CRM fails.
 */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { ALL } from '../support/all.ts';
import { signIn, type Tab, useBrowser, WIDER } from './browser.ts';
import { PAGE_PATTERNS } from './page-patterns.ts';
import { startFilled } from './places.ts';
import { startPages } from './visitor.ts';

const { open } = useBrowser();
const MOST_BYTES = 60_000;
const LOOKS = [
  { language: 'en-GB', theme: 'light', width: 1024 },
  { language: 'da-DK', theme: 'dark', width: 390 },
] as const;
type Look = (typeof LOOKS)[number];
/** 512 and 720 are 1024 and 1440 at a zoom of 200 %. */
const WIDTHS = ALL ? [320, 390, 512, 720, 1024, 1440] : [320, 1440];

/** The innermost element that reaches out of the window. */
const CULPRIT = `[...document.querySelectorAll('main *')]
  .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth && !each.closest('.scroll'))
  .at(-1)?.outerHTML.slice(0, 200)`;
const SMALL =
  'axe.run({ runOnly: ["target-size"] }).then(({ violations }) => violations.flatMap(({ nodes }) => nodes.map(({ html }) => html)))';

/** What is wrong with a page in one look; it is loaded once. */
async function faultsOf({ page, findFaults }: Tab, address: string, look: Look): Promise<readonly string[]> {
  const faults: string[] = [];
  await page.setExtraHTTPHeaders({ 'accept-language': look.language });
  await page.emulateMedia({ colorScheme: look.theme, forcedColors: 'none' });
  await page.setViewportSize({ width: look.width, height: 900 });
  const answer = await page.goto(address);
  if (answer === null || answer.status() !== 200) return [`answered ${answer?.status()}`, ...(await findFaults())];
  const bytes = (await answer.body()).length;
  if (bytes >= MOST_BYTES) faults.push(`${bytes} bytes`);
  faults.push(...(await findFaults()));
  return [...faults, ...(await misfits(page))];
}

/** At which widths the page is wider than its window, or a target is too small. */
async function misfits(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wider = Number(await page.evaluate(WIDER));
    if (wider > 0) faults.push(`${wider} px too wide at ${width} px: ${await page.evaluate(CULPRIT)}`);
    if (!ALL || width !== 320) continue;
    const small: readonly string[] = await page.evaluate(SMALL);
    if (small.length > 0) faults.push(`too small at ${width} px: ${small.join(' ')}`);
  }
  if (!ALL) return faults;
  await page.emulateMedia({ forcedColors: 'active' });
  if (Number(await page.evaluate(WIDER)) > 0) faults.push('too wide with forced colours');
  return faults;
}

/** Looks at pages one after the other; all that is wrong, by page. */
async function walk(tab: Tab, base: string, places: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [at, place] of places.entries())
    for (const [index, look] of LOOKS.entries()) {
      if (!ALL && at % 2 !== index) continue;
      const faults = await faultsOf(tab, base + place, look);
      found.push(...faults.map((fault) => `${place} ${look.language}: ${fault}`));
    }
  return found;
}

it('every page of a filled installation is sound', async () => {
  const { fixture, token, places } = await startFilled();
  expect(places.filter((place) => place.includes(':'))).toEqual([]);
  const base = fixture.app.adminUrl;
  const tab = await open();
  await signIn(tab.page, base, token);
  expect(await walk(tab, base, places)).toEqual([]);
  if (!ALL) return;
  const plain = await open({ script: false });
  await signIn(plain.page, base, token);
  for (const place of places) {
    await plain.page.goto(base + place);
    expect(await plain.page.textContent('h1'), place).not.toBe('');
  }
  expect(await plain.findFaults()).toEqual([]);
  fixture.hubspot.fault({ match: '', times: 999, action: { kind: 'status', status: 500, body: '{}' } });
  const asking = places.filter((place) => /^\/(?:companies\/|backfill\/hubspot|connections\/|settings\/)/u.test(place));
  expect(await walk(tab, base, asking)).toEqual([]);
}, 300_000);

it.runIf(ALL)(
  'every page of an empty installation is sound',
  async () => {
    const { base, operator } = await startPages();
    const places = PAGE_PATTERNS.filter((pattern) => !pattern.includes(':'));
    const tab = await open();
    await signIn(tab.page, base, await operator('Ida', 'admin'));
    expect(await walk(tab, base, places)).toEqual([]);
  },
  300_000,
);
