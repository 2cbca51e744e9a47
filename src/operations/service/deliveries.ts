import Type, { type Static } from 'typebox';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import { requestPreview } from '../../runtime/runs/runs.ts';
import * as stored from '../../service/delivery/deliveries.ts';
import { REPLAY } from '../../service/delivery/replay/replay-task.ts';
import { EXAMPLE_ID, entityIdText, isoTime, nullable, plainText, timeText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { readEntity } from '../definition/entities.ts';
import { type Done, defineOperation, type Moment } from '../definition/operation.ts';
import { runId } from '../installation/runs.ts';

interface DeliveryNeeds {
  /** How to name events. */
  readonly options: WireOptions;
}

const { DELIVERY_STATES, REPLAY_LIMIT, REPLAYED } = stored;
const state = (description: string) => Type.Enum(DELIVERY_STATES, { description });

const filter = {
  monitor: Type.Optional(plainText('The id of a monitor', { example: EXAMPLE_ID })),
  state: Type.Optional(
    state(
      'due: not tried yet; failing: the last attempt failed, and another is planned; held: its monitor is disabled; done: delivered; failed: the last planned attempt failed; dropped: a person dropped it',
    ),
  ),
  entity: Type.Optional(entityIdText('The id of a company or person')),
  since: Type.Optional(timeText('Created at or after')),
  until: Type.Optional(timeText('Created before')),
};
const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: REPLAY_LIMIT,
    default: REPLAY_LIMIT,
    description: 'How many at most, oldest first; call again for the rest',
  }),
);
const choice = Type.Object({ ...filter, limit });
const listQuery = Type.Object({
  ...filter,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many at most' })),
});
const number = Type.Object({
  seq: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [1],
    description: 'The number of a delivery',
  }),
});

const deliveryView = Type.Object({
  seq: Type.Integer({ description: 'Its number' }),
  monitor: Type.String(),
  entity: Type.String(),
  name: Type.String(),
  events: Type.Array(Type.String()),
  state: state('Its state'),
  attempts: Type.Integer(),
  nextAt: nullable(timeText('When the next attempt is due')),
  status: nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed' })),
  createdAt: timeText('When it was created'),
  endedAt: nullable(timeText('When it ended')),
});

const attemptView = Type.Object({
  at: timeText('When it was made'),
  took: Type.Integer({ description: 'How long it took, in ms' }),
  number: Type.Integer({ description: 'Which attempt it is, from 1' }),
  done: Type.Boolean({ description: 'Whether the webhook took it' }),
  status: nullable(Type.Integer()),
  fault: nullable(Type.String({ description: 'Why it failed' })),
  answer: nullable(Type.String({ description: 'The beginning of the answer' })),
  headers: nullable(
    Type.Record(Type.String(), Type.String(), { description: 'The headers of the answer, without secrets' }),
  ),
});

const counted = Type.Object(
  { count: Type.Integer() },
  { description: 'How many deliveries there are, or how many changed' },
);
const REFUSALS = { 422: 'A filter that is not valid' } as const;

const viewOf = (
  { nextAt, createdAt, endedAt, events, ...delivery }: stored.Delivery,
  wire: WireOptions,
): Static<typeof deliveryView> => ({
  ...delivery,
  events: events.map((event) => wireNameOf(event, wire)),
  nextAt: isoTime(nextAt),
  createdAt: new Date(createdAt).toISOString(),
  endedAt: isoTime(endedAt),
});

const readFilter = ({ entity, since, until, ...others }: Static<typeof choice>): stored.DeliveryFilter => ({
  ...others,
  ...(entity !== undefined && { entity: readEntity(entity, '/entity') }),
  ...(since !== undefined && { since: Date.parse(since) }),
  ...(until !== undefined && { until: Date.parse(until) }),
});

export const listDeliveries = defineOperation({
  name: 'delivery.list',
  role: 'viewer',
  about: 'list deliveries, newest first',
  more: 'A filter that is absent does not restrict.',
  input: listQuery,
  api: {
    method: 'GET',
    path: '/deliveries',
    operationId: 'listDeliveries',
    status: 200,
    answer: Type.Array(deliveryView, { description: 'The deliveries' }),
    refusals: REFUSALS,
  },
  read: async (db, input) => ({ value: await stored.listDeliveries(db, readFilter(input)) }),
  view: (found: readonly stored.Delivery[], { options }: DeliveryNeeds) => found.map((each) => viewOf(each, options)),
});

export const countDeliveries = defineOperation({
  name: 'delivery.count',
  role: 'viewer',
  about: 'count deliveries',
  more: 'Takes the same filters as the list.',
  input: Type.Object(filter),
  api: {
    method: 'GET',
    path: '/deliveries/count',
    operationId: 'countDeliveries',
    status: 200,
    answer: counted,
    refusals: REFUSALS,
  },
  read: async (db, input) => ({ value: { count: await stored.countDeliveries(db, readFilter(input)) } }),
});

