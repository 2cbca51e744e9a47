/** Limits that no pace can be made of, and a connection that lacks what is called, are refused before a call is made. */
import { describe, expect, it } from 'vitest';
import type { Limits } from '../../../../providers/provider.ts';
import { connectProvider, limitsOf } from '../../../../src/connector/crm/connect.ts';

const configured = (limits: unknown, connection: unknown = undefined) => ({
  name: 'crm',
  settings: {},
  provider: { limits: () => limits as Limits, connect: async () => connection as never },
});
const soundLimits = (limits: unknown) => limitsOf(configured(limits));
const soundConnection = (connection: unknown) => connectProvider(configured(undefined, connection), {} as never);

describe('limits', () => {
  const limits = { batch: { read: 10, update: 10 }, concurrency: 1, budgets: { default: { calls: 1, perMs: 1 } } };

  it.each<readonly [string, unknown, RegExp]>([
    ['no batch', { ...limits, batch: { read: 0, update: 10 } }, /limits.batch/],
    ['no concurrency', { ...limits, concurrency: Number.NaN }, /limits.concurrency/],
    ['no pace', { ...limits, budgets: { default: { calls: 0, perMs: 1 } } }, /limits.budgets.default.calls/],
    ...[Number.POSITIVE_INFINITY, Number.NaN, -1, '10', undefined].flatMap(
      (odd) =>
        [
          [
            `${odd} calls`,
            { ...limits, budgets: { default: { calls: odd, perMs: 1 } } },
            / as limits.budgets.default.calls: it is a finite number above 0; for a CRM without a limit/,
          ],
          [
            `a window of ${odd}`,
            { ...limits, budgets: { default: { calls: 1, perMs: odd } } },
            / as limits.budgets.default.perMs: it is a finite number/,
          ],
        ] as const,
    ),
    [
      'a budget of null',
      { ...limits, budgets: { ...limits.budgets, search: null } },
      /gives null as limits.budgets.search: it is an object/,
    ],
    [
      'no default',
      { ...limits, budgets: { search: { calls: 1, perMs: 1 } } },
      /gives nothing as limits.budgets.default/,
    ],
    ['no budgets', { ...limits, budgets: undefined }, /gives nothing as limits.budgets/],
    ['no parts', undefined, /connector.providers.crm: its provider gives nothing as limits: they are an object/],
    ['a promise', Promise.resolve(limits), /gives a promise .+ as limits: they are an object/],
  ])('with %s are refused at start', (_what, wrong, message) => {
    expect(() => soundLimits(wrong)).toThrow(message);
    expect(soundLimits(limits)).toBe(limits);
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
  ])('that %s is refused as it opens, with the part and what was found', async (_what, wrong, seen) => {
    await expect(soundConnection(wrong)).rejects.toThrow(seen);
  });

  it('with its five verbs, and abilities of their shape, is accepted', async () => {
    for (const sound of [five, { ...five, find: verb, notes, parents: { read: verb, write: verb } }])
      expect(await soundConnection(sound)).toBe(sound);
  });

  it('may be an instance of a class', async () => {
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
    expect(await soundConnection(own)).toBe(own);
  });
});
