import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Company } from '../../../../../src/service/register/document/company.ts';
import { contentOf, readDocument } from '../../../../../src/service/register/document/document.ts';
import { ALL_FAMILIES, FAMILIES, unspokenBy } from '../../../../../src/service/register/document/families.ts';
import { statedBy } from '../../../../../src/service/register/document/stated.ts';
import type { Unit } from '../../../../../src/service/register/document/unit.ts';
import { compose } from '../../../../../src/service/register/source/datafordeler/compose.ts';
import {
  DATAFORDELER_FAMILIES,
  familiesWithout,
} from '../../../../../src/service/register/source/datafordeler/families.ts';
import {
  ENTITIES,
  entityNamed,
  registeredAt,
  type UnitRows,
} from '../../../../../src/service/register/source/datafordeler/rows.ts';
import { addressRow, asCsv, companyRow, companyRows, row, UNIT_ID, unitRow } from './rows-of.ts';

const TODAY = '2026-03-10';
const LOADED = '2026-03-01T11:05:00.123456Z';

const reading = (rows: UnitRows, today = TODAY) => {
  const read = readDocument(compose(rows, LOADED), today);
  if (read.kind !== 'company' && read.kind !== 'unit') throw new Error(`the document is ${read.kind}`);
  return read;
};
const companyOf = (rows: UnitRows, today = TODAY): Company => {
  const read = reading(rows, today);
  if (read.kind !== 'company') throw new Error('no company');
  return read.company;
};
const unitOf = (rows: UnitRows, today = TODAY): Unit => {
  const read = reading(rows, today);
  if (read.kind !== 'unit') throw new Error('no unit');
  return read.unit;
};

