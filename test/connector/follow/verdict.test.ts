import { describe, expect, it } from 'vitest';
import { kept, verdictOf } from '../../../src/connector/follow/verdict.ts';

const company = (entity: string) => expect.objectContaining({ verdict: 'matched', entity });

describe('the verdict on a number', () => {
  it.each([
    '10150817',
    'DK10150817',
    'dk 10 15 08 17',
    'DK-10150817',
    'CVR-nr.: 10150817',
    '10.15.08.17',
    '\u00A010150817\u200B',
    '１０１５０８１７',
    'CVR-1-10150817',
    '10150817.0',
    10150817,
  ])('is matched for %j', (value) => {
    expect(verdictOf(value, false)).toEqual({ verdict: 'matched', entity: 'CVR-1-10150817', detail: null });
  });

  it.each([
    [null, 'no-number'],
    ['', 'no-number'],
    ['  ', 'no-number'],
    ['-', 'no-number'],
    ['1015081', 'invalid'],
    ['101508170', 'invalid'],
    ['00000000', 'invalid'],
    ['ukendt', 'invalid'],
    ['SE 556036-0793', 'invalid'],
    ['010190-1234', 'invalid'],
    ['10150817, 12345674', 'invalid'],
    ['1.0150817e7', 'invalid'],
    [true, 'invalid'],
    [10150817.5, 'invalid'],
    [-10150817, 'invalid'],
    ['1012345678', 'unit'],
    ['P-nr. 1012345678', 'unit'],
    ['CVR-2-1012345678', 'unit'],
  ])('of %j is %s, and names no company', (value, verdict) => {
    expect(verdictOf(value, false)).toMatchObject({ verdict, entity: null });
  });

  it('restores a lost zero if the register confirms the number, and otherwise asks', () => {
    // 0 + 1234567 fails modulus 11; 0 + 1000004 passes: 7*1 + 1*4 = 11.
    expect(verdictOf('1000004', false)).toEqual({
      verdict: 'matched',
      entity: 'CVR-1-01000004',
      detail: 'its leading zero was missing',
    });
    expect(verdictOf('1234567', false)).toMatchObject({
      verdict: 'invalid',
      detail: expect.stringContaining('01234567'),
    });
    expect(verdictOf(1234567, false)).toEqual(company('CVR-1-01234567'));
  });

  it('warns about a number that fails the check of the register, but links it', () => {
    expect(verdictOf('10150818', false)).toMatchObject({
      verdict: 'matched',
      detail: expect.stringContaining('modulus 11'),
    });
  });

  it('skips a held record, but reads its number', () => {
    expect(verdictOf('10150817', true)).toMatchObject({ verdict: 'held', entity: 'CVR-1-10150817' });
    expect(verdictOf('', true)).toMatchObject({ verdict: 'no-number' });
  });
});

it('stores texts of bounded length', () => {
  expect([kept(' x '), kept(''), kept(null), kept(7), kept('y'.repeat(10_000))?.length]).toEqual([
    'x',
    null,
    null,
    '7',
    300,
  ]);
});
