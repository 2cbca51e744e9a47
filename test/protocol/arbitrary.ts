/**
 * Arbitrary event data by schema, for property tests: values in the form the reader gives them.
 */
import fc from 'fast-check';
import Type, { type TSchema } from 'typebox';
import { EVENT_NAMES, EVENTS } from '../../src/protocol/events.ts';
import type { Payload } from '../../src/protocol/payload.ts';
import { payloadOf } from '../../src/protocol/payload.ts';

// Texts that are numbers would be read as numbers if a schema takes both.
const text = fc
  .string({ maxLength: 12, unit: 'grapheme' })
  .filter((value) => value.trim() === '' || Number.isNaN(Number(value)));
const instant = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const textOf = (schema: TSchema): fc.Arbitrary<unknown> => {
  const kind = 'text' in schema ? schema.text : undefined;
  if (kind === 'time') return instant;
  return kind === 'entity' ? fc.integer({ min: 1e7, max: 1e8 }).map((number) => `CVR-1-${number}`) : text;
};

/** Values that satisfy a schema. */
export const arbitraryOf = (schema: TSchema): fc.Arbitrary<unknown> => {
  if (Type.IsUnknown(schema)) return fc.oneof(fc.constant(null), text);
  if (Type.IsNull(schema)) return fc.constant(null);
  if (Type.IsUnion(schema)) return fc.oneof(...schema.anyOf.map(arbitraryOf));
  if (Type.IsArray(schema)) return fc.array(arbitraryOf(schema.items), { maxLength: 3 });
  if (Type.IsString(schema)) return textOf(schema);
  if (Type.IsBoolean(schema)) return fc.boolean();
  if (Type.IsInteger(schema)) return fc.integer();
  if (Type.IsNumber(schema)) return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
  if (!Type.IsObject(schema)) throw new Error('a schema of a kind this test does not know');
  return fc.record(
    Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, arbitraryOf(property)])),
  );
};

/** Payloads with any of the events updated, each with arbitrary data. */
export const arbitraryPayload = (): fc.Arbitrary<Payload> =>
  fc
    .tuple(
      fc.integer({ min: 1e7, max: 1e8 }),
      instant,
      fc.record(Object.fromEntries(EVENT_NAMES.map((name) => [name, arbitraryOf(EVENTS[name])])), { requiredKeys: [] }),
    )
    .map(([number, timestamp, updates]) => payloadOf(`CVR-1-${number}`, timestamp, updates));