describe('the document of a company', () => {
  it('reads as the same company that the register serves', () => {
    const company = companyOf(companyRows());
    expect(company).toMatchObject({
      entity: 'CVR-1-95000019',
      name: 'Prøvelund Møbler ApS',
      registeredAt: '2026-03-01T12:00:00.000+01:00',
      loadedAt: '2026-03-01T11:05:00.123Z',
      industry: { value: { industryCode: '310900', industryText: 'Fremstilling af møbler' } },
      form: {
        value: {
          companyFormCode: 80,
          shortDescription: 'APS',
          longDescription: 'Anpartsselskab',
          responsibleDataProvider: 'E&S',
          lastUpdated: '2026-03-01T12:00:00',
        },
      },
      email: { value: 'post@eksempel.invalid' },
      phoneNumber: { value: '70100001' },
      fax: { value: null },
      status: { value: 'Aktiv' },
      life: { value: { started: '2020-01-01T00:00:00', ended: null } },
      units: { value: ['CVR-2-1995000011'] },
      commercialProtection: { value: true },
    });
    expect(company.address.value).toMatchObject({
      streetName: 'Prøvegade',
      roadCode: 11,
      houseNumberFrom: 4,
      houseLetterFrom: 'B',
      floor: '1',
      sideDoor: 'th',
      postalCode: 8000,
      municipality: { code: 751, name: 'AARHUS' },
    });
  });

  it('keeps the history: each day has its own value, and the next day of a change is known', () => {
    const rows = companyRows({
      Navn: [
        row({ vaerdi: 'Før ApS', sekvens: 0 }, '2020-01-01', '2025-12-31'),
        row({ vaerdi: 'Efter ApS', sekvens: 0 }, '2026-01-01'),
        row({ vaerdi: 'Snart ApS', sekvens: 1 }, '2026-06-01'),
      ],
      Reklamebeskyttelse: [row({ vaerdi: true }, '2020-01-01', '2026-02-01'), row({ vaerdi: false }, '2026-02-02')],
    });
    expect(companyOf(rows, '2025-12-31').names.value).toBe('Før ApS');
    expect(companyOf(rows, '2026-01-01').names.value).toBe('Efter ApS');
    expect(companyOf(rows, '2026-02-01').commercialProtection.value).toBe(true);
    expect(companyOf(rows, '2026-02-02').commercialProtection.value).toBe(false);
    expect(companyOf(rows, '2026-05-31').altNames.value).toEqual([]);
    expect(companyOf(rows, '2026-06-01').altNames.value).toEqual(['Snart ApS']);
    expect(reading(rows).aheadOn).toBe('2026-06-01');
  });

  it('ignores rows that a later registration replaced', () => {
    const replaced = { registreringTil: '2026-02-01T00:00:00Z' };
    const rows = companyRows({
      Navn: [row({ vaerdi: 'Slåfejl ApS', sekvens: 0, ...replaced }), row({ vaerdi: 'Rigtig ApS', sekvens: 0 })],
    });
    expect(companyOf(rows).names.value).toBe('Rigtig ApS');
  });

  it('shows an ended company by its last day, and a reopened one by both lives', () => {
    const ended = companyRow({ status: 'inaktiv', virksomhedOphoersdato: '2025-05-31' }, '2025-06-01');
    expect(companyOf(companyRows({ Virksomhed: [companyRow({}, '2020-01-01', '2025-05-31'), ended] }))).toMatchObject({
      life: { value: { started: '2020-01-01T00:00:00', ended: '2025-05-31T00:00:00' } },
      status: { value: 'Ophørt' },
    });
    const again = companyRow({ virksomhedStartdato: '2026-02-01' }, '2026-02-01');
    const reopened = companyRows({ Virksomhed: [again, { ...ended, virkningTil: '2026-01-31' }] });
    expect(companyOf(reopened).life.value).toMatchObject({ started: '2026-02-01T00:00:00', ended: null });
    expect(companyOf(reopened).status.value).toBe('Aktiv');
  });

  it('lists the units that belong to it today', () => {
    const at = (pNummer: number, fields = {}, ...when: readonly (string | null)[]) =>
      unitRow({ pNummer, ...fields }, ...when);
    const Produktionsenhed = [
      at(1_995_000_011),
      at(1_995_000_012, { tilknyttetTilVirksomhedOphoersdato: '2025-12-31' }),
      at(1_995_000_013, {}, '2020-01-01', '2025-06-30'),
      at(1_995_000_014, { produktionsenhedOphoersdato: '2024-01-01' }),
      at(1_995_000_015, {}, '2026-08-01'),
    ];
    const rows = companyRows({ Produktionsenhed });
    expect(companyOf(rows).units.value).toEqual(['CVR-2-1995000011']);
    expect(companyOf(rows, '2026-08-01').units.value).toEqual(['CVR-2-1995000011', 'CVR-2-1995000015']);
  });

  it('names partners that are companies, and of persons only the number', () => {
    const partner = (deltagendeEnhedsId: string) => row({ deltagendeEnhedsId });
    const unit = (id: string, enhedsType: string, forretningsnoegle: string) => ({ id, enhedsType, forretningsnoegle });
    const rows = companyRows({
      FuldtAnsvarligDeltagerRelation: [partner('4999000002'), partner('4999000003'), partner('4999000004')],
      partners: [
        unit('4999000002', 'CVRPerson', '4999000002'),
        unit('4999000003', 'Virksomhed', '95000027'),
        // Nobody may ask for it, and nobody did.
      ],
      partnerNames: [
        row({ CVREnhedsId: '4999000002', vaerdi: 'Anna Testesen', sekvens: 0 }),
        row({ CVREnhedsId: '4999000003', vaerdi: 'Ejer Holding ApS', sekvens: 0 }),
      ],
    });
    expect(JSON.stringify(compose(rows, LOADED))).not.toContain('Anna');
    expect(companyOf(rows).bodies.stakeholders.members).toEqual([
      { entityId: 'CVR-1-95000027', name: 'Ejer Holding ApS', share: null },
      { entityId: 'CVR-3-4999000002', name: null, share: null },
    ]);
    const read = reading(rows);
    expect(read.kind === 'company' && read.traces.get('stakeholders')?.isPartial).toBe(true);
  });

  it('is known by its gazette announcements', () => {
    const Kreditoplysninger = [
      row({
        Kreditoplysning: '1',
        kreditoplysningstekst: 'Konkurs',
        statusvaerdi: '1',
        statusvaerdiTekst: 'Dekret',
      }),
    ];
    const Virksomhed = [companyRow({ status: 'under konkurs' })];
    expect(companyOf(companyRows({ Kreditoplysninger, Virksomhed }))).toMatchObject({
      status: { value: 'UNDER KONKURS' },
      credit: { value: { creditCode: 1, creditText: 'Konkurs', statusCode: 1, statusText: 'Dekret' } },
    });
  });
});

