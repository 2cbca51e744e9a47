/** Danish pages are Danish: a crawl of every page finds no English sentence, by the words that only the English texts have. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conditionsOf } from '../../src/alerts/conditions.ts';
import { ROLES } from '../../src/config/schema/roles.ts';
import { readerOf } from '../../src/dashboard/page/reader.ts';
import { said } from '../../src/dashboard/page/said.ts';
import SAID from '../../src/dashboard/texts/said.da.json' with { type: 'json' };
import { TEXTS } from '../../src/dashboard/texts/texts.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { delivering, openHook } from '../service/delivering.ts';
import { changed, made } from '../service/monitored.ts';
import { playStory } from './story.ts';
import { startPages, type Visitor } from './visitor.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Names of properties hold no words. */
const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .replaceAll(/\w+_\w+/gu, ' ')
    .match(/\p{L}[\p{L}’']*/gu) ?? [];
const formsIn = (language: 'en' | 'da'): readonly string[] =>
  Object.values(TEXTS[language])
    .flatMap((text) => (typeof text === 'string' ? [text] : [text.one, text.other]))
    .flatMap(wordsOf);
const danish = new Set(formsIn('da'));
const onlyEnglish = new Set(formsIn('en').filter((word) => !danish.has(word)));

/** What a page says in English: texts between its tags, and in attributes that are read out. Code stands as it is. */
function englishIn(page: string): readonly string[] {
  const body = page.replace(/^.*<body>/su, '').replaceAll(/<(code|pre|script)\b.*?<\/\1>|`[^`]*`/gsu, ' ');
  const attributes = [...body.matchAll(/(?:aria-label|title|placeholder)="([^"]*)"/gu)].map(([, text = '']) => text);
  return [...body.split(/<[^>]*>/u), ...attributes].filter((text) => {
    const words = wordsOf(text);
    const english = words.filter((word) => onlyEnglish.has(word)).length;
    return english > 1 && english * 3 >= words.length;
  });
}

/** Every page that links lead to from the overview, in Danish; what is English in them, with the first page of each. */
async function crawl(visitor: Visitor): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const [waiting, seen] = [['/'], new Set(['/'])];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const { text, headers } = await visitor.get(path, { 'accept-language': 'da' });
    if (!String(headers['content-type']).includes('text/html')) continue;
    for (const each of englishIn(text)) if (!found.has(each.trim())) found.set(each.trim(), path);
    for (const [, href = ''] of text.matchAll(/<a[^>]* href="(\/[^"#]*)"/gu)) {
      const next = href.replaceAll('&amp;', '&');
      if (seen.has(next) || next.startsWith('/assets') || seen.size > 150) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return found;
}

const COUNTED = { writes: 9, replaced: 7, edits: 2, later: 0 };

describe('in Danish', () => {
  it('every page of a connector with a review is Danish', async () => {
    const { fixture, signedIn } = await playStory();
    const { store } = fixture.app;
    await fixture.post('{"entityId": ');
    await store.write(async (tx) => {
      await mark(tx, 'note:hubspot', ['1'], 0);
      await tx.updateTable('lane').set({ parked_at: 1, error: null, attempts: 5 }).where('key', '=', '1').execute();
      await tx
        .updateTable('link')
        .set({ state: 'conflict', reason: null })
        .where('provider', '=', 'salesforce')
        .execute();
      await tx
        .updateTable('link')
        .set({ observed: 'refused', observed_error: null })
        .where('provider', '=', 'hubspot')
        .execute();
    });
    expect(Object.fromEntries(await crawl(await signedIn('admin')))).toEqual({});
  });

  it('every page of a service is Danish', async () => {
    const { operator, visitor } = await startPages();
    const karen = visitor();
    await karen.signIn(await operator('Karen', 'admin'));
    expect(Object.fromEntries(await crawl(karen))).toEqual({});
  });

  it('every page of a service whose deliveries fail is Danish', async () => {
    const { signedIn, store } = await startPages();
    const hooks = await Promise.all([
      openHook((response) => void response.writeHead(500).end()),
      openHook((response) => void response.writeHead(302, { location: 'https://elsewhere.example/' }).end()),
      openHook((response) => response.destroy()),
    ]);
    for (const url of [...hooks.map((hook) => hook.url), 'http://127.0.0.1:1/'])
      await made(store, { name: url, url, target: 'all' });
    const { publish, worker } = delivering(store);
    await publish(changed());
    await worker.drained();
    const karen = await signedIn('admin');
    const found = await crawl(karen);
    expect(Object.fromEntries(found)).toEqual({});
    const { text } = await karen.get('/deliveries', { 'accept-language': 'da' });
    expect(text).not.toContain('<span lang="en">');
    expect(text).toContain('svarede 500');
  });

  it('every condition of the overview and of alerts is Danish', () => {
    const accounts = (['auth', 'refused', 'rate', 'locked'] as const).flatMap((fault) =>
      ['@upstream', 'hubspot', 'hubspot/notes'].map((account) => ({
        account,
        fault,
        since: 0,
        until: 9e15,
        reason: null,
      })),
    );
    const observed = {
      blocks: accounts,
      missingRoles: ROLES,
      failed: [1, 2].map((count) => ({ queue: 'sync:hubspot', count, since: 0 })),
      limits: ['hubspot', undefined].map((provider) => ({ provider, since: 0 })),
      behind: ['cvr', 'count'].map((source) => ({ source, since: 0 })),
      differing: [{ origin: 'datafordeler', compared: 100, differing: 10 }],
      missing: [{ part: 'virksomheder', source: 3, stored: 1 }],
      keyEnds: '2001-09-12',
      freeBytes: 1,
      waiting: 9,
      proposals: [
        ...[undefined, COUNTED].map((counted) => ({ provider: 'hubspot', since: 0, counted })),
        { provider: 'hubspot', since: 0, counted: undefined, removed: 3 },
      ],
      refusedMail: [1, 2].map((count) => ({ monitor: 'm1', name: 'Nordlys', count, since: 0 })),
      monitors: [true, false].map((isOff) => ({ id: 'm1', name: 'Nordlys', since: 0, isOff })),
      backupFailsSince: 0,
      gaps: [{ since: 0, until: 1 }],
    };
    const outages = [true, false].map((refusesSender) => ({ recipients: 2, since: 0, refusesSender }));
    const all = outages.flatMap((mailOutage) =>
      conditionsOf({ ...observed, mailOutage }, { reviewOver: 1, registerBehindMinutes: 1 }, 1e12),
    );
    const reader = readerOf('da');
    const left = all
      .flatMap(({ what, advice }) => [what, advice])
      .filter((text) => typeof said(reader, text) !== 'string');
    expect(left).toEqual([]);
    const shown = all.flatMap(({ what, advice }) => [said(reader, what), said(reader, advice)]).join('<br>');
    expect(englishIn(`<body>${shown.replaceAll(/`[^`]*`/gu, '')}`)).toEqual([]);
  });
});

it('the table has no unused sentence', () => {
  const sources = globSync('{src,providers}/**/*.ts', {
    cwd: ROOT,
    exclude: ['src/dashboard/texts/**', 'providers/kit/**'],
  })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n');
  /** As one text of the sources, or made of two. */
  const isSaid = (part: string): boolean =>
    sources.includes(part) ||
    [...part.matchAll(/ /gu)].some(
      ({ index }) => sources.includes(part.slice(0, index)) && sources.includes(part.slice(index + 1)),
    );
  const longest = (en: string): string =>
    en
      .split(/\{\w+\}|[(),:;`]/u)
      .map((part) => part.trim())
      .toSorted((a, b) => b.length - a.length)[0] ?? '';
  expect(
    Object.keys(SAID)
      .map(longest)
      .filter((part) => part.length > 16 && !isSaid(part)),
  ).toEqual([]);
});
