import { describe, expect, it } from 'vitest';
import type { PresetRow, Property } from '../../../providers/provider.ts';
import { checkMapping, type MappingToCheck } from '../../../src/connector/crm/check-mapping.ts';

const property = (name: string, more: Partial<Property> = {}): Property => ({
  name,
  label: name,
  type: 'string',
  writable: true,
  ...more,
});
const row = (field: PresetRow['field'], target: string, more: Partial<PresetRow> = {}): PresetRow => ({
  field,
  property: target,
  policy: 'tracked',
  ...more,
});
const found = (rows: readonly PresetRow[], properties: readonly Property[], more: Partial<MappingToCheck> = {}) =>
  checkMapping({ name: 'crm', mapping: rows, values: {}, match: undefined, hold: undefined, ...more }, properties)
    .filter(({ subject }) => subject !== 'crm mapping' && (more.match !== undefined || subject !== 'crm match'))
    .map(
      ({ level, subject, found: what, advice }) =>
        `${level} ${subject}: ${what}${advice === undefined ? '' : ` | ${advice}`}`,
    );

const PROTECTED = row('advertisingProtected', 'Protected', { optional: true });

describe('a phone number or an e-mail address', () => {
  it('causes a warning if the CRM cannot show the protection against advertising', () => {
    const rows = [row('phone', 'Phone'), row('email', 'Email'), row('advertisingProtected', 'Protected')];
    const contacts = [property('Phone', { type: 'phone' }), property('Email', { type: 'email' })];
    const warned = (account: readonly Property[]) =>
      found(rows, account).filter((line) => line.includes('advertising protection:'));
    expect(warned(contacts)).toEqual([
      expect.stringMatching(/^warn crm advertising protection: phone and email of companies are written, but not/u),
    ]);
    expect(warned([...contacts, property('Protected', { type: 'boolean' })])).toEqual([]);
    expect(warned([property('Protected', { type: 'boolean' })])).toEqual([]);
  });

  it.each<readonly [string, readonly PresetRow[], readonly string[], string]>([
    [
      'is mapped to one that check can create',
      [PROTECTED],
      ['Protected'],
      ', or create Protected with cvrsync check --create-properties',
    ],
    ['is mapped to one that check cannot create', [PROTECTED], [], ', or create Protected in the CRM'],
    ['is not mapped', [], ['Protected'], ''],
  ])(
    'is warned of with what can be done where the property for the protection %s',
    (_where, rows, creatable, advice) => {
      const mapping = [row('phone', 'Phone'), ...rows];
      const provider = { name: 'crm', mapping, values: {}, match: undefined, hold: undefined };
      const findings = checkMapping(provider, [property('Phone', { type: 'phone' })], new Set(creatable));
      expect(findings.find(({ subject }) => subject === 'crm advertising protection')?.advice).toBe(
        `map advertisingProtected to a property of the CRM${advice}`,
      );
    },
  );
});

describe('a property by which records are matched', () => {
  it('is reported if the account lacks it', () => {
    expect(found([], [property('Town')], { matchTexts: { city: 'Town', street: 'town' } })).toEqual([
      'warn crm match street: the CRM has no property town; did you mean Town? | correct connector.providers.crm.match.street: until then records are matched without it',
    ]);
  });
});