describe('the document of a production unit', () => {
  const rows: UnitRows = {
    CVREnhed: [{ id: UNIT_ID, enhedsType: 'Produktionsenhed', forretningsnoegle: '1995000011' }],
    Produktionsenhed: [
      unitRow({ tilknyttetVirksomhedsCVRNummer: 95_000_027 }, '2020-01-01', '2025-12-31'),
      unitRow({ tilknyttetTilVirksomhedStartdato: '2026-01-01' }, '2026-01-01'),
    ],
    Navn: [row({ CVREnhedsId: UNIT_ID, vaerdi: 'Værkstedet', sekvens: 0 })],
    Adressering: [addressRow({ CVREnhedsId: UNIT_ID })],
    Branche: [
      row({ vaerdi: '310900', vaerdiTekst: 'Møbler', sekvens: '0' }),
      row({ vaerdi: '479110', vaerdiTekst: 'Handel', sekvens: '2' }),
    ],
    Telefonnummer: [],
  };

  it('reads as the same unit that the register serves, with the company of the day', () => {
    expect(unitOf(rows)).toMatchObject({
      entity: 'CVR-2-1995000011',
      name: 'Værkstedet',
      company: { value: 'CVR-1-95000019' },
      altIndustries: { value: [{ place: 2, industry: { industryCode: '479110' } }] },
      phoneNumber: { value: null },
    });
    expect(unitOf(rows, '2025-12-31').company.value).toBe('CVR-1-95000027');
  });
});

describe('what has no document', () => {
  it('is a person, another participant, and a unit without a number', () => {
    const unit = (enhedsType: string) => ({ id: '4999000002', enhedsType, forretningsnoegle: '4999000002' });
    const Navn = [row({ vaerdi: 'Anna Testesen', sekvens: 0 })];
    expect(compose({ CVREnhed: [unit('CVRPerson')], Navn }, LOADED)).toBeUndefined();
    expect(compose({ CVREnhed: [unit('AndreDeltagere')], Navn }, LOADED)).toBeUndefined();
    expect(compose({ CVREnhed: [unit('Virksomhed')], Virksomhed: [], Navn }, LOADED)).toBeUndefined();
    expect(compose({ Navn }, LOADED)).toBeUndefined();
    expect(compose({}, null)).toBeUndefined();
  });
});

describe('the families', () => {
  const saysOf = (rows: UnitRows) => {
    const document = contentOf(compose(rows, LOADED)) ?? {};
    const read = reading(rows);
    if (read.kind !== 'company') throw new Error('no company');
    const unspoken = unspokenBy(DATAFORDELER_FAMILIES);
    return statedBy(document, 'company', { unspoken, traces: read.traces, unread: read.unread });
  };

  it('are stated by a complete answer, unlike the other ones', () => {
    const says = saysOf(companyRows());
    for (const family of ALL_FAMILIES)
      for (const part of FAMILIES[family])
        expect(says.of(part) === 'missing', part).toBe(!DATAFORDELER_FAMILIES.includes(family));
  });

  it.each(ENTITIES)('are unknown without %s, and nothing else is', (entity) => {
    const { [entity]: _, ...rows } = companyRows();
    const says = saysOf(rows);
    const without = familiesWithout([entity]);
    // A partner whose unit is unknown is partial, which no section says.
    for (const family of DATAFORDELER_FAMILIES)
      for (const part of FAMILIES[family])
        expect(says.of(part) === 'missing', part).toBe(without.includes(family) && entity !== 'CVREnhed');
  });

  it('take events by the names that the feed has for entities', () => {
    expect(entityNamed('e-mailadresse')).toBe('e_mailadresse');
    expect(entityNamed('Navn')).toBe('Navn');
    expect(entityNamed('CVRPerson')).toBeUndefined();
  });
});

