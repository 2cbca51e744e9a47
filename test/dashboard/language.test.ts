/** The language of the pages: the browser's, until somebody chooses another one for it. */
import { expect, it, onTestFinished } from 'vitest';
import { readerOf } from '../../src/dashboard/page/reader.ts';
import { startSetUpPages } from './setup/set-up-pages.ts';
import { startPages } from './visitor.ts';

const ENGLISH = { 'accept-language': 'en-GB' };

it('is chosen before and after a sign-in, and only by a link of our own', async () => {
  const { visitor, signedIn } = await startPages();
  const stranger = visitor();
  const shown = async () => /<html lang="([\w-]+)"/u.exec((await stranger.get('/login', ENGLISH)).text)?.[1];
  expect(await shown()).toBe('en-GB');
  await stranger.get('/language/da?next=/login', { 'sec-fetch-site': 'cross-site' });
  expect(await shown()).toBe('en-GB');
  const chosen = await stranger.get('/language/da?next=/sessions', ENGLISH);
  expect([chosen.status, chosen.headers['location']]).toEqual([303, '/sessions']);
  expect(await shown()).toBe('da-DK');
  for (const [asked, goesTo] of [
    ['/language/da?next=https://evil.example/', '/'],
    ['/language/xx?next=/sessions', '/sessions'],
  ] as const)
    expect((await stranger.get(asked)).headers['location']).toBe(goesTo);
  expect(await shown()).toBe('da-DK');
  const ida = await signedIn('viewer');
  expect((await ida.get('/sessions', ENGLISH)).text).toContain('href="/language/da?next=%2Fsessions"');
});

it('is asked in the first step of the set-up, and kept from step to step', async () => {
  const ida = await (await startSetUpPages()).entered();
  const step = async (path: string) => (await ida.get(path, ENGLISH)).text;
  expect(await step('/setup/you')).toMatch(/href="\/language\/da\?next=%2Fsetup%2Fyou" lang="da"\s*>Dansk/u);
  await ida.get('/language/da?next=/setup/you', ENGLISH);
  expect(await step('/setup/you')).toContain('<html lang="da-DK"');
  expect(await step('/setup/crm')).toContain('<html lang="da-DK"');
});

it('has one formatter of each kind for all pages, because creating one takes as long as a hundred uses', () => {
  const { DateTimeFormat, RelativeTimeFormat } = Intl;
  onTestFinished(() => void Object.assign(Intl, { DateTimeFormat, RelativeTimeFormat }));
  const made: string[] = [];
  const counting = <F extends object>(kind: string, format: F): F =>
    new Proxy(format, {
      construct(target, given) {
        made.push(kind);
        return Reflect.construct(target as unknown as new () => object, given);
      },
    });
  Object.assign(Intl, {
    DateTimeFormat: counting('date', DateTimeFormat),
    RelativeTimeFormat: counting('distance', RelativeTimeFormat),
  });
  const pages = [...Array(10).keys()].map(() => readerOf('da-GL'));
  for (const reader of pages)
    for (let hour = 0; hour < 10; hour++) {
      const at = hour * 3_600_000;
      expect([reader.day(at), reader.time(at), reader.second(at), reader.distance(at, 0)]).not.toContain('');
    }
  expect(made.toSorted()).toEqual(['date', 'date', 'date', 'distance']);
});
