import { describe, expect, test } from 'vitest';
import type { FieldName, FieldValue, Member } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { render, type ValueMap } from '../../../src/connector/decide/render.ts';
import { propertyOf } from '../property-of.ts';

/** The rendered value; the reason behind an exclamation mark if it is refused. */
const rendered = (field: FieldName, value: FieldValue, property: Property, values?: ValueMap): PropertyValue => {
  const result = render(field, value, property, { values });
  return result.ok ? result.value : `! ${result.reason}`;
};
const REFUSED = expect.stringMatching(/^! .*a_property/u);

describe('scalars by the type of the property', () => {
  const rows: readonly (readonly [FieldName, FieldValue, Property, unknown])[] = [
    ['name', ' Nordlys\r\n ApS ', propertyOf(), 'Nordlys ApS'],
    ['purpose', 'Handel\nog lager', propertyOf(), 'Handel og lager'],
    ['purpose', 'Handel\nog lager\n', propertyOf('multiline'), 'Handel\nog lager'],
    ['employees', 12, propertyOf(), '12'],
    ['advertisingProtected', false, propertyOf(), 'false'],
    ['employees', 0, propertyOf('number'), 0],
    ['capital', 40_000.126, propertyOf('number', { scale: 2 }), 40_000.13],
    ['capital', -0.4, propertyOf('number', { scale: 0 }), 0],
    ['postalCode', '0800', propertyOf('number'), 800],
    ['employeesQuarterly', '10-19', propertyOf('number'), 10],
    ['employeesQuarterly', '1000+', propertyOf('number'), 1000],
    ['employeesYearly', '0', propertyOf('number'), 0],
    ['employeesQuarterly', '10-19', propertyOf(), '10-19'],
    ['employeesQuarterly', 'ANTAL_1', propertyOf('number'), REFUSED],
    ['employeesMonth', '2026-08', propertyOf('number'), REFUSED],
    ['name', '0x10', propertyOf('number'), REFUSED],
    ['startDate', '2026-08-01', propertyOf('number'), REFUSED],
    ['advertisingProtected', true, propertyOf('number'), REFUSED],
    ['advertisingProtected', true, propertyOf('boolean'), true],
    ['status', 'NORMAL', propertyOf('boolean'), REFUSED],
    ['startDate', '2026-08-01', propertyOf('date'), '2026-08-01'],
    ['newsTime', '2026-08-01T23:30:00.000Z', propertyOf('date'), '2026-08-01'],
    ['startDate', '2026-08-01', propertyOf('datetime'), '2026-08-01T00:00:00.000Z'],
    ['newsTime', '2026-08-01T10:00:00+02:00', propertyOf('datetime'), '2026-08-01T08:00:00.000Z'],
    ['newsTime', '2026-08-01T10:00:00', propertyOf('datetime'), '2026-08-01T10:00:00.000Z'],
    ['startDate', '2026-02-30', propertyOf('date'), REFUSED],
    ['name', 'Nordlys', propertyOf('date'), REFUSED],
    ['phone', '10 20 30 40', propertyOf('phone'), '+4510203040'],
    ['phone', '0045 10203040', propertyOf('phone'), '+4510203040'],
    ['phone', '(+45) 10203040', propertyOf('phone'), '+4510203040'],
    ['phone', '(+45 10203040', propertyOf('phone'), '+4510203040'],
    ['phone', '4510203040', propertyOf('phone'), '+4510203040'],
    ['phone', '+46 (8) 123-45-67', propertyOf('phone'), '+4681234567'],
    ['phone', '10203040 / 10203041', propertyOf('phone'), '10203040 / 10203041'],
    ['phone', '112', propertyOf('phone'), '112'],
    ['phone', '10203040', propertyOf(), '10203040'],
    ['website', 'www.nordlys.example', propertyOf('url'), 'www.nordlys.example'],
    ['website', 'https://www.facebook.com/nordlys', propertyOf('string', { ownSite: true }), REFUSED],
    ['website', 'nordlys.wixsite.com/site', propertyOf('string', { ownSite: true }), REFUSED],
    ['website', 'www.nordlys.example', propertyOf('string', { ownSite: true }), 'www.nordlys.example'],
    ['website', 'facebook.com/nordlys', propertyOf('string'), 'facebook.com/nordlys'],
    ['solvencyRatio', 33.3, propertyOf('number', { fraction: true }), 0.333],
    ['solvencyRatio', 33.3, propertyOf('number'), 33.3],
    ['revenue', 33.3, propertyOf('number', { fraction: true }), 33.3],
    ['country', 'Denmark', propertyOf('enumeration', { options: [{ value: 'dk', label: 'Danmark' }] }), 'dk'],
    ['country', 'Sweden', propertyOf('enumeration', { options: [{ value: 'dk', label: 'Danmark' }] }), REFUSED],
  ];
  test.each(rows)('%s %j in %j becomes %j', (field, value, property, wanted) => {
    expect(rendered(field, value, property)).toEqual(wanted);
  });

  test.each(['string', 'number', 'date', 'enumeration', 'phone', 'url'] as const)(
    'a blank clears a property of type %s',
    (type) => {
      for (const blank of [null, '', ' \n']) expect(rendered('name', blank, propertyOf(type))).toBeNull();
    },
  );

  test('a checkbox cannot be blank, so it is not ticked', () => {
    expect(rendered('advertisingProtected', null, propertyOf('boolean'))).toBe(false);
  });
});

