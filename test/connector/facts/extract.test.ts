import { describe, expect, test } from 'vitest';
import type { FieldName } from '../../../providers/fields.ts';
import type { Assertion } from '../../../src/connector/facts/assertion.ts';
import { extract } from '../../../src/connector/facts/extract.ts';
import { EVENT_NAMES, EVENTS, type EventName } from '../../../src/protocol/events.ts';
import { payloadOf, readPayload } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { ENTITY } from '../facts-of.ts';

const AT = '2026-08-15T10:00:00.000Z';

/** What one event as it stands on the wire says, without its clock and without the time of the change. */
const saidBy = (event: string, data: object): readonly object[] => {
  const read = readPayload({ entityId: ENTITY, timestamp: AT, updates: { [event]: { updated: true, ...data } } });
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  expect(read.payload.malformed).toEqual([]);
  return extract(read.payload)
    .filter(({ field }) => field !== 'registerChangedAt')
    .map(({ clock: _, ...said }: Assertion) => said);
};
const entity = (number: number, name: string | null, type = 'Person') => ({ entityId: `CVR-3-${number}`, name, type });
const member = (number: number, name: string, share?: string) => ({
  id: `CVR-3-${number}`,
  name,
  type: 'Person',
  ...(share !== undefined && { share }),
});
const period = { from: '2020-01-01T00:00:00', to: null, original: null, isNow: true };
const industry = (industryCode: string | number, industryText: string | null) => ({
  period,
  industryCode,
  industryText,
});
const form = (code: number, short: string, long: string) => ({
  companyFormCode: code,
  shortDescription: short,
  longDescription: long,
});
const unit = { entityId: 'cvr-2-1990000001', name: 'Nordlys Lager', type: 'Place' };
const unitMember = { id: 'CVR-2-1990000001', name: 'Nordlys Lager', type: 'Place' };
const anne = entity(1, 'Anne Berg');
const bo = entity(2, 'Bo Dahl');
const swapped = (field: FieldName) => [{ field, added: [member(1, 'Anne Berg')], removed: ['CVR-3-2'] }];
const changed = (field: FieldName, before: unknown, now: unknown) => [{ field, now, before }];

