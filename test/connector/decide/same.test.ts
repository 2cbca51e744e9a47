import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIELD_NAMES, FIELDS, type FieldName, type FieldValue } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import { PROPERTY_TYPES } from '../../../providers/record.ts';
import { render } from '../../../src/connector/decide/render.ts';
import { sameFor } from '../../../src/connector/decide/same.ts';
import { propertyOf } from '../property-of.ts';

type Row = readonly [FieldName, Property['type'], PropertyValue, PropertyValue];

describe('a value in the spelling of the CRM is the same', () => {
  const rows: readonly Row[] = [
    ['name', 'string', null, ''],
    ['name', 'string', null, ' \u00a0\n'],
    ['name', 'string', 'Nordlys  ApS ', 'Nordlys ApS'],
    ['name', 'string', 'Cafe\u0301 A\u030angstrøm', 'Café Ångstrøm'],
    ['purpose', 'multiline', 'Handel\r\nog lager', 'Handel\nog lager'],
    ['purpose', 'string', 'Handel og lager', 'Handel\nog lager'],
    ['phone', 'phone', '+4510203040', '10203040'],
    ['phone', 'phone', '+45 10 20 30 40', '+4510203040'],
    ['phone', 'string', '0045-10203040', '10 20 30 40'],
    ['fax', 'phone', '(+45) 10203040', '(+45)  10203040'],
    ['website', 'string', 'https://www.Nordlys.example/', 'nordlys.example'],
    ['website', 'url', 'http://nordlys.example', 'www.nordlys.example'],
    ['website', 'url', 'nordlys.example/Om?x=Y', 'HTTPS://Nordlys.Example/Om?x=Y'],
    ['country', 'string', 'Danmark', 'Denmark'],
    ['country', 'string', 'dk', 'Denmark'],
    ['country', 'enumeration', 'Tyskland', 'Germany'],
    ['country', 'string', 'UK', 'United Kingdom'],
    ['countryCode', 'string', 'Sverige', 'SE'],
    ['email', 'string', 'Post@Nordlys.example', 'post@nordlys.example '],
    ['employees', 'number', '1000000', 1_000_000],
    ['employees', 'number', '1e6', 1_000_000],
    ['capital', 'number', '7.285', 7.285],
    ['capital', 'number', '40000.00', 40_000],
    ['capital', 'string', '1000000', 1_000_000],
    ['capital', 'string', '1.000.000', 1_000_000],
    ['capital', 'string', '1.000.000,50', 1_000_000.5],
    ['capital', 'string', '1,000,000', 1_000_000],
    ['capital', 'string', '1 000 000', 1_000_000],
    ['advertisingProtected', 'boolean', 'true', true],
    ['advertisingProtected', 'string', 'False', false],
    ['startDate', 'date', '2026-08-01T00:00:00.000Z', '2026-08-01'],
    ['newsTime', 'datetime', '2026-08-01T10:00:00Z', '2026-08-01T12:00:00.512+02:00'],
    ['newsTime', 'datetime', '2026-08-01T10:00:00', '2026-08-01T10:00:00.000+0000'],
  ];
  test.each(rows)('%s in a property of type %s: %j and %j', (field, type, a, b) => {
    const same = sameFor(field, propertyOf(type));
    expect([same(a, b), same(b, a)]).toEqual([true, true]);
  });
});

