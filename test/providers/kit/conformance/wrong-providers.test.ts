/** Providers that were wrong in a way of their own, and which rule catches each. */
import { describe, expect, it } from 'vitest';
import { conformance } from '../../../../providers/kit/conformance/conformance.ts';
import {
  type Connection,
  type Fault,
  type Outcome,
  type PropertyValue,
  ProviderError,
} from '../../../../providers/provider.ts';
import { type Breakage, toyProvider, toySubject } from './toy.ts';

type Change = (sound: Connection) => Partial<Connection>;

async function seenBy(rule: string, breakage: Breakage): Promise<unknown> {
  const check = conformance(toySubject(toyProvider(breakage))).find(({ name }) => name === rule);
  return check?.run();
}
const changing =
  (change: (value: PropertyValue, name: string) => PropertyValue): Change =>
  (sound) => ({
    update: (patches, signal) =>
      sound.update(
        patches.map(({ id, properties }) => ({
          id,
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [name, change(value, name)]),
          ),
        })),
        signal,
      ),
  });
const swallowing =
  (...faults: readonly Fault[]): Change =>
  (sound) => ({
    scan: async (...asked) => {
      try {
        return await sound.scan(...asked);
      } catch (error) {
        if (error instanceof ProviderError && faults.includes(error.fault)) return { records: [] };
        throw error;
      }
    },
  });
const leftOutIs =
  (kind: 'written' | 'gone'): Change =>
  (sound) => ({
    update: async (patches, signal) => {
      const outcomes = await sound.update(patches, signal);
      return patches.map(({ id }): Outcome => outcomes.find((each) => each.id === id) ?? { kind, id });
    },
  });
/** Whatever the types say. */
const raw = (change: (sound: Connection) => Record<string, (...given: never[]) => Promise<unknown>>): Change =>
  change as Change;

