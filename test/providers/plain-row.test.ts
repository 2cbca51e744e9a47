/** A row of a mapping has one form, which the accepted rules keep and daemons compare. */
import { expect, it } from 'vitest';
import { type PresetRow, plainRow } from '../../providers/provider.ts';
import { rulesOf } from '../../src/connector/rules/rules.ts';

const WHOLE = {
  ...{ case: 'upper', text: '{street}', address: 'billing', join: '; ', optional: true },
  ...{ unless: 'BillingCountryCode', policy: 'always', property: 'note', field: 'composed', more: 'of a plugin' },
} as const satisfies PresetRow & { readonly more: string };

it('a plain row keeps the keys of the contract, in one order, and nothing else', () => {
  const keys = ['field', 'property', 'policy', 'unless', 'optional', 'join', 'address', 'text', 'case'];
  expect(Object.keys(plainRow(WHOLE))).toEqual(keys);
  expect(Object.keys(plainRow({ field: 'name', property: 'name', policy: 'tracked', join: undefined }))).toEqual(
    keys.slice(0, 3),
  );
});

it('the accepted rules are made of plain rows', () => {
  const rules = rulesOf({ mapping: [WHOLE], values: {}, hold: undefined, persons: false });
  expect(JSON.stringify(rules.mapping)).toBe(JSON.stringify([plainRow(WHOLE)]));
});
