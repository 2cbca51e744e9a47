/** The webhook payload as one schema, for documents; `readPayload` accepts more. */
import Type, { type TSchema } from 'typebox';
import { EVENT_NAMES, EVENTS } from './events.ts';
import { type WireOptions, wireNameOf } from './payload.ts';
import type { Marks } from './shape.ts';

const MARKS: readonly string[] = [
  'aliases',
  'needed',
  'lenient',
  'bare',
  'text',
] as const satisfies readonly (keyof Marks)[];

/** The schema as JSON without the reader's marks, which JSON Schema does not know. */
const plain = (schema: TSchema): TSchema => {
  const strip = (value: unknown, isNames: boolean): unknown => {
    if (Array.isArray(value)) return value.map((each) => strip(each, false));
    if (typeof value !== 'object' || value === null) return value;
    const kept = Object.entries(value).filter(([key]) => isNames || !MARKS.includes(key));
    // Keys under `properties` are names, and a property may have the name of a mark.
    return Object.fromEntries(kept.map(([key, each]) => [key, strip(each, !isNames && key === 'properties')]));
  };
  return Type.Unsafe(Object(strip(schema, false)));
};

const entry = (name: keyof typeof EVENTS): TSchema =>
  Type.Object(
    { updated: Type.Boolean(), ...Type.Partial(Type.Object(EVENTS[name].properties)).properties },
    { description: 'The other properties are present if `updated` is true' },
  );

/** The payload of the specification: every event by its name on the wire. */
export const payloadSchema = (options: WireOptions): TSchema =>
  plain(
    Type.Object({
      entityId: Type.String({ description: 'CVR-1-<CVR number> for a company, CVR-3-<number> for a person' }),
      timestamp: Type.String({ format: 'date-time', description: 'When the change was registered, UTC' }),
      updates: Type.Object(Object.fromEntries(EVENT_NAMES.map((name) => [wireNameOf(name, options), entry(name)])), {
        description: 'May also contain names that are not listed here',
      }),
    }),
  );
