/** Text that can be no record's id, whatever the CRM: refused with a reason. */
import { describe, expect, test } from 'vitest';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import { ProviderBug } from '../../../src/connector/crm/answer-check/provider-bug.ts';
import { formOf, readRecordId } from '../../../src/connector/crm/record-id.ts';
import { fenced, live } from './sound-connection.ts';

const plain = { name: 'crm', provider: {}, settings: {} };

describe('an id that cannot be a record', () => {
  test.each([
    ['', 'it is blank'],
    [' \t', 'it is blank'],
    ['https://app.example.com/company/12', 'it is not the address of a company here: give only the id in it'],
    ['12 34', 'it contains spaces'],
    ['12\u00a034', 'it contains spaces'],
    ['12\u000034', 'it contains spaces'],
    ['*', 'it stands for all records'],
  ])('is refused: %j, for %s', (text, reason) => {
    expect(readRecordId(plain, text)).toEqual({ kind: 'none', reason });
  });

  test.each(['007', '12a', '-1', '1.0', '1'.repeat(21)])('is refused by HubSpot: %s', (text) => {
    const reader = { name: 'crm', provider: hubspot, settings: {} };
    expect([readRecordId(reader, text).kind, formOf(reader)(text)]).toEqual(['none', undefined]);
  });
});

test('an id is trimmed', () => {
  expect(readRecordId(plain, ' A-7\n')).toEqual({ kind: 'id', id: 'A-7' });
});

test.each([
  ['nothing', undefined],
  ['a promise that is rejected', () => Promise.reject(new Error('boom'))],
  ['a number', { kind: 'id', id: 7 }],
])('an id that its provider reads as %s is refused', async (_what, read) => {
  const provider = { canonicalId: () => (typeof read === 'function' ? read() : read) as never };
  expect(readRecordId({ name: 'crm', provider, settings: {} }, '7')).toEqual({
    kind: 'none',
    reason: 'its provider cannot read it: canonicalId returned neither an id nor a reason',
  });
  // What strays is told a turn later, and fails the run.
  await new Promise((resolve) => setImmediate(resolve));
});

describe('an id on which canonicalId throws', () => {
  const failing = {
    name: 'crm',
    settings: {},
    mask: (text: string) => text.replaceAll('hemmelig', '***'),
    provider: {
      canonicalId: () => {
        throw new Error('cid 1 hemmelig');
      },
    },
  };

  test('is refused as a bug of the provider if a person gives it', () => {
    expect(readRecordId(failing, '7')).toEqual({
      kind: 'none',
      reason: 'its provider cannot read it: canonicalId failed, which is a bug of the provider: cid 1 ***',
    });
  });

  test('does not count as a deleted record if the CRM gives it', async () => {
    const seen = 'crm: the record id 7 cannot be read: canonicalId failed, which is a bug of the provider: cid 1 ***';
    expect(() => formOf(failing)('7')).toThrow(new ProviderBug(seen));
    const connection = fenced({}, { form: formOf(failing) });
    await expect(connection.read(['7'], ['name'], live())).rejects.toThrow(new ProviderBug(seen));
  });
});
