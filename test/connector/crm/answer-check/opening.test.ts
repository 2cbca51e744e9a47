/** Limits that no pace can be made of, and a connection that lacks what is called, are refused before a call is made. */
import { describe, expect, it } from 'vitest';
import { soundConnection, soundLimits } from '../../../../src/connector/crm/answer-check/check-opening.ts';

describe('limits', () => {
  const limits = { batch: { read: 10, update: 10 }, concurrency: 1, budgets: { default: { calls: 1, perMs: 1 } } };

  it.each<readonly [string, unknown, RegExp]>([
    ['no batch', { ...limits, batch: { read: 0, update: 10 } }, /limits.batch/],
    ['no concurrency', { ...limits, concurrency: Number.NaN }, /limits.concurrency/],
    ['no pace', { ...limits, budgets: { default: { calls: 0, perMs: 1 } } }, /the budget default/],
    ...[Number.POSITIVE_INFINITY, Number.NaN, -1, '10', undefined].flatMap(
      (odd) =>
        [
          [
            `${odd} calls`,
            { ...limits, budgets: { default: { calls: odd, perMs: 1 } } },
            /default with .+ as calls: it is a finite number above 0; for a CRM without a limit/,
          ],
          [
            `a window of ${odd}`,
            { ...limits, budgets: { default: { calls: 1, perMs: odd } } },
            /default with .+ as perMs: it is a finite number/,
          ],
        ] as const,
    ),
    [
      'a budget of null',
      { ...limits, budgets: { ...limits.budgets, search: null } },
      /gives null as the budget search: it is an object/,
    ],
    ['no default', { ...limits, budgets: { search: { calls: 1, perMs: 1 } } }, /gives nothing as the budget default/],
    ['no budgets', { ...limits, budgets: undefined }, /gives nothing as limits.budgets/],
    ['no parts', undefined, /connector.providers.crm: its provider gives nothing as limits: they are an object/],
    ['a promise', Promise.resolve(limits), /gives a promise .+ as limits: they are an object/],
  ])('with %s are refused at start', (_what, wrong, message) => {
    expect(() => soundLimits('crm', wrong as never)).toThrow(message);
    expect(soundLimits('crm', limits)).toBe(limits);
  });
});

describe('a connection', () => {
  const verb = async () => [];
  const five = { check: verb, properties: verb, read: verb, update: verb, scan: verb };
  const notes = { find: verb, add: verb };

  it.each<readonly [string, unknown, string]>([
    [
      'is nothing',
      undefined,
      'nothing as the connection: it is an object with check, properties, read, update and scan',
    ],
    ['lacks a verb', { ...five, scan: undefined }, 'the connection with nothing as scan: it is a function'],
    ['has a number as a verb', { ...five, read: 5 }, 'the connection with the number 5 as read: it is a function'],
    ['has null as an ability', { ...five, find: null }, 'with null as find: it is a function, and absent if the CRM'],
    [
      'has a text as its notes',
      { ...five, notes: 'no' },
      'the connection with the text "no" as notes: it is an object',
    ],
    ['has notes without verbs', { ...five, notes: {} }, 'the connection with nothing as notes.find: it is a function'],
    ['can only read parents', { ...five, parents: { read: verb } }, 'the connection with nothing as parents.write'],
  ])('that %s is refused as it opens, with the part and what was found', (_what, wrong, seen) => {
    expect(() => soundConnection('crm', wrong as never)).toThrow(seen);
  });

  it('with its five verbs, or with abilities of their shape, is taken as it is', () => {
    for (const sound of [five, { ...five, find: verb, notes, parents: { read: verb, write: verb } }])
      expect(soundConnection('crm', sound as never)).toBe(sound);
  });

  it('of a class has its verbs, too', () => {
    class Own {
      check = verb;
      properties = verb;
      read = verb;
      update = verb;
      async scan() {
        return [];
      }
    }
    const own = new Own();
    expect(soundConnection('crm', own as never)).toBe(own);
  });
});