describe("a person's change is different", () => {
  const rows: readonly Row[] = [
    ['name', 'string', 'NORDLYS APS', 'Nordlys ApS'],
    ['name', 'string', 'Nordlys', 'Nordlys ApS'],
    ['city', 'string', 'Aarhus', 'Århus'],
    ['country', 'string', 'Danmark', 'Norge'],
    ['country', 'string', 'Hjemme', 'Denmark'],
    ['city', 'string', 'Danmark', 'Denmark'],
    ['name', 'string', 'Nordlys', null],
    ['employees', 'number', 0, null],
    ['advertisingProtected', 'boolean', false, null],
    ['advertisingProtected', 'boolean', true, 'false'],
    ['postalCode', 'string', '0800', '800'],
    ['industryCode', 'enumeration', 'other', 'OTHER'],
    ['phone', 'phone', '+4510203040', '+4610203040'],
    ['phone', 'phone', '+10203040', '10203040'],
    ['phone', 'phone', '10203040', '10203040 (work)'],
    ['phone', 'phone', '10203040', '10203040 ext 5'],
    ['website', 'url', 'nordlys.example/om', 'nordlys.example/Om'],
    ['website', 'url', 'nordlys.example', 'shop.nordlys.example'],
    ['email', 'email', 'post@nordlys.example', 'info@nordlys.example'],
    ['capital', 'number', '7.285', 7285],
    ['employees', 'number', 'about 10', 10],
    ['employees', 'number', '0x10', 16],
    ['startDate', 'date', '2026-08-01', '2026-08-02'],
    ['newsTime', 'datetime', '2026-08-01T10:00:00Z', '2026-08-01T10:00:01Z'],
  ];
  test.each(rows)('%s in a property of type %s: %j and %j', (field, type, a, b) => {
    const same = sameFor(field, propertyOf(type));
    expect([same(a, b), same(b, a)]).toEqual([false, false]);
  });
});

describe('for any field in any property', () => {
  const TYPES = PROPERTY_TYPES.filter((type) => type !== 'other');
  const TEXTS: ReadonlySet<string> = new Set(['string', 'multiline', 'phone', 'email', 'url', 'enumeration']);
  const field = fc.constantFrom(...FIELD_NAMES);
  const property = fc
    .record({
      type: fc.constantFrom(...TYPES),
      maxLength: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    })
    .map(({ type, maxLength }) =>
      propertyOf(type, {
        ...(maxLength !== undefined && TEXTS.has(type) && { maxLength }),
        ...(type === 'enumeration' && { open: true, options: [{ value: 'A', label: 'a b' }] }),
        ...(type === 'number' && { scale: 2 }),
      }),
    );
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.constantFrom(
      '10-19',
      '1000+',
      '10203040',
      '+45 10 20 30 40',
      'www.a.dk/',
      '1.000.000',
      '2026-08-01',
      'true',
      'A b',
    ),
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
  );
  const scalar = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const members = fc.array(fc.record({ id: text, name: text }), { maxLength: 4 });
  const anyOf = (name: FieldName): fc.Arbitrary<FieldValue> => (FIELDS[name].kind === 'list' ? members : scalar);
  const given = field.chain((name) => fc.tuple(fc.constant(name), property, anyOf(name)));

  test('rendering is idempotent, so that a written value is not a difference', () => {
    fc.assert(
      fc.property(given, ([name, into, value]) => {
        const first = render(name, value, into);
        if (!first.ok) return;
        const second = render(name, first.value, into);
        const same = sameFor(name, into);
        expect(same(first.value, first.value)).toBe(true);
        // A list has become a text or a count by then.
        if (FIELDS[name].kind !== 'list') expect(second.ok && same(first.value, second.value)).toBe(true);
        if (typeof first.value === 'string') {
          expect(first.value.isWellFormed()).toBe(true);
          // An option is the CRM's own, whatever its length.
          if (first.value !== 'A')
            expect(first.value.length).toBeLessThanOrEqual(into.maxLength ?? Number.POSITIVE_INFINITY);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test('being the same is an equivalence', () => {
    fc.assert(
      fc.property(field, property, fc.tuple(scalar, scalar, scalar), (name, into, [a, b, c]) => {
        const same = sameFor(name, into);
        expect(same(a, a)).toBe(true);
        expect(same(a, b)).toBe(same(b, a));
        if (same(a, b) && same(b, c)) expect(same(a, c)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test('trimmed edges and texts that a CRM makes of values are not differences', () => {
    fc.assert(
      fc.property(given, ([name, into, value]) => {
        const result = render(name, value, into);
        if (!result.ok || result.value === null) return;
        const same = sameFor(name, into);
        expect(same(result.value, String(result.value).trim())).toBe(true);
        expect(same(result.value, ` ${result.value} `)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
