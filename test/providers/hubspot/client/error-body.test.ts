import { describe, expect, it } from 'vitest';
import { parseErrorBody, readErrorBody } from '../../../../providers/hubspot/client/error-body.ts';

const invalid = (name: string, error: string) => ({
  isValid: false,
  message: `${name} is wrong [sic]`,
  error,
  name,
  localizedErrorMessage: 'wrong',
  portalId: 1,
});

describe('an error body', () => {
  it('has property faults that are hidden as JSON in its message', () => {
    const message = `Property values were not valid: ${JSON.stringify([invalid('industry', 'INVALID_OPTION'), invalid('zip', 'X')])}`;
    expect(readErrorBody({ message, category: 'VALIDATION_ERROR' }).properties).toEqual([
      { name: 'industry', reason: 'industry is wrong [sic]', code: 'INVALID_OPTION' },
      { name: 'zip', reason: 'zip is wrong [sic]', code: 'X' },
    ]);
  });

  it.each([
    [{ message: 'gone wrong', code: 'READ_ONLY_VALUE', context: { propertyName: ['hs_x'] } }],
    [{ message: 'gone wrong', subCategory: 'READ_ONLY_VALUE', in: 'hs_x' }],
  ])('falls back to the details %j', (detail) => {
    const body = readErrorBody({ message: 'Not [valid', errors: [detail] });
    expect(body.properties).toEqual([{ name: 'hs_x', reason: 'gone wrong', code: 'READ_ONLY_VALUE' }]);
    expect(body.message).toBe('Not [valid');
  });

  it.each([
    '',
    '<html>[]</html>',
    '[]',
    'null',
    '"text"',
    '{"errors":5,"context":[],"message":7}',
    '{"message":"a ] b ["}',
  ])('is read without complaint: %j', (text) => expect(parseErrorBody(text).properties).toEqual([]));

  it('has context members as lists, whether HubSpot sends one or a text', () => {
    const body = readErrorBody({ context: { ids: '12', id: 7 }, errors: [{ context: { ids: ['13'] } }] });
    expect(body.context).toEqual({ ids: ['12', '13'], id: ['7'] });
  });
});
