/** Events dated in the future: more than 24 hours ahead of our clock they are quarantined, and freeze nothing. */
import { describe, expect, test } from 'vitest';
import { datedBy } from '../../../src/connector/intake/ahead.ts';
import { payloadOf, type Updates } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { CRMS, ENTITY } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 2, 2, 8);
const iso = (ms: number): string => new Date(ms).toISOString();
const renamed = (after: string, at: number) => payloadOf(ENTITY, iso(at), { name: { before: null, after } });
const count = { before: null, after: 12 };
const interval = { before: null, after: '5-9' };

describe('an event dated ahead of our clock', () => {
  test.each([
    [24 * HOUR, false],
    [24 * HOUR + 1, true],
    [48 * HOUR, true],
    [100 * 365 * 24 * HOUR, true],
  ])('by %i ms is quarantined: %s', (ms, isAside) => {
    const { payload, assertions, quarantined } = datedBy(renamed('Nordlys ApS', NOW + ms), NOW);
    expect([payload === undefined, assertions.length === 0, quarantined !== undefined]).toEqual([
      isAside,
      isAside,
      isAside,
    ]);
    if (isAside) expect(quarantined).toContain(iso(NOW + ms));
  });

  test.each<[string, Updates]>([
    ['employment of the year 2126', { yearlyEmployees: { year: 2126, ...interval } }],
    ['employment of a quarter ahead', { quarterlyEmployees: { year: 2026, quarter: 2, ...interval } }],
    ['employment of a month ahead', { monthlyEmployeeCount: { year: 2026, month: 4, ...count } }],
    ['an article of tomorrow and a day', newsAt(NOW + 25 * HOUR)],
    ['a report of next year', reportOf(2027)],
  ])('only by its period is quarantined alone, the rest is folded: %s', (_, updates) => {
    const payload = payloadOf(ENTITY, iso(NOW), { name: { before: null, after: 'Nordlys ApS' }, ...updates });
    const dated = datedBy(payload, NOW);
    expect(dated.assertions.map(({ field }) => field)).toEqual(['registerChangedAt', 'name']);
    expect(dated.quarantined).toContain(Object.keys(updates)[0]);
    expect(Object.keys(dated.payload?.updates ?? {})).toEqual(['name']);
  });

  test.each<[string, Updates]>([
    ['this year', { yearlyEmployees: { year: 2026, ...interval } }],
    ['this quarter', { quarterlyEmployees: { year: 2026, quarter: 1, ...interval } }],
    ['this month', { monthlyEmployeeCount: { year: 2026, month: 3, ...count } }],
    ['an article within a day', newsAt(NOW + 23 * HOUR)],
    ['a report of this year', reportOf(2026)],
  ])('within the tolerance is folded: %s', (_, updates) => {
    expect(datedBy(payloadOf(ENTITY, iso(NOW), updates), NOW).quarantined).toBeUndefined();
  });
});

function newsAt(time: number): Updates {
  const { newArticle } = samplePayload({ event: 'newArticle', now: 0 }).updates;
  return newArticle === undefined ? {} : { newArticle: { ...newArticle, time: iso(time) } };
}
function reportOf(reportYear: number): Updates {
  const { newReport } = samplePayload({ event: 'newReport', now: 0 }).updates;
  return newReport === undefined
    ? {}
    : { newReport: { data: { ...newReport.data, reportType: 'Yearly', reportYear } } };
}

describe.each(SUITE_ENGINES)('one event dated in the future, on %s', (engine) => {
  const [{ own }] = CRMS;
  const setUp = async () => {
    const fixture = await startFixture({ engine });
    const id = await fixture.addLinked('hubspot', ENTITY, {});
    const reported = async (...payloads: readonly ReturnType<typeof renamed>[]) => {
      for (const payload of payloads) expect(await fixture.post(payload)).toBe(204);
      await fixture.atRest();
      return fixture.hubspot.get(id)?.[own];
    };
    return { fixture, reported, now: Date.now() };
  };

  test('freezes no field: it is stored, quarantined with a reason, shown for review, and true events go on', async () => {
    const { fixture, reported, now } = await setUp();
    expect(await reported(renamed('Sand ApS', now))).toBe('Sand ApS');
    expect(await reported(renamed('Fremtid ApS', now + 100 * 365 * 24 * HOUR))).toBe('Sand ApS');
    expect(await reported(renamed('Sandere ApS', now + HOUR))).toBe('Sandere ApS');
    const list = await fixture.cli('review', 'list');
    expect(list.code).toBe(3);
    expect(list.stdout).toContain('event/2');
    const json = (await fixture.cli('review', 'list', '--json')).stdout;
    expect(json).toContain('more than 24 hours ahead of our clock');
    expect((await fixture.cli('explain', ENTITY)).stdout).toContain('quarantined (see cvrsync review): dated 2126-');
  });

  test('gets its time of arrival if a person retries it, and is ignored if it is dropped', async () => {
    const { fixture, reported, now } = await setUp();
    await reported(renamed('Sand ApS', now), renamed('Forkert dateret ApS', now + 48 * HOUR));
    await reported(renamed('Aldrig ApS', now + 72 * HOUR));
    expect((await fixture.cli('review', 'retry', 'event/2')).code).toBe(0);
    expect((await fixture.cli('review', 'drop', 'event/3')).code).toBe(0);
    expect(await reported()).toBe('Forkert dateret ApS');
    expect((await fixture.cli('review', 'list')).code).toBe(0);
    // As of when it came, and no later: what the register says next wins.
    expect(await reported(renamed('Nyest ApS', now + 2 * HOUR))).toBe('Nyest ApS');
  });
});