describe('enumerations', () => {
  const industries = propertyOf('enumeration', {
    options: [
      { value: 'COMPUTER_SOFTWARE', label: 'Computer Software' },
      { value: 'FARMING', label: 'Farming' },
      { value: 'OTHER', label: 'farming ' },
    ],
  });
  const codes: ValueMap = { '620100': 'COMPUTER_SOFTWARE', '62*': 'Farming', '*': 'OTHER', '0111*': null };

  test.each([
    ['COMPUTER_SOFTWARE', 'COMPUTER_SOFTWARE'],
    ['computer_software', 'COMPUTER_SOFTWARE'],
    ['Computer software', 'COMPUTER_SOFTWARE'],
    [' farming', 'FARMING'],
  ])('an option is found by its value or its label, in any case: %s', (given, wanted) => {
    expect(rendered('industryText', given, industries)).toBe(wanted);
  });

  test('another value is refused with its name, or accepted if the property is open', () => {
    expect(rendered('industryText', 'Handel', industries)).toMatch(/"Handel" is not among the options of a_property/u);
    expect(rendered('industryText', 'Handel', { ...industries, open: true })).toBe('Handel');
    expect(rendered('industryText', 'Handel', { ...industries, open: true, maxLength: 3 })).toEqual(REFUSED);
    expect(rendered('industryText', 'Handel', propertyOf('enumeration'))).toEqual(REFUSED);
  });

  test.each<readonly [string, PropertyValue, string]>([
    ['620100', 'COMPUTER_SOFTWARE', 'the exact key first'],
    ['620200', 'FARMING', 'then the longest beginning, its value by label'],
    ['471100', 'OTHER', 'then what stands for all'],
    ['011100', null, 'and null means none'],
  ])('a value map takes %s to %j: %s', (code, wanted) => {
    expect(rendered('industryCode', code, industries, codes)).toBe(wanted);
  });

  test('a map applies to any property, and its value must fit', () => {
    expect(rendered('status', 'NORMAL', propertyOf(), { NORMAL: 'Active' })).toBe('Active');
    expect(rendered('status', 'NORMAL', propertyOf('boolean'), { NORMAL: true })).toBe(true);
    expect(rendered('status', 'NORMAL', propertyOf('boolean'), { NORMAL: 'True' })).toBe(true);
    expect(rendered('advertisingProtected', false, propertyOf(), { false: 'may be called' })).toBe('may be called');
    expect(rendered('employees', 0, propertyOf('number'), { '0': 1 })).toBe(1);
    expect(rendered('status', 'NORMAL', propertyOf('number'), { NORMAL: 'Active' })).toEqual(REFUSED);
    expect(rendered('status', 'NORMAL', propertyOf(), { constructor: 'x' })).toBe('NORMAL');
    expect(rendered('status', 'toString', propertyOf(), {})).toBe('toString');
  });
});

