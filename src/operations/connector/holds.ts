/** Operations on many holds: list them, and end those that match a filter or are named. */
import Type, { type Static } from 'typebox';
import {
  countHolds,
  endHoldsIn,
  type Hold,
  type HoldFilter,
  type HoldPlace,
  listHolds as listStored,
} from '../../connector/overrides/hold-list.ts';
import { HOLD_ORIGINS } from '../../connector/overrides/override.ts';
import type { StepRecorder } from '../../runtime/operators/audit.ts';
import { isoTime, nullable, plainText, timeText } from '../../service/routes/schemas.ts';
import { defineOperation, type Ground, invalid, type Moment, type Recording } from '../definition/operation.ts';
import { recordProperties } from './records.ts';

/** The holds that one request may name: more than a page shows. */
export const MOST_CHOSEN = 500;
const MOST = 1_000;

const origin = Type.Enum(HOLD_ORIGINS, {
  description: 'person: somebody placed it; review: an answer in review; undo: an undo holds what it restored',
});
const ref = {
  ...recordProperties,
  property: plainText('The property in the CRM; * stands for the whole record', { example: 'name' }),
};
const filter = {
  provider: Type.Optional(recordProperties.provider),
  property: Type.Optional(
    plainText('Only holds on this property; * means holds on whole records', { example: 'name' }),
  ),
  origin: Type.Optional(origin),
  reason: Type.Optional(plainText('Only holds with this reason', { maxLength: 200, example: 'asked by sales' })),
  before: Type.Optional(timeText('Only holds that were placed before')),
  endsBefore: Type.Optional(timeText('Only holds that end before; what ends first comes first')),
};
const holdFilter = Type.Object(filter);

const filterOf = ({ before, endsBefore, ...others }: Static<typeof holdFilter>): HoldFilter => ({
  ...others,
  ...(before !== undefined && { before: Date.parse(before) }),
  ...(endsBefore !== undefined && { endsBefore: Date.parse(endsBefore) }),
});

/** The end of a page, as text for an address. */
export const holdPlaceText = ({ provider, recordId, property, until }: HoldPlace): string =>
  JSON.stringify([provider, recordId, property, until]);

export function readHoldPlace(text: string): HoldPlace | undefined {
  const place: unknown = /^\["/u.test(text) ? parsed(text) : undefined;
  if (!Array.isArray(place)) return undefined;
  const [provider, recordId, property, until]: readonly unknown[] = place;
  const isEnd = until === null || Number.isSafeInteger(until);
  if (typeof provider !== 'string' || typeof recordId !== 'string' || typeof property !== 'string' || !isEnd)
    return undefined;
  return { provider, recordId, property, until: until === null ? null : Number(until) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const holdView = Type.Object({
  provider: Type.String(),
  record: Type.String(),
  property: Type.String({ description: '* stands for the whole record' }),
  entity: nullable(Type.String({ description: 'The company of the record; null without a link' })),
  origin,
  by: nullable(Type.String({ description: 'Who placed it; null if nobody knows' })),
  via: nullable(Type.Enum(['page', 'command', 'api'])),
  reason: nullable(Type.String()),
  since: timeText('When it was placed'),
  until: nullable(timeText('When it ends; null: once somebody ends it')),
});

export interface HoldPage {
  readonly holds: readonly Hold[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: HoldPlace | undefined;
}

export const listHolds = defineOperation({
  name: 'record.listHolds',
  role: 'viewer',
  about: 'list the holds on records and properties, with who placed each',
  more: 'A filter that is absent does not restrict.',
  input: Type.Object({
    ...filter,
    after: Type.Optional(
      plainText('`next` of the page before', { maxLength: 2_000, example: '["hubspot","8412345678","name",null]' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: 100, description: 'How many at most' })),
  }),
  api: {
    method: 'GET',
    path: '/records/holds',
    operationId: 'listHolds',
    status: 200,
    answer: Type.Object({
      holds: Type.Array(holdView),
      next: nullable(Type.String({ description: '`after` of the next page; null on the last one' })),
    }),
    refusals: { 422: 'A filter that is not valid' },
  },
  async read(db, { after, limit = 100, ...asked }, { now }: Moment): Promise<{ readonly value: HoldPage }> {
    const place = after === undefined ? undefined : readHoldPlace(after);
    if (after !== undefined && place === undefined) throw invalid('/after', 'is no place in the list');
    const found = await listStored(db, now, { ...filterOf(asked), after: place }, limit + 1);
    const holds = found.slice(0, limit);
    return { value: { holds, next: found.length > limit ? holds.at(-1) : undefined } };
  },
  view: ({ holds, next }: HoldPage) => ({
    holds: holds.map(viewOf),
    next: next === undefined ? null : holdPlaceText(next),
  }),
});

const viewOf = ({ recordId: record, entity, since, until, placedBy, placedVia, ...hold }: Hold) => ({
  ...hold,
  record,
  entity: entity ?? null,
  by: placedBy,
  via: placedVia ?? null,
  since: new Date(since).toISOString(),
  until: isoTime(until),
});

/** The signal of a process that may stop. */
interface EndNeeds {
  readonly signal?: AbortSignal;
}

const ending = Type.Object({
  ...filter,
  holds: Type.Optional(
    Type.Array(Type.Object(ref), { minItems: 1, maxItems: MOST_CHOSEN, description: 'Only these holds' }),
  ),
});

const endingOf = ({ holds, ...asked }: Static<typeof ending>): HoldFilter => ({
  ...filterOf(asked),
  ...(holds !== undefined && { chosen: holds.map(({ record: recordId, ...each }) => ({ ...each, recordId })) }),
});

export const endHolds = defineOperation({
  name: 'record.endHolds',
  role: 'operator',
  about: "end many holds, all that a filter finds or some of them: the register's values are written there again",
  more: 'A filter that is absent does not restrict. Preview it first.',
  input: ending,
  api: {
    method: 'POST',
    path: '/records/end-holds',
    operationId: 'endHolds',
    status: 200,
    answer: Type.Object({ count: Type.Integer({ description: 'How many holds ended' }) }),
    examples: [{ provider: 'hubspot', origin: 'undo', before: '2026-03-01T00:00:00Z' }],
  },
  preview: async (db, input, { now }) => ({ count: await countHolds(db, now, endingOf(input)) }),
  // In pages, because they may be many.
  async steps(
    input,
    { store, now, record, signal = new AbortController().signal }: Ground & EndNeeds & Moment & Recording,
  ) {
    const { holds, ...asked } = input;
    const subject = input.provider === undefined ? undefined : `${input.provider}:*`;
    const detail = holds === undefined ? asked : { ...asked, holds: holds.map(holdName) };
    const recorded: StepRecorder = (tx, count, before) =>
      record(tx, { subject, detail, result: `${count} holds ended` }, before);
    return { count: await endHoldsIn({ store, recorded }, endingOf(input), now, signal) };
  },
});

const holdName = ({ provider, record, property }: Readonly<Record<keyof typeof ref, string>>): string =>
  `${provider}:${record} ${property}`;