export const listAttempts = defineOperation({
  name: 'delivery.attempts',
  role: 'viewer',
  about: 'list the attempts of a delivery',
  more: 'Oldest first. Failed ones are kept for 90 days, others for a week.',
  input: number,
  api: {
    method: 'GET',
    path: '/deliveries/:seq/attempts',
    operationId: 'listAttempts',
    status: 200,
    answer: Type.Array(attemptView, { description: 'The attempts' }),
    refusals: { 422: 'A number that is not valid' },
  },
  read: async (db, { seq }) => ({ value: await stored.attemptsOf(db, seq) }),
  view: (attempts: readonly stored.Attempt[]) =>
    attempts.map(({ at, ...attempt }) => ({ at: new Date(at).toISOString(), ...attempt })),
});

type Choose = (tx: Tx, filter: stored.DeliveryFilter, now: number) => Promise<number>;

/** Changes the deliveries of a filter, except those that were created or delivered after the caller saw them. */
const changeChosen =
  (change: Choose, done: string) =>
  async (tx: Tx, input: Static<typeof choice>, { seen, now }: Moment): Promise<Done<{ readonly count: number }>> => {
    const asked = readFilter(input);
    const at = seen === undefined ? undefined : Number(seen);
    const until = at === undefined ? {} : { until: Math.min(asked.until ?? at, at), endedBefore: at };
    const count = await change(tx, { ...asked, ...until }, now);
    if (count === 0) return { value: { count } };
    const { limit: _, ...detail } = input;
    return { value: { count }, audit: { subject: input.monitor, detail, result: `${count} ${done}` } };
  };

export const requestReplay = defineOperation({
  name: 'replay.preview',
  role: 'operator',
  about: `preview sending deliveries again, without a state those that are ${REPLAYED.join(', ')}; it begins once the run is confirmed`,
  more: 'Then they are due with the same webhook-id, the oldest first. Leaves out those of disabled monitors.',
  input: Type.Object({
    ...filter,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'How many at most, oldest first',
        examples: [100],
      }),
    ),
  }),
  api: {
    method: 'POST',
    path: '/runs/replay',
    operationId: 'previewReplay',
    status: 200,
    answer: Type.Object({ id: runId }),
    examples: [{ entity: 'CVR-1-10000001', since: '2026-03-01T00:00:00Z', limit: 100 }],
    refusals: REFUSALS,
  },
  async change(tx, { limit: most, ...asked }, { now, actor, via }: Moment): Promise<Done<{ readonly id: number }>> {
    const input = { ...readFilter(asked), ...(most !== undefined && { limit: most }) };
    return { value: { id: await requestPreview(tx, REPLAY, { input, actor, via }, now) } };
  },
});

export const dropDeliveries = defineOperation({
  name: 'delivery.drop',
  role: 'operator',
  about: 'drop due, failing, held and failed deliveries, or those of a state',
  more: 'The service makes no further attempt at them.',
  input: choice,
  rings: ['deliver'],
  api: {
    method: 'POST',
    path: '/deliveries/drop',
    operationId: 'dropDeliveries',
    status: 200,
    answer: counted,
    examples: [{ entity: 'CVR-1-10000001', since: '2026-03-01T00:00:00Z', limit: 100 }],
    refusals: REFUSALS,
  },
  change: changeChosen(stored.dropDeliveries, 'dropped'),
});

/** The state of a delivery as a caller saw it. */
export const deliveryVersion = ({ state: known, attempts }: stored.Delivery): string => `${known} ${attempts}`;

/** `changed`: it is in another state than the caller saw. */
export interface SentDelivery {
  readonly seq: number;
  readonly result: stored.SentNow | 'changed';
}

export const sendDelivery = defineOperation({
  name: 'delivery.send',
  role: 'operator',
  about: 'send a delivery now, whatever its state',
  more: 'Makes it due now with the same webhook-id. The count is 0 if there is no such delivery, if it is due already, or if its monitor is disabled.',
  input: number,
  rings: ['deliver'],
  api: {
    method: 'POST',
    path: '/deliveries/:seq/send',
    operationId: 'sendDelivery',
    status: 200,
    answer: counted,
    refusals: { 422: 'A number that is not valid' },
  },
  async change(tx, { seq }, { seen, now }): Promise<Done<SentDelivery>> {
    const [delivery] = await stored.listDeliveries(tx, { seq, limit: 1 });
    if (delivery === undefined) return { value: { seq, result: 'unknown' } };
    if (seen !== undefined && seen !== deliveryVersion(delivery)) return { value: { seq, result: 'changed' } };
    const value = { seq, result: await stored.sendDelivery(tx, seq, now) };
    if (value.result !== 'sent') return { value };
    const detail = { monitor: delivery.monitor, was: delivery.state };
    return { value, audit: { subject: String(seq), detail, result: 'due again' } };
  },
  view: ({ result }: SentDelivery) => ({ count: result === 'sent' ? 1 : 0 }),
});