describe('a mapped property', () => {
  it('that exists, is writable and fits has no finding', () => {
    expect(found([row('name', 'Name')], [property('Name', { maxLength: 255 })])).toEqual([]);
  });

  it.each(['productionUnits', 'subsidiaries'] as const)('of %s never fits, because it cannot be written', (field) => {
    const [line, ...more] = found([row(field, 'Liste')], [property('Liste', { type: 'multiline' })]);
    expect(line).toContain(`fail crm ${field} → Liste: is never written: events name one member at a time`);
    expect(more).toEqual([]);
    expect(found([row(field, 'Liste', { policy: 'never' })], [property('Liste')])).toEqual([]);
  });

  it('that is missing fails, and the advice keeps the other properties of the field', () => {
    const rows = [row('name', 'name'), row('name', 'cvr_name')];
    expect(found(rows, [property('name')])).toEqual([
      'fail crm name → cvr_name: the CRM has no such property | create it, or set fields: { name: name } under connector.providers.crm',
    ]);
  });

  it('that is missing and has a replacement needs no action', () => {
    const rows = [row('countryCode', 'code', { optional: true }), row('country', 'country', { unless: 'code' })];
    expect(found(rows, [property('country')])).toEqual([
      'info crm countryCode → code: the CRM has no such property: country is used instead',
    ]);
  });

  it('is checked only if the account needs it, and is named in a finding', () => {
    const rows = [
      row('countryCode', 'code', { optional: true }),
      row('country', 'country', { unless: 'code' }),
      row('name', 'name'),
      row('website', 'site'),
    ];
    const summary = (account: readonly Property[]) =>
      checkMapping({ name: 'crm', mapping: rows, values: {}, match: undefined, hold: undefined }, account).find(
        ({ subject }) => subject === 'crm mapping',
      )?.found;
    const account = [property('country'), property('name')];
    expect(summary(account)).toBe('2 of 3 mapped properties exist');
    expect(summary([...account, property('site', { ownSite: true })])).toBe(
      '3 of 3 mapped properties exist; see the remarks on site',
    );
  });

  it('that is missing and optional is only reported', () => {
    expect(found([row('status', 'cvr_status', { optional: true })], [])).toEqual([
      expect.stringMatching(/^info .*fields: \{ status: false \}/),
    ]);
  });

  it.each([
    ['CVR Status', property('cvr_status', { label: 'CVR status' })],
    ['cvr_status', property('CVR_Status__c')],
  ])('that is named %j by mistake is suggested by its real name', (typed, real) => {
    expect(found([row('status', typed)], [real])).toEqual([expect.stringContaining(`did you mean ${real.name}?`)]);
  });

  it('that is not writable fails', () => {
    expect(found([row('name', 'name')], [property('name', { writable: false })])).toEqual([
      expect.stringMatching(/^fail .*cannot be written with these credentials/),
    ]);
  });

  it('that nobody can write fails with the reason, and without advice about rights', () => {
    const calculated = property('name', { writable: false, readOnly: 'HubSpot calculates it' });
    const [line] = found([row('name', 'name')], [calculated]);
    expect(line).toMatch(/^fail .*cannot be written: HubSpot calculates it/);
    expect(line).not.toContain('credentials');
  });

  it('that is never written, or is replaced by another one, is not checked', () => {
    const rows = [row('name', 'a', { policy: 'never' }), row('country', 'b', { unless: 'code' })];
    expect(found(rows, [property('code')])).toEqual([]);
  });

  it.each([
    ['name', { type: 'number' }, 'fail'],
    ['name', { type: 'boolean' }, 'fail'],
    ['name', { maxLength: 40 }, 'fail'],
    ['solvencyRatio', { type: 'date' }, 'fail'],
    ['advertisingProtected', { type: 'number' }, 'fail'],
    ['industryCode', { type: 'number' }, 'warn'],
    ['name', { type: 'url' }, 'warn'],
    ['name', { unique: true }, 'warn'],
    ['solvencyRatio', { type: 'number', scale: 0 }, 'info'],
    ['purpose', { maxLength: 255 }, 'info'],
  ] as const)('for %s with %j is a %s', (field, more, level) => {
    expect(found([row(field, 'it')], [property('it', more)])).toEqual([
      expect.stringMatching(new RegExp(`^${level} `)),
    ]);
  });

  it.each([
    ['board', { type: 'number' }],
    ['employeesQuarterly', { type: 'number' }],
    ['startDate', { type: 'datetime' }],
    ['registerChangedAt', { type: 'date' }],
    ['advertisingProtected', { type: 'boolean' }],
    ['industryCode', { type: 'enumeration', open: true, options: [] }],
    ['countryCode', { type: 'enumeration', options: [{ value: 'DK', label: 'Denmark' }] }],
  ] as const)('for %s with %j fits', (field, more) => {
    expect(found([row(field, 'it')], [property('it', more)])).toEqual([]);
  });
});

describe('an enumeration', () => {
  const industry = property('industry', { type: 'enumeration', options: [{ value: 'FARMING', label: 'Farming' }] });

  it('without a value map causes a warning with its options', () => {
    expect(found([row('industryCode', 'industry')], [industry])).toEqual([
      expect.stringMatching(/^warn .*1 options \(FARMING\)/),
    ]);
  });

  it('fails for each entry of the map that is not an option', () => {
    const values = { industryCode: { '01*': 'FARMING', '62*': 'SOFTWARE', '47': 'Farming' } };
    expect(found([row('industryCode', 'industry')], [industry], { values })).toEqual([
      expect.stringMatching(
        /^fail .*map for 62\* does not fit: "SOFTWARE" is not among.*correct values.industryCode.62\*/,
      ),
    ]);
  });

  it('whose map is for an unmapped field is reported', () => {
    expect(found([], [industry], { values: { industryCode: { '01*': 'FARMING' } } })).toEqual([
      expect.stringMatching(/^warn crm industryCode: has a value map but no property/),
    ]);
  });
});

describe('match and hold', () => {
  it('warns if the property of match is a number', () => {
    expect(found([], [property('cvr', { type: 'number' })], { match: 'cvr' })).toEqual([
      expect.stringMatching(/^warn crm match.* is a number: it loses leading zeros/),
    ]);
  });

  it('must exist, and the match must hold a CVR number', () => {
    expect(found([], [], { match: 'cvr', hold: 'stop' })).toEqual([
      expect.stringMatching(/^fail crm match/),
      expect.stringMatching(/^fail crm hold: .*no record can be held/),
    ]);
    expect(found([], [property('cvr', { type: 'boolean' })], { match: 'cvr' })).toEqual([
      expect.stringMatching(/^fail .*cannot hold a CVR number/),
    ]);
    expect(found([], [property('cvr'), property('stop')], { match: 'cvr', hold: 'stop' })).toEqual([
      expect.stringMatching(/^ok crm match/),
      expect.stringMatching(/^ok crm hold/),
    ]);
  });
});
