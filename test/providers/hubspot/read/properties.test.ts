import { expect, test } from 'vitest';
import { propertiesMisfit } from '../../../../providers/contract-schemas.ts';
import { toProperty } from '../../../../providers/hubspot/read/properties.ts';

test('an option without a label goes by its value, so that the account can be written to', () => {
  const options = [{ value: 'a', label: null }, { value: 'b' }, { value: 'c', label: '' }, { value: 'd', label: 'D' }];
  const property = toProperty({ name: 'kind', label: 'Kind', type: 'enumeration', fieldType: 'select', options });
  expect(property.options?.map(({ label }) => label)).toEqual(['a', 'b', 'c', 'D']);
  expect(propertiesMisfit([property])).toBeUndefined();
});