// What each event says, told by one example; those with rules of their own have their tests below.
const ROWS: { readonly [E in EventName]: readonly [data: object, said: readonly object[]] } = {
  name: [{ before: 'Nordlys', after: 'Nordlys ApS' }, changed('name', 'Nordlys', 'Nordlys ApS')],
  altNames: [
    { added: ['Nordlys Nord'], removed: ['Nordlys Syd'] },
    [{ field: 'altNames', added: [{ id: 'Nordlys Nord', name: 'Nordlys Nord' }], removed: ['Nordlys Syd'] }],
  ],
  address: [
    { before: null, after: null },
    [
      ...['street', 'coName', 'postalBox', 'postalCode', 'city'],
      ...['village', 'municipality', 'countryCode', 'country'],
    ].map((field) => ({ field, now: null })),
  ],
  industry: [
    { before: industry('620200', 'Konsulenter'), after: industry(11100, 'Korn') },
    [...changed('industryCode', '620200', '011100'), ...changed('industryText', 'Konsulenter', 'Korn')],
  ],
  altIndustries: [
    { added: [industry('620200', 'Konsulenter'), industry(12400, null)], removed: [industry('11100', 'Korn')] },
    [
      {
        field: 'altIndustries',
        added: [
          { id: '620200', name: 'Konsulenter' },
          { id: '012400', name: '012400' },
        ],
        removed: ['011100'],
      },
    ],
  ],
  purpose: [{ before: null, after: 'Handel' }, changed('purpose', null, 'Handel')],
  powerToBind: [{ before: 'Direktøren', after: null }, changed('powerToBind', 'Direktøren', null)],
  bylawsChangedDate: [
    { before: '2024-02-29T00:00:00', after: '2026-08-01T00:00:00' },
    changed('bylawsChangedDate', '2024-02-29', '2026-08-01'),
  ],
  capital: [
    { before: { value: 40_000, currency: 'DKK' }, after: { value: 50_000.5, currency: 'EUR' } },
    [...changed('capital', 40_000, 50_000.5), ...changed('capitalCurrency', 'DKK', 'EUR')],
  ],
  form: [
    { before: form(81, 'IVS', 'Iværksætterselskab'), after: form(80, 'ApS', 'Anpartsselskab') },
    [
      ...changed('formCode', '81', '80'),
      ...changed('form', 'IVS', 'ApS'),
      ...changed('formText', 'Iværksætterselskab', 'Anpartsselskab'),
    ],
  ],
  email: [{ before: 'a@nordlys.example', after: null }, changed('email', 'a@nordlys.example', null)],
  fax: [{ before: null, after: '10200300' }, changed('fax', null, '10200300')],
  phoneNumber: [{ before: '10200300', after: '10200301' }, changed('phone', '10200300', '10200301')],
  website: [{ before: '', after: 'www.nordlys.example' }, changed('website', '', 'www.nordlys.example')],
  newReport: [{ data: { cvr: 95000001, reportType: 'Quarterly', reportYear: 2025 } }, []],
  newCompany: [
    { entity: { entityId: ENTITY, name: 'Nordlys ApS', type: 'Company' } },
    [{ field: 'name', now: 'Nordlys ApS' }],
  ],
  ownership: [
    {
      added: [{ ...anne, ownership: '10-15' }],
      changed: [{ ...bo, ownership: null }],
      removed: [{ ...entity(3, 'Cai Eg'), ownership: '5-10' }],
    },
    [{ field: 'owners', added: [member(1, 'Anne Berg', '10-15'), member(2, 'Bo Dahl')], removed: ['CVR-3-3'] }],
  ],
  trueOwnership: [
    { added: [], changed: [{ ...bo, ownership: '33.34' }], removed: [] },
    [{ field: 'trueOwners', added: [member(2, 'Bo Dahl', '33.34')], removed: [] }],
  ],
  trueVoteRights: [
    { added: [{ ...anne, voterights: '50' }], changed: [], removed: [{ ...bo, voterights: '50' }] },
    [{ field: 'trueVoteRights', added: [member(1, 'Anne Berg', '50')], removed: ['CVR-3-2'] }],
  ],
  accountant: [{ added: [anne], removed: [bo] }, swapped('accountant')],
  board: [{ added: [anne], removed: [bo] }, swapped('board')],
  management: [{ added: [anne], removed: [bo] }, swapped('management')],
  status: [{ before: 'NORMAL', after: 'UNDERKONKURS' }, changed('status', 'NORMAL', 'UNDERKONKURS')],
  lifetimeStarted: [
    { date: '2026-08-01T00:00:00' },
    [
      { field: 'startDate', now: '2026-08-01' },
      { field: 'endDate', now: null },
    ],
  ],
  lifetimeEnded: [{ date: '2026-08-01' }, [{ field: 'endDate', now: '2026-08-01' }]],
  stakeholders: [{ added: [anne], removed: [bo] }, swapped('stakeholders')],
  merger: [
    { entity: { entityId: 'CVR-1-95000002', name: 'Sydlys A/S', type: 'Company' }, dissolved: true },
    [{ field: 'mergedInto', now: 'CVR-1-95000002' }],
  ],
  pUnitUpdated: [{ entity: unit }, [{ field: 'productionUnits', added: [unitMember], removed: [] }]],
  pUnitAdded: [{ entity: unit }, [{ field: 'productionUnits', added: [unitMember], removed: [] }]],
  pUnitRemoved: [{ entity: unit }, [{ field: 'productionUnits', added: [], removed: ['CVR-2-1990000001'] }]],
  subsidiaryFounded: [
    { ownership: { ...anne, ownership: '100' } },
    [{ field: 'subsidiaries', added: [member(1, 'Anne Berg', '100')], removed: [] }],
  ],
  commercialProtection: [{ before: true, after: false }, changed('advertisingProtected', true, false)],
  monthlyEmployeeCount: [
    { year: 2026, month: 7, before: 0, after: 12 },
    [
      { field: 'employees', now: 12, before: 0, period: '2026-07', figure: { now: 12, before: 0 } },
      { field: 'employeesMonth', now: '2026-07', period: '2026-07', figure: { now: 12, before: 0 } },
    ],
  ],
  quarterlyEmployees: [
    { year: 2026, quarter: 2, before: '2-4', after: '5-9' },
    [
      {
        field: 'employeesQuarterly',
        now: '5-9',
        before: '2-4',
        period: '2026-2',
        figure: { now: '5-9', before: '2-4' },
      },
    ],
  ],
  yearlyEmployees: [
    { year: 2025, before: null, after: '1000+' },
    [{ field: 'employeesYearly', now: '1000+', before: null, period: '2025', figure: { now: '1000+', before: null } }],
  ],
  newArticle: [
    {
      source: 'Avisen',
      headline: 'Nyt lager',
      tagline: null,
      content: '',
      time: '2026-08-14T08:00:00+02:00',
      link: null,
    },
    [
      { field: 'newsHeadline', now: 'Nyt lager', period: '2026-08-14T06:00:00.000Z' },
      { field: 'newsLink', now: null, period: '2026-08-14T06:00:00.000Z' },
      { field: 'newsTime', now: '2026-08-14T06:00:00.000Z', period: '2026-08-14T06:00:00.000Z' },
    ],
  ],
  addedToMonitor: [{ monitorId: '1', monitorName: 'Kunder' }, []],
  removedFromMonitor: [{ monitorId: '1', monitorName: 'Kunder' }, []],
};

