import fc from 'fast-check';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import { canonicalBody, dedupeKey } from '../../src/protocol/dedupe.ts';
import { EVENT_NAMES, EVENTS } from '../../src/protocol/events.ts';
import { readPayload } from '../../src/protocol/payload.ts';

const FIELDS = [
  'before',
  'after',
  'added',
  'removed',
  'changed',
  'entity',
  'entityId',
  'data',
  'Report',
  'date',
  'value',
  'code',
  'name',
  'year',
  'month',
  '__proto__',
  'constructor',
];

const junk = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, 'true', 0, '12', Number.POSITIVE_INFINITY, 'CVR-1-99000015', '2026-08-14', 'NaN', ''),
    fc.string(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...FIELDS), tie('value'), { maxKeys: 5 }),
  ),
})).value;

const entry = fc.oneof(
  junk,
  fc.dictionary(fc.constantFrom(...FIELDS), junk).map((data) => ({ ...data, updated: true })),
);
const body = fc.record({
  entityId: fc.constant('CVR-1-99000015'),
  timestamp: fc.constant('2026-08-14T09:30:00Z'),
  updates: fc.dictionary(fc.constantFrom(...EVENT_NAMES, 'Name', 'stakeholder', 'unknown', '__proto__'), entry),
});

it('reads any junk without throwing, and what it takes satisfies the formats', () => {
  const updates = Type.Partial(Type.Object(EVENTS));
  fc.assert(
    fc.property(body, (json) => {
      const result = readPayload(json);
      expect(result.ok && Value.Check(updates, result.payload.updates)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

it('keeps junk for later such that it reads and hashes the same', () => {
  fc.assert(
    fc.property(body, (json) => {
      const kept: unknown = JSON.parse(canonicalBody(json));
      const [first, again] = [readPayload(json), readPayload(kept)];
      if (!first.ok || !again.ok) throw new Error('a body that names entity, time and updates was refused');
      const { stated: _, ...rest } = first.payload;
      expect(again.payload).toMatchObject(rest);
      expect(dedupeKey(undefined, kept)).toBe(dedupeKey(undefined, json));
      expect(canonicalBody(kept)).toBe(canonicalBody(json));
    }),
    { numRuns: 500 },
  );
});