describe('the conformance suite catches an adapter that', () => {
  it.each<readonly [string, string, Change]>([
    ['cuts decimals off', 'numbers', changing((value) => (typeof value === 'number' ? Math.trunc(value) : value))],
    ['keeps 31 bits of a number', 'numbers', changing((value) => (typeof value === 'number' ? value | 0 : value))],
    ['loses the sign', 'numbers', changing((value) => (typeof value === 'number' ? Math.abs(value) : value))],
    [
      'writes 0 where a number is cleared',
      'clears-with-null',
      changing((value, name) => (name === 'staff' ? (value ?? 0) : value)),
    ],
    [
      'leaves a date that is cleared',
      'clears-with-null',
      (sound) => ({
        update: (patches, signal) =>
          sound.update(
            patches.map(({ id, properties: { founded, ...rest } }) => ({
              id,
              properties: founded === undefined || founded === null ? rest : { founded, ...rest },
            })),
            signal,
          ),
      }),
    ],
    [
      'cuts a time to its day',
      'choices-dates-and-flags',
      changing((value, name) => (name === 'seen' && typeof value === 'string' ? value.slice(0, 10) : value)),
    ],
    ['takes a record that was left out for written', 'left-out-is-not-done', leftOutIs('written')],
    ['takes a record that was left out for gone', 'left-out-is-not-done', leftOutIs('gone')],
    ['ends a scan at a 429', 'status-429', swallowing('rate')],
    ['ends a scan at a 401', 'status-401', swallowing('auth')],
    ['ends a scan at a 403', 'status-403', swallowing('refused')],
    [
      'knows no properties where the CRM fails',
      'nothing-made-up',
      (sound) => ({ properties: (signal) => sound.properties(signal).catch(() => []) }),
    ],
    [
      'has an account where the CRM fails',
      'nothing-made-up',
      (sound) => ({ check: (signal) => sound.check(signal).catch(() => ({ id: '7', name: 'x', notes: [] })) }),
    ],
    [
      'gives an account whose id is a number',
      'tells-the-account',
      raw((sound) => ({ check: async () => ({ ...(await sound.check(new AbortController().signal)), id: 77 }) })),
    ],
    [
      'gives a cursor that is a number',
      'scans-all',
      raw((sound) => ({
        scan: async (names: readonly string[], cursor: string | undefined, signal: AbortSignal) => {
          const page = await sound.scan(names, cursor, signal);
          return page.cursor === undefined ? page : { ...page, cursor: Number(page.cursor) };
        },
      })),
    ],
    [
      'gives writable as a number',
      'describes-properties',
      raw((sound) => ({
        properties: async (signal: AbortSignal) =>
          (await sound.properties(signal)).map((each) => ({ ...each, writable: 1 })),
      })),
    ],
    [
      'gives a type of its own',
      'describes-properties',
      raw((sound) => ({
        properties: async (signal: AbortSignal) =>
          (await sound.properties(signal)).map((each) => (each.type === 'string' ? { ...each, type: 'text' } : each)),
      })),
    ],
    ...(
      [
        ['maxLength', Number.NaN],
        ['scale', -3],
        ['options', [{ value: '1' }]],
        ['open', 'yes'],
      ] as const
    ).map(([part, value]): readonly [string, string, Change] => [
      `gives a property whose ${part} makes no sense`,
      'describes-properties',
      raw((sound) => ({
        properties: async (signal: AbortSignal) =>
          (await sound.properties(signal)).map((each) => ({ ...each, [part]: value })),
      })),
    ]),
    [
      'lists a property twice',
      'describes-properties',
      raw((sound) => ({
        properties: async (signal: AbortSignal) => {
          const all = await sound.properties(signal);
          return [...all, ...all.slice(0, 1)];
        },
      })),
    ],
  ])('%s, by %s', async (_what, rule, connection) => {
    expect(await seenBy(rule, {})).toBe('kept');
    await expect(seenBy(rule, { connection })).rejects.toThrow(rule);
  });

  it('returns a cursor twice, and names the place', async () => {
    const connection: Change = (sound) => ({
      scan: async (names, cursor, signal) => ({
        records: (await sound.scan(names, undefined, signal)).records,
        cursor: cursor === 'a' ? 'b' : 'a',
      }),
    });
    await expect(seenBy('scans-all', { connection })).rejects.toThrow('the cursor a twice, after 2 pages');
  });

  it.each([
    ['calls without end', { calls: Number.POSITIVE_INFINITY, perMs: 1_000 }, 'the number Infinity', 'calls'],
    ['calls in a text', { calls: '10', perMs: 1_000 }, 'the text "10"', 'calls'],
    ['a window without end', { calls: 10, perMs: Number.POSITIVE_INFINITY }, 'the number Infinity', 'perMs'],
  ])('states %s', async (_what, window, seen, part) => {
    const limits = () => ({ batch: { read: 20, update: 20 }, concurrency: 2, budgets: { default: window as never } });
    await expect(seenBy('whole-provider', { provider: { limits } })).rejects.toThrow(
      `limits gave ${seen} as limits.budgets.default.${part}: it is a finite number`,
    );
  });

  it.each([
    ['properties', 'describes-properties', () => ({ properties: async () => new Array(1) })],
    ['properties', 'numbers', () => ({ properties: async () => new Array(1) })],
    ['a scan', 'scans-all', () => ({ scan: async () => ({ records: new Array(1) }) })],
    ['a scan', 'scans-while-records-change', () => ({ scan: async () => ({ records: new Array(1) }) })],
    ['a read', 'gone', () => ({ read: async () => new Array(1) })],
    ['an update', 'full-batch', () => ({ update: async () => new Array(1) })],
  ])('leaves a hole in the list of %s, by %s', async (giver, rule, connection) => {
    await expect(seenBy(rule, { connection })).rejects.toThrow(
      `${giver} gave a list with undefined at 0: each member is an object`,
    );
  });
});
