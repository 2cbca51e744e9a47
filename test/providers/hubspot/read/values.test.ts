import { describe, expect, it } from 'vitest';
import { fromHubspot, toHubspot } from '../../../../providers/hubspot/read/values.ts';
import type { PropertyValue } from '../../../../providers/provider.ts';

describe('values on their way to HubSpot', () => {
  it.each<[PropertyValue, string]>([
    [null, ''],
    ['', ''],
    ['  Æblegård ', '  Æblegård '],
    [0, '0'],
    [false, 'false'],
    [true, 'true'],
    [-12.5, '-12.5'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    ['0999', '0999'],
  ])('sends %j as %j', (value, text) => expect(toHubspot(value)).toBe(text));
});

describe('values on their way from HubSpot', () => {
  it.each<[string | null | undefined, string | undefined, PropertyValue]>([
    [undefined, 'string', null],
    [null, 'number', null],
    ['', 'string', null],
    ['0999', 'string', '0999'],
    ['0', 'number', 0],
    ['12.50', 'number', 12.5],
    ['about ten', 'number', 'about ten'],
    ['true', 'bool', true],
    ['false', 'bool', false],
    ['2024-02-29', 'date', '2024-02-29'],
    ['1709164800000', 'date', '2024-02-29'],
    ['1709164800000', 'datetime', '2024-02-29T00:00:00.000Z'],
    ['2024-02-29T12:00:00+01:00', 'datetime', '2024-02-29T11:00:00.000Z'],
    ['soon', 'date', 'soon'],
    ['COMPUTER_SOFTWARE', 'enumeration', 'COMPUTER_SOFTWARE'],
    ['12', undefined, '12'],
  ])('reads %j of type %s as %j', (text, type, value) => expect(fromHubspot(text, type)).toBe(value));
});
