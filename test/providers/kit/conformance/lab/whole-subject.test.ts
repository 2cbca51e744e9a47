/** A faulty subject is reported as such, and not as a provider that breaks rules. */
import { expect, test } from 'vitest';
import { conformance, judge, tryFake } from '../../../../../providers/kit/conformance/conformance.ts';
import type { FakeCrm, Subject } from '../../../../../providers/kit/conformance/lab/subject.ts';
import { toyProvider, toySubject } from '../toy.ts';
import { startToyCrm } from '../toy-crm.ts';

const WRONG = 'the subject is wrong, not the provider: ';

/** The toy's subject with some of it put otherwise, whatever the types say. */
const subjectWith = (changes: Readonly<Record<string, unknown>>): Subject =>
  Object.assign(toySubject(toyProvider()), changes);

/** Starts the toy's fake with some of it put otherwise. */
const starting = (changes: Readonly<Record<string, unknown>>) => async (): Promise<FakeCrm> =>
  Object.assign(await startToyCrm(), changes);

test.each([
  [
    'a pattern is not a regular expression',
    { calls: { read: 'POST /(read', update: 'x' } },
    'calls.read is matched with METHOD /path, and is not a regular expression: Invalid',
  ],
  ['a pattern is missing', { calls: { read: 'x' } }, 'calls must have required properties update'],
  [
    'a property has no name',
    { properties: { text: 'name', long: 'about', number: 7 } },
    'properties.number must be string',
  ],
  ['the secrets are no list', { secrets: 'token' }, 'secrets must be array'],
])('if %s, the suite lists no rules and says so', (_what, changes, told) => {
  expect(() => conformance(subjectWith(changes))).toThrow(WRONG + told);
});

test.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
  ['start gives nothing', { start: async () => {} }, 'start gave undefined'],
  ['start is no function', { start: 7 }, 'start threw '],
  [
    'start throws',
    {
      start: () => {
        throw new Error('the port is taken');
      },
    },
    "start threw 'the port is taken'",
  ],
  [
    'the fake lacks functions',
    { start: starting({ close: undefined, edit: 1 }) },
    'the fake that start gave has no function edit, close',
  ],
  ['the fake has no settings', { start: starting({ settings: undefined }) }, 'the settings of the fake are undefined'],
  [
    'the settings do not fit',
    { start: starting({ settings: { baseUrl: 'x' } }) },
    'the settings of the fake do not fit the schema',
  ],
  ['the fake gives no id', { start: starting({ add: () => 7 }) }, 'add of the fake gave 7'],
])('if %s, a try of the fake says so, and every rule that needs it', async (_what, changes, told) => {
  const subject = subjectWith(changes);
  await expect(tryFake(subject)).rejects.toThrow(WRONG + told);
  for await (const { kind, detail } of judge(subject, undefined, ['order-of-reads']))
    expect([kind, detail]).toEqual(['broken', expect.stringContaining(WRONG + told)]);
});