describe('a composed document', () => {
  const days = ['2020-01-01', '2025-12-31', '2026-01-01', '2026-03-10', '2026-03-11'];
  const dated = (fields: fc.Arbitrary<Record<string, unknown>>) =>
    fc.array(
      fc
        .tuple(fields, fc.constantFrom(...days), fc.option(fc.constantFrom(...days)))
        .map(([each, from, to]) => row(each, from, to)),
      { maxLength: 5 },
    );
  const word = fc.constantFrom('A', 'B', 'C');
  const arbitraryRows: fc.Arbitrary<UnitRows> = fc
    .record(
      {
        Navn: dated(fc.record({ vaerdi: word, sekvens: fc.constantFrom(0, 1, 2, null) })),
        Adressering: dated(
          fc.record({
            AdresseringAnvendelse: fc.constantFrom('beliggenhedsadresse', 'postadresse'),
            CVRAdresse_vejnavn: word,
            CVRAdresse_husnummerFra: fc.constantFrom('1', '2A', null),
          }),
        ),
        Branche: dated(fc.record({ vaerdi: word, vaerdiTekst: word, sekvens: fc.integer({ min: 0, max: 4 }) })),
        Virksomhedsform: dated(fc.record({ vaerdi: fc.constantFrom('60', '80'), vaerdiTekst: word })),
        Telefonnummer: dated(fc.record({ vaerdi: word })),
        Reklamebeskyttelse: dated(fc.record({ vaerdi: fc.boolean() })),
        FuldtAnsvarligDeltagerRelation: dated(fc.record({ deltagendeEnhedsId: word })),
        Virksomhed: dated(
          fc.record({
            CVRNummer: fc.constant(95_000_019),
            status: fc.constantFrom('aktiv', 'inaktiv'),
            virksomhedStartdato: fc.constantFrom('2020-01-01', '2026-01-01'),
            virksomhedOphoersdato: fc.constantFrom(null, '2025-12-31'),
          }),
        ),
      },
      { requiredKeys: [] },
    )
    .map((rows) => ({ ...companyRows(), ...rows }));

  it('does not depend on the order of rows, on repeated rows, or on whether values are texts', () => {
    fc.assert(
      fc.property(arbitraryRows, fc.nat(), (rows, seed) => {
        const mixed = Object.fromEntries(
          Object.entries(rows).map(([entity, list = []]) => {
            const at = list.length === 0 ? 0 : seed % list.length;
            return [entity, [...list.slice(at), ...list.slice(0, at).reverse(), ...list.slice(0, 1)]];
          }),
        );
        const text = JSON.stringify(compose(rows, LOADED));
        expect(JSON.stringify(compose(mixed, LOADED))).toBe(text);
        expect(JSON.stringify(compose(asCsv(rows), LOADED))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('has on each day the value of a row that is valid on it', () => {
    fc.assert(
      fc.property(arbitraryRows, fc.constantFrom(...days), (rows, today) => {
        const company = companyOf({ ...rows, Virksomhed: [companyRow()] }, today);
        const valid = (rows.Telefonnummer ?? []).filter(
          ({ virkningFra, virkningTil }) =>
            String(virkningFra) <= today && (virkningTil === null || String(virkningTil) >= today),
        );
        if (valid.length === 0) expect(company.phoneNumber.value).toBeNull();
        else expect(valid.map(({ vaerdi }) => vaerdi)).toContain(company.phoneNumber.value);
      }),
      { numRuns: 200 },
    );
  });

  it('reads anything without an error', () => {
    const anything = fc.dictionary(
      fc.constantFrom(...ENTITIES, 'partners', 'partnerNames'),
      fc.array(
        fc.dictionary(fc.constantFrom(...Object.keys(addressRow()), 'id', 'enhedsType', 'CVRNummer'), fc.anything()),
      ),
    );
    fc.assert(
      fc.property(anything, (rows) => {
        readDocument(compose({ Virksomhed: [companyRow()], ...rows }, LOADED), TODAY);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the register time of a row', () => {
  it('is Danish local time with its offset, to the millisecond; null without a time', () => {
    const of = (registreringFra: unknown) => registeredAt({ registreringFra });
    expect(of('2026-03-29T00:59:59.007001Z')).toBe('2026-03-29T01:59:59.007+01:00');
    expect(of('2026-03-29T01:00:00Z')).toBe('2026-03-29T03:00:00.000+02:00');
    for (const none of ['noon', null, 7]) expect(of(none)).toBeNull();
  });
});