describe('the fields of each event', () => {
  test.each(EVENT_NAMES)('%s', (event) => {
    const [data, said] = ROWS[event];
    expect(saidBy(event, data)).toEqual(said);
  });

  test.each(EVENT_NAMES)('%s of the samples sets only its own fields', (event) => {
    const fields = (data: readonly { field?: string }[]) => data.map(({ field }) => field);
    const sample = extract(samplePayload({ event, now: Date.parse(AT), seed: 3 }));
    const own = new Set([...fields(ROWS[event][1] as { field?: string }[]), 'registerChangedAt']);
    if (event !== 'newReport') expect(fields(sample).filter((field) => !own.has(field))).toEqual([]);
  });
});

describe('edge cases of events', () => {
  test('an event that is not updated, or an empty payload, asserts nothing', () => {
    expect(extract(payloadOf(ENTITY, AT, {}))).toEqual([]);
    const read = readPayload({ entityId: ENTITY, timestamp: AT, updates: { name: { updated: false, after: 'X' } } });
    expect(read.ok && extract(read.payload)).toEqual([]);
  });

  test('an unknown event asserts only a change in the register', () => {
    const updates = { creditRating: { updated: true, before: 'A', after: 'B' } };
    const read = readPayload({ entityId: ENTITY, timestamp: AT, updates });
    expect(read.ok && extract(read.payload)).toEqual([{ field: 'registerChangedAt', now: AT, clock: AT }]);
  });

  test.each(['newArticle', 'addedToMonitor', 'removedFromMonitor'] as const)(
    '%s is not a change in the register',
    (event) => {
      const said = extract(samplePayload({ event, now: Date.parse(AT) }));
      expect(said.map(({ field }) => field)).not.toContain('registerChangedAt');
    },
  );

  test('a merger that this company survives asserts nothing', () => {
    expect(saidBy('merger', { entity: { entityId: 'CVR-1-95000002' }, dissolved: false })).toEqual([]);
  });

  test.each(['0001-01-01T00:00:00', '9999-12-31', ' 9999-12-31T23:59:59.9999999'])('%s is not a date', (date) => {
    expect(saidBy('lifetimeEnded', { date })).toEqual([{ field: 'endDate', now: null }]);
    expect(saidBy('bylawsChangedDate', { before: date, after: '2026-08-01' })).toEqual([
      { field: 'bylawsChangedDate', before: null, now: '2026-08-01' },
    ]);
  });

  test('an end beside the beginning of the same lifetime is an end', () => {
    const updates = {
      lifetimeStarted: { date: '2020-01-01T00:00:00' },
      lifetimeEnded: { date: '2026-08-01T00:00:00' },
    };
    const said = extract(payloadOf(ENTITY, AT, updates)).filter(({ field }) => field === 'endDate');
    expect(said).toEqual([{ field: 'endDate', now: '2026-08-01', clock: AT }]);
  });

  test('the founding of another company, or of one without a name, asserts nothing', () => {
    expect(saidBy('newCompany', { entity: { entityId: 'CVR-1-95000002', name: 'Sydlys' } })).toEqual([]);
    expect(saidBy('newCompany', { entity: { entityId: ENTITY, name: null } })).toEqual([]);
  });
});

