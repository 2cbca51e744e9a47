import { describe, expect, it } from 'vitest';
import type { EventName } from '../../src/protocol/events.ts';
import { readPayload } from '../../src/protocol/payload.ts';

const readAs = (event: EventName, data: object): unknown => {
  const result = readPayload({
    entityId: 'CVR-1-99000016',
    timestamp: '2026-08-14',
    updates: { [event]: { updated: true, ...data } },
  });
  if (!result.ok || result.payload.malformed.length > 0) throw new Error(JSON.stringify(result));
  return result.payload.updates[event];
};

describe('data that is spelled in other ways', () => {
  it('reads capital as an object, a number or a text', () => {
    const full = { value: 600000, currency: 'DKK', hasClasses: false, isPartial: false };
    expect(readAs('capital', { before: 500000, after: full })).toMatchObject({
      before: { value: 500000, currency: null },
      after: full,
    });
    expect(readAs('capital', { after: '600000.00' })).toMatchObject({ before: null, after: { value: 600000 } });
  });

  it('reads industry and form in the spelling of the entity record', () => {
    expect(readAs('industry', { after: { code: '620100', text: 'Computerprogrammering' } })).toMatchObject({
      after: { industryCode: '620100', industryText: 'Computerprogrammering', period: null },
    });
    expect(readAs('form', { after: { code: 80, short: 'ApS', long: 'Anpartsselskab' } })).toMatchObject({
      after: { companyFormCode: 80, shortDescription: 'ApS', longDescription: 'Anpartsselskab' },
    });
  });

  it('fills what an address does not have, and reads numbers from texts', () => {
    const after = {
      streetName: 'Prøvegade',
      houseNumberFrom: '12',
      streetCode: '0042',
      postalCode: '8000',
      municipality: 'AARHUS',
      door: 'tv',
    };
    expect(readAs('address', { after })).toMatchObject({
      before: null,
      after: {
        streetName: 'Prøvegade',
        houseNumberFrom: 12,
        roadCode: 42,
        postalCode: 8000,
        floor: null,
        sideDoor: 'tv',
        municipality: { name: 'AARHUS', code: null },
      },
    });
  });

  it('keeps the postal code of a foreign address as a text', () => {
    expect(readAs('address', { after: { freeText: '1 Sample Street', postalCode: 'ZZ1 1ZZ' } })).toMatchObject({
      after: { postalCode: 'ZZ1 1ZZ' },
    });
  });

  it('does not lose an address over data about the data', () => {
    expect(
      readAs('address', { after: { streetName: 'Prøvegade', period: 'now', lastUpdated: 'today', relatedUpdates: 7 } }),
    ).toMatchObject({
      after: { streetName: 'Prøvegade', period: null, lastUpdated: null, relatedUpdates: null },
    });
  });

  it('reads shares as texts, makes entity ids canonical and takes lists that are not there as empty', () => {
    const owner = { entityId: 'cvr-3-4999000001', name: 'Prøve Testesen', type: 'Person', ownership: 33.34 };
    expect(readAs('ownership', { added: [owner], removed: null })).toEqual({
      added: [{ ...owner, entityId: 'CVR-3-4999000001', ownership: '33.34' }],
      removed: [],
      changed: [],
    });
  });

  it('keeps fields it does not know', () => {
    expect(readAs('name', { after: 'B', reason: { code: 7 } })).toEqual({
      before: null,
      after: 'B',
      reason: { code: 7 },
    });
  });

  it('reads employee counts from texts and intervals from numbers', () => {
    expect(readAs('monthlyEmployeeCount', { year: '2026', month: '7', before: '12', after: 13 })).toEqual({
      year: 2026,
      month: 7,
      before: 12,
      after: 13,
    });
    expect(readAs('yearlyEmployees', { year: 2025, before: 1, after: '2-4' })).toEqual({
      year: 2025,
      before: '1',
      after: '2-4',
    });
  });

  it('reads flags from texts', () => {
    expect(readAs('commercialProtection', { before: 'false', after: 'True' })).toEqual({ before: false, after: true });
  });
});

describe('report data', () => {
  const metric = { unit: 'DKK', value: 1000, possibleError: false, error: false };

  it('is read where most of it is missing', () => {
    expect(
      readAs('newReport', { data: { cvr: 99000016, reportYear: 2025, assets: metric, revenue: null } }),
    ).toMatchObject({
      data: {
        cvr: 99000016,
        reportYear: 2025,
        assets: { ...metric, calculation: null, sources: [] },
        revenue: null,
        equity: null,
        currencies: [],
        auditors: [],
      },
    });
  });

  it('is read from the deprecated property with its texts for numbers where `data` is not there', () => {
    const old = {
      pdfUrl: 'https://reports.example/1.pdf',
      xmlUrl: { value: 'https://reports.example/1.xml' },
      equity: { value: '-250.5', unit: 'DKK', period: {} },
      reportYear: '2016',
    };
    const expected = {
      data: {
        reportUrl: 'https://reports.example/1.pdf',
        xbrlUrl: 'https://reports.example/1.xml',
        reportYear: 2016,
        equity: { value: -250.5, unit: 'DKK' },
      },
    };
    expect(readAs('newReport', { Report: old })).toMatchObject(expected);
    expect(readAs('newReport', { data: null, Report: old })).toMatchObject(expected);
    expect(readAs('newReport', { data: { reportYear: 2025 }, Report: old })).toMatchObject({
      data: { reportYear: 2025, equity: null },
    });
  });

  it('survives surprises in the metrics whose shape is not shown', () => {
    expect(
      readAs('newReport', {
        data: {
          reportYear: 2025,
          dividend: ['?'],
          goingConcern: { value: 'Usikkerhed' },
          supplementaryInformation: 'x',
        },
      }),
    ).toMatchObject({
      data: { dividend: null, goingConcern: { value: 'Usikkerhed', unit: null }, supplementaryInformation: null },
    });
  });
});