describe('lists', () => {
  const board: readonly Member[] = [
    { id: '1', name: 'Anne Berg' },
    { id: '2', name: 'Bo\nDahl', share: '10-15' },
    { id: '3', name: 'Cai Eg', share: '33.34 %' },
  ];

  test('are names with their shares', () => {
    expect(rendered('owners', board, propertyOf())).toBe('Anne Berg, Bo Dahl (10-15 %), Cai Eg (33.34 %)');
    expect(rendered('owners', [], propertyOf())).toBeNull();
  });

  test('are counted by a number', () => {
    expect(rendered('board', board, propertyOf('number'))).toBe(3);
    expect(rendered('board', [], propertyOf('number'))).toBe(0);
  });

  test.each([
    [44, 'Anne Berg, Bo Dahl (10-15 %) (+1)'],
    [33, 'Anne Berg, Bo Dahl (10-15 %) (+1)'],
    [32, 'Anne Berg (+2)'],
    [14, 'Anne Berg (+2)'],
    [13, REFUSED],
  ])('that exceed %i characters count the omitted names', (maxLength, wanted) => {
    expect(rendered('owners', board, propertyOf('string', { maxLength }))).toEqual(wanted);
  });

  test('are joined as the mapping says, and cut by the same rule', () => {
    const joined = (join: string, property = propertyOf()) => render('owners', board, property, { join });
    expect(joined('; ')).toEqual({ ok: true, value: 'Anne Berg; Bo Dahl (10-15 %); Cai Eg (33.34 %)' });
    expect(joined('\n', propertyOf('multiline', { maxLength: 33 }))).toEqual({
      ok: true,
      value: 'Anne Berg\nBo Dahl (10-15 %) (+1)',
    });
    // A property of one line would lose the break: the members must not run together.
    expect(joined('\n')).toEqual({ ok: true, value: 'Anne Berg, Bo Dahl (10-15 %), Cai Eg (33.34 %)' });
  });

  test.each(['date', 'datetime', 'boolean'] as const)('are refused by a property of type %s', (type) => {
    expect(rendered('board', board, propertyOf(type))).toEqual(REFUSED);
  });

  test('use options and maps like other values', () => {
    const options = [{ value: 'B', label: 'Anne Berg' }];
    expect(rendered('board', board.slice(0, 1), propertyOf('enumeration', { options }))).toBe('B');
    expect(rendered('board', board, propertyOf(), { '1*': 'Anne and others' })).toBe('Anne and others');
  });
});

describe('length', () => {
  test('cuts free text, never through a character', () => {
    expect(rendered('purpose', 'Handel og lager', propertyOf('multiline', { maxLength: 8 }))).toBe('Handel…');
    expect(rendered('purpose', 'ab😀cd', propertyOf('string', { maxLength: 4 }))).toBe('ab…');
    expect(rendered('purpose', 'ab😀cd', propertyOf('string', { maxLength: 5 }))).toBe('ab😀…');
    expect(rendered('purpose', 'ab😀cd', propertyOf('string', { maxLength: 6 }))).toBe('ab😀cd');
    expect(rendered('purpose', 'ab', propertyOf('string', { maxLength: 1 }))).toBe('…');
  });

  test('refuses anything else, because half a name is wrong', () => {
    const short = { maxLength: 5 };
    expect(rendered('name', 'Nordlys', propertyOf('string', short))).toBe(
      '! 7 characters do not fit into the 5 of a_property',
    );
    expect(rendered('website', 'nordlys.example', propertyOf('url', short))).toEqual(REFUSED);
    expect(rendered('phone', '10203040', propertyOf('phone', short))).toEqual(REFUSED);
    expect(rendered('purpose', 'ab', propertyOf('string', { maxLength: 0 }))).toEqual(REFUSED);
  });

  test.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])('of %d refuses every text', (maxLength) => {
    expect(rendered('purpose', 'Handel og lager', propertyOf('multiline', { maxLength }))).toEqual(REFUSED);
    expect(rendered('name', 'Birk ApS', propertyOf('string', { maxLength }))).toEqual(REFUSED);
    expect(rendered('owners', [{ id: '1', name: 'Anne' }], propertyOf('string', { maxLength }))).toEqual(REFUSED);
  });
});