describe('a null after a change', () => {
  const before = { before: 'x', after: null };
  const period = { year: 2026, month: 8, quarter: 3 };
  test.each<[EventName, object]>([
    ['name', before],
    ['form', { before: form(80, 'ApS', 'Anpartsselskab'), after: null }],
    ['commercialProtection', { before: true, after: null }],
    ['monthlyEmployeeCount', { ...period, before: 12, after: null }],
    ['quarterlyEmployees', { ...period, before: '5-9', after: null }],
    ['yearlyEmployees', { ...period, before: '5-9', after: null }],
  ])('is unknown, neither false nor removed, if every company has a value: %s', (event, data) => {
    expect(saidBy(event, data)).toEqual([]);
  });

  test.each<[EventName, object, readonly FieldName[]]>([
    ...(['purpose', 'powerToBind', 'email', 'fax', 'website', 'status'] as const).map(
      (event): [EventName, object, readonly FieldName[]] => [event, before, [event]],
    ),
    ['phoneNumber', before, ['phone']],
    ['bylawsChangedDate', { before: '2026-08-01', after: null }, ['bylawsChangedDate']],
    ['capital', { before: { value: 1, currency: 'DKK' }, after: null }, ['capital', 'capitalCurrency']],
    ['industry', { before: industry('620200', 'Konsulenter'), after: null }, ['industryCode', 'industryText']],
  ])('is removed if a company may lack it: %s', (event, data, fields) => {
    expect(saidBy(event, data)).toMatchObject(fields.map((field) => ({ field, now: null })));
  });

  test('is tested for every format that allows it', () => {
    const after = EVENT_NAMES.filter((event) => Object.hasOwn(EVENTS[event].properties, 'after'));
    expect(after.toSorted()).toEqual(
      [
        ...['name', 'form', 'commercialProtection', 'monthlyEmployeeCount', 'quarterlyEmployees', 'yearlyEmployees'],
        ...['purpose', 'powerToBind', 'email', 'fax', 'phoneNumber', 'website', 'status', 'bylawsChangedDate'],
        ...['capital', 'industry', 'address'],
      ].toSorted(),
    );
  });
});

describe('members and codes', () => {
  test('a member without a name gets its id, and one without a share has none', () => {
    const [said] = saidBy('ownership', { added: [{ entityId: 'cvr-3-7', name: ' ', ownership: ' ' }] });
    expect(said).toEqual({ field: 'owners', added: [{ id: 'CVR-3-7', name: 'CVR-3-7' }], removed: [] });
  });

  test.each([
    ['620100', '620100'],
    [11100, '011100'],
    ['6201', '6201'],
    ['62.01.00', '62.01.00'],
  ])('the industry code %s is kept as %s', (sent, kept) => {
    expect(saidBy('industry', { after: industry(sent, 'x') })[0]).toMatchObject({ now: kept });
  });

  test('the name event overrides the name in the founding', () => {
    const updates = {
      name: { before: null, after: 'Nordlys A/S' },
      newCompany: { entity: { entityId: ENTITY, name: 'Nordlys under stiftelse', type: 'Company' } },
    };
    const names = extract(payloadOf(ENTITY, AT, updates)).filter(({ field }) => field === 'name');
    expect(names).toEqual([{ field: 'name', now: 'Nordlys A/S', before: null, clock: AT }]);
  });

  test('the older names of events have the same meaning', () => {
    const said = saidBy('productionUnit', { entity: unit });
    expect(said).toEqual(saidBy('pUnitUpdated', { entity: unit }));
  });
});
