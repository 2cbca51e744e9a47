/** The table of texts: whole in both languages, and nothing in it that nobody shows. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { briefChange } from '../../src/dashboard/companies/values/shown-value.ts';
import { readerOf } from '../../src/dashboard/page/reader.ts';
import { TEXTS, type Text } from '../../src/dashboard/texts/texts.ts';

const ROOT = join(import.meta.dirname, '../../src/dashboard');
const code = globSync('**/*.ts', { cwd: ROOT })
  .filter((file) => !file.startsWith('texts'))
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');
const formsOf = (text: Text): readonly string[] => (typeof text === 'string' ? [text] : [text.one, text.other]);
const placesOf = (text: Text): readonly string[] =>
  [
    ...new Set(formsOf(text).flatMap((form) => [...form.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))),
  ].toSorted();

describe('the texts', () => {
  it('are the same ones in both languages', () => {
    expect(Object.keys(TEXTS.da)).toEqual(Object.keys(TEXTS.en));
  });

  it.each(Object.entries(TEXTS.en))('%s has the same places in both languages', (key, en) => {
    const da = Object.entries(TEXTS.da).find(([name]) => name === key)?.[1] ?? '';
    for (const form of [...formsOf(en), ...formsOf(da)]) expect(form.trim()).toBe(form);
    expect(formsOf(da).every((form) => form !== '') && formsOf(en).every((form) => form !== '')).toBe(true);
    expect(placesOf(da)).toEqual(placesOf(en));
  });

  it('are all shown somewhere', () => {
    // A key may be put together of its first part and a value: `role.${role}`.
    const isUsed = (key: string): boolean =>
      code.includes(`'${key}'`) || code.includes(`\`${key.slice(0, key.lastIndexOf('.') + 1)}\${`);
    expect(Object.keys(TEXTS.en).filter((key) => !isUsed(key))).toEqual([]);
  });
});

describe('a reader', () => {
  it('sees numbers and times in the form of the language', () => {
    const at = Date.parse('2026-11-23T06:15:00Z');
    const [danish, british, american] = [readerOf('da'), readerOf('en-GB'), readerOf('en-US')];
    expect([danish, british, american].map((reader) => reader.number(1234567))).toEqual([
      '1.234.567',
      '1,234,567',
      '1,234,567',
    ]);
    expect(danish.time(at)).toBe('23. nov. 2026, 07.15');
    expect(danish.second(at + 1_500)).toBe('23. nov. 2026, 07.15.01');
    expect(british.time(at)).toBe('23 Nov 2026, 07:15');
    expect(american.time(at)).toMatch(/^Nov 23, 2026, 7:15\sAM$/);
    expect(danish.distance(at - 3 * 3_600_000, at)).toBe('for 3 timer siden');
    expect(british.distance(at - 90_000, at)).toBe('1 minute ago');
    expect(danish.duration(2 * 86_400_000)).toBe('2 dage');
  });
});

it('a time that became another one within a minute is told to the second, and nothing else is', () => {
  const spectator = { reader: readerOf('en-GB'), role: 'viewer', seesPersons: false } as const;
  const change = (field: string, old: unknown, now: unknown) => briefChange(spectator, field, { old, now });
  expect(change('registerChangedAt', '2026-11-23T06:15:01Z', '2026-11-23T06:15:20Z')).toEqual([
    '23 Nov 2026, 07:15:01',
    '23 Nov 2026, 07:15:20',
  ]);
  expect(change('registerChangedAt', null, '2026-11-23T06:15:20Z')).toEqual([undefined, '23 Nov 2026, 07:15']);
  expect(change('name', 'Birk', 'x'.repeat(500))).toEqual(['Birk', `${'x'.repeat(99)}…`]);
});
