import { describe, expect, test } from 'vitest';
import { changesOf } from '../../../src/service/register/diff/diff.ts';
import { readDocuments } from '../../../src/service/register/watch/read-page.ts';
import { companyOf, contact, document, entry, type Json, name, OPTIONS, person, relation, role } from './documents.ts';

const loaded = (day: string, fields: Json): Json => ({
  ...fields,
  sidstOpdateret: `${day}T11:00:00.000+01:00`,
  sidstIndlaest: `${day}T12:00:00.000+01:00`,
});

const timesOf = (before: Json, after: Json, days: readonly [string, string]): readonly string[] =>
  changesOf(companyOf(before, days[0]), companyOf(after, days[1]), OPTIONS).map(({ timestamp }) => timestamp);

const DAYS = ['2026-02-01', '2026-02-20'] as const;

const renamed = (at: string): readonly Json[] => [
  name('Prøve A ApS', '2020-01-01', '2026-02-18'),
  entry({ navn: 'Prøve B ApS' }, '2026-02-19', null, at),
];

describe('the time of a change', () => {
  test('is when the register recorded it', () => {
    const before = loaded('2026-02-01', { navne: [name('Prøve A ApS')] });
    const after = loaded('2026-02-20', { navne: renamed('2026-02-19T09:00:00.000+01:00') });
    expect(timesOf(before, after, DAYS)).toEqual(['2026-02-19T08:00:00.000Z']);
  });

  test('is the first day of an entry that the register recorded long before', async () => {
    const fields = loaded('2026-02-01', { navne: renamed('2026-01-10T09:00:00.000+01:00') });
    const options = { today: '2026-02-19', breathe: async () => undefined, again: true } as const;
    const { looks } = await readDocuments([document(fields)], options);
    const [again] = looks.map(({ snapshot }) => snapshot);
    if (again?.kind !== 'company') expect.fail('it was not read');
    const changes = changesOf(companyOf(fields, '2026-02-18'), again, OPTIONS);
    expect(changes.map(({ timestamp }) => timestamp)).toEqual(['2026-02-18T23:00:00.000Z']);
    // What was written the evening before, and is loaded after it, comes after it.
    const late = companyOf(loaded('2026-02-18', { navne: [name('Prøve C ApS')] }), '2026-02-19');
    expect(changesOf(again, late, OPTIONS).map(({ timestamp }) => timestamp)).toEqual(['2026-02-18T23:00:00.000Z']);
  });

  test('is not before the previous read if an entry was removed, so that it is newer than the entry', () => {
    const before = loaded('2026-02-01', { telefonNummer: [contact('11223344')] });
    const after = loaded('2026-02-20', { telefonNummer: [] });
    expect(timesOf(before, after, DAYS)).toEqual(['2026-02-20T10:00:00.000Z']);
    const untouched = { ...after, sidstOpdateret: '2026-01-01T11:00:00.000+01:00' };
    expect(timesOf(before, untouched, DAYS)).toEqual(['2026-02-20T11:00:00.000Z']);
  });

  test('is the same for persons', () => {
    const board = (to: string | null): Json => ({
      deltagerRelation: [
        relation(
          person(4_999_000_002, 'Anna Testesen'),
          role('LEDELSESORGAN', 'Bestyrelse', 'BESTYRELSESMEDLEM', '2020-01-01', to),
        ),
      ],
    });
    const times = timesOf(loaded('2026-02-01', board(null)), loaded('2026-02-20', board('2026-02-19')), DAYS);
    expect(times).toEqual(['2026-02-20T10:00:00.000Z', '2026-02-20T10:00:00.000Z']);
  });
});
