import { describe, expect, test } from 'vitest';
import { statesWholeCompany } from '../../../../src/protocol/full-state.ts';
import { payloadOf } from '../../../../src/protocol/payload.ts';
import { stateOf } from '../../../../src/service/register/diff/state.ts';
import { readDocument } from '../../../../src/service/register/document/document.ts';
import { sampleDocuments } from '../../../support/sample-documents.ts';
import {
  companyOf,
  ENTITY,
  entry,
  firm,
  type Json,
  name,
  OPTIONS,
  owns,
  person,
  relation,
  value,
} from '../documents.ts';

describe('the full state', () => {
  test('has every event that has a value, nothing before it, and complete lists', () => {
    const state = stateOf(
      companyOf({
        binavne: [name('B ApS'), name('A ApS')],
        deltagerRelation: [relation(firm(95_000_027, 'Ejer ApS'), owns('1.0'))],
        erstMaanedsbeskaeftigelse: [{ aar: 2026, maaned: 1, antalAnsatte: 0 }],
      }),
      OPTIONS,
    );
    expect(state).toEqual({
      name: { before: null, after: 'Prøvelund Møbler ApS' },
      altNames: { added: ['A ApS', 'B ApS'], removed: [] },
      ownership: {
        added: [{ entityId: 'CVR-1-95000027', name: 'Ejer ApS', type: 'Company', ownership: '100' }],
        removed: [],
        changed: [],
      },
      lifetimeStarted: { date: '2020-01-01T00:00:00' },
      commercialProtection: { before: null, after: false },
      monthlyEmployeeCount: { year: 2026, month: 1, before: null, after: 0 },
    });
  });

  test('has no production units, because its event names one, which would be taken for all', () => {
    expect(stateOf(companyOf({ penheder: [entry({ pNummer: 1_990_000_001 })] }), OPTIONS)).not.toHaveProperty(
      'pUnitAdded',
    );
  });

  test('has the merger that ended the company, and no other', () => {
    const parties = [{ entity: 'CVR-1-95000027', name: 'Ny ApS', dissolved: false }];
    const merger = (comesOut: boolean) => ({
      livsforloeb: [entry({}, '2010-01-01', '2025-01-01')],
      fusioner: [{ enhedsNummerOrganisation: 1, udgaaende: comesOut ? [{ vaerdier: [value('Fusion')] }] : [] }],
    });
    const options = { ...OPTIONS, mergerParties: () => parties };
    expect(stateOf(companyOf(merger(false)), options).merger).toMatchObject({ dissolved: true });
    expect(stateOf(companyOf(merger(true)), options).merger).toBeUndefined();
  });

  test('of a registered company is recognised as such by a receiver', () => {
    for (const document of sampleDocuments(3, 5, 0, { units: false })) {
      const reading = readDocument(document, '2026-03-10');
      if (reading.kind !== 'company') throw new Error(`the document is ${reading.kind}`);
      const payload = payloadOf(reading.company.entity, reading.loadedAt, stateOf(reading.company, OPTIONS));
      expect(statesWholeCompany(payload)).toBe(true);
    }
  });
});

describe('documents', () => {
  const unreadable = (document: unknown) => readDocument(document, '2026-03-10');

  test.each<[unknown, string | undefined]>([
    [null, undefined],
    ['text', undefined],
    [[], undefined],
    [{}, undefined],
    [{ Vrvirksomhed: null }, undefined],
    [{ Vrvirksomhed: [] }, undefined],
    [{ Vrvirksomhed: {} }, undefined],
    [{ Vrvirksomhed: { cvrNummer: 'x', enhedsNummer: 4_999_000_001 } }, 'x'],
    [{ Vrvirksomhed: { cvrNummer: 123_456_789 } }, '123456789'],
    [{ Vrvirksomhed: { cvrNummer: 0, enhedsNummer: 4_999_000_001 } }, '0'],
    [{ VrproduktionsEnhed: { cvrNummer: 95_000_019 } }, '95000019'],
    [{ Vrdeltagerperson: { enhedsNummer: -4 } }, '-4'],
    [{ Vrdeltagerperson: { enhedsNummer: 'x'.repeat(100) } }, 'x'.repeat(40)],
  ])('%j cannot be read, and is reported by number %s', (document, id) => {
    expect(unreadable(document)).toMatchObject({ kind: 'unreadable', id, reason: expect.stringMatching(/\w/) });
  });

  test('numbers may be texts, as in search keys', () => {
    expect(companyOf({ cvrNummer: '95000019' }).entity).toBe(ENTITY);
  });

  test('a person is read by its unit number', () => {
    const reading = readDocument({ Vrdeltagerperson: person(4_999_000_002, 'Anna Testesen') as Json }, '2026-03-10');
    expect(reading).toMatchObject({ kind: 'person', person: { entity: 'CVR-3-4999000002', name: 'Anna Testesen' } });
  });
});
