/** Limits that no batch and no pace can be made of are refused before a call is made. */
import { describe, expect, it } from 'vitest';
import { soundLimits } from '../../../src/connector/crm/fence/fence-limits.ts';

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
