import { describe, expect, test } from 'vitest';
import { unitChanges } from '../../../../src/service/register/diff/diff.ts';
import type { DiffOptions } from '../../../../src/service/register/diff/differ.ts';
import { readDocument } from '../../../../src/service/register/document/document.ts';
import { comparableUnit, withKnownUnit } from '../../../../src/service/register/document/known.ts';
import { statedBy } from '../../../../src/service/register/document/stated.ts';
import { address, contact, entry, industry, type Json, name, OPTIONS, TODAY } from '../documents.ts';

const unit = (fields: Json = {}, today = TODAY) => {
  const reading = readDocument(
    {
      VrproduktionsEnhed: {
        pNummer: 1_990_000_001,
        navne: [name('Prøvelund Lager')],
        virksomhedsrelation: [entry({ cvrNummer: 95_000_019 })],
        beliggenhedsadresse: [address({})],
        hovedbranche: [industry('310100')],
        sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
        sidstIndlaest: '2026-03-02T12:00:00.000+01:00',
        ...fields,
      },
    },
    today,
  );
  if (reading.kind !== 'unit') throw new Error(`the document is ${reading.kind}`);
  return reading;
};
const told = (before: Json, after: Json, options: Partial<DiffOptions> = {}) =>
  unitChanges(unit(before).unit, unit(after).unit, { ...OPTIONS, ...options });

describe('a production unit', () => {
  test('that changed is reported to the company it belongs to', () => {
    const renamed = { navne: [name('Nyt Lager', '2026-03-01', null, '2026-03-01T08:00:00.000+01:00')] };
    expect(told({}, renamed, { nameOf: () => 'Prøvelund Møbler ApS' })).toMatchObject([
      {
        entity: 'CVR-1-95000019',
        name: 'Prøvelund Møbler ApS',
        timestamp: '2026-03-01T07:00:00.000Z',
        updates: { pUnitUpdated: { entity: { entityId: 'CVR-2-1990000001', name: 'Nyt Lager', type: 'Place' } } },
      },
    ]);
  });

  test.each<[string, Json]>([
    ['its address', { beliggenhedsadresse: [address({ husnummerFra: 77 })] }],
    ['its industry', { hovedbranche: [industry('620100')] }],
    ['its phone number', { telefonNummer: [contact('11000001')] }],
    ['its mail address', { elektroniskPost: [contact('a@b.example')] }],
    ['a secondary industry', { bibranche1: [industry('620100')] }],
    ['a secondary industry in another place', { bibranche1: [], bibranche3: [industry('620100')] }],
    ['protection against advertising', { reklamebeskyttet: true }],
  ])('changes by %s', (_, after) => expect(told({}, after)).toHaveLength(1));

  test('that loses a secondary industry or its protection changed, once', () => {
    const before = { bibranche1: [industry('620100')], bibranche2: [industry('310100')], reklamebeskyttet: true };
    const ended = { ...before, bibranche2: [industry('310100', '2020-01-01', '2026-02-28')] };
    expect(told(before, ended)).toHaveLength(1);
    expect(told(before, { ...before, reklamebeskyttet: false })).toHaveLength(1);
    expect(told(before, { ...ended, reklamebeskyttet: false })).toHaveLength(1);
    expect(told(before, before)).toEqual([]);
  });

  test('stored before its protection and secondary industries were read reports no change at their first values', () => {
    const after = { bibranche2: [industry('620100')], reklamebeskyttet: true };
    const { altIndustries: _a, commercialProtection: _c, ...older } = unit().unit;
    const says = statedBy(after, 'unit', { unspoken: new Set(), traces: new Map(), unread: new Map() });
    const known = withKnownUnit(older, unit(after).unit, says);
    expect(unitChanges(comparableUnit(older, known), known, OPTIONS)).toEqual([]);
    expect(known.commercialProtection?.value).toBe(true);
    // A place that is not stated keeps its industry, as does a whole document without them.
    for (const less of [{ bibranche1: [] }, {}]) {
      const silent = statedBy(less, 'unit', { unspoken: new Set(), traces: new Map(), unread: new Map() });
      const kept = withKnownUnit(known, unit(less).unit, silent);
      expect(kept.altIndustries?.value.map(({ place }) => place)).toEqual([2]);
      expect(unitChanges(comparableUnit(known, kept), kept, OPTIONS)).toEqual([]);
    }
  });

  test('that was only registered again, or recoded, has no change', () => {
    expect(told({}, { navne: [name('Prøvelund Lager', '2026-01-01')], sidstOpdateret: null })).toEqual([]);
    expect(told({}, { hovedbranche: [industry('311000', '2025-01-01')] }, { isRecoded: () => true })).toEqual([]);
    const [was, is] = [{ bibranche2: [industry('310100')] }, { bibranche2: [industry('311000', '2025-01-01')] }];
    expect(told(was, is, { isRecoded: () => true })).toEqual([]);
    expect(told(was, is)).toHaveLength(1);
  });

  test('that moved to another company is reported to that one', () => {
    const moved = {
      virksomhedsrelation: [
        entry({ cvrNummer: 95_000_019 }, '2020-01-01', '2026-02-28'),
        entry({ cvrNummer: 95_000_027 }, '2026-03-01'),
      ],
    };
    expect(told({}, moved).map(({ entity }) => entity)).toEqual(['CVR-1-95000027']);
  });

  test('seen for the first time, or without a company, is not reported', () => {
    expect(unitChanges(undefined, unit().unit, OPTIONS)).toEqual([]);
    expect(told({}, { virksomhedsrelation: [entry({ cvrNummer: 95_000_019 }, '2020-01-01', '2026-02-28')] })).toEqual(
      [],
    );
  });

  test('has future days too', () => {
    expect(unit({ navne: [name('Lager', '2020-01-01', '2026-05-31')] }).aheadOn).toBe('2026-06-01');
  });
});
