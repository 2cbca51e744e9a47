/** `/admin/api/deliveries`: operators list, count, replay and drop deliveries. */
import Type, { type Static } from 'typebox';
import type { Server } from '../http/server/server.ts';
import { type WireOptions, wireNameOf } from '../protocol/payload.ts';
import type { WakeUp } from '../runtime/wake-up.ts';
import {
  attemptsOf,
  countDeliveries,
  DELIVERY_STATES,
  type Delivery,
  type DeliveryFilter,
  dropDeliveries,
  listDeliveries,
  REPLAY_LIMIT,
  replayDeliveries,
  sendDelivery,
} from '../service/delivery/deliveries.ts';
import {
  EXAMPLE_ID,
  entityIdText,
  failure,
  isoTime,
  nullable,
  plainText,
  readMonitored,
  timeText,
} from '../service/routes/schemas.ts';
import type { Store } from '../store/store.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';

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
const listQuery = Type.Object({
  ...filter,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many at most' })),
});
const choice = Type.Object(
  {
    ...filter,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: REPLAY_LIMIT,
        default: REPLAY_LIMIT,
        description: 'How many at most, oldest first; call again for the rest',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ entity: 'CVR-1-10000001', since: '2026-03-01T00:00:00Z', limit: 100 }] },
);

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
});

const counted = Type.Object(
  { count: Type.Integer() },
  { description: 'How many deliveries there are, or how many changed' },
);

const refusals = { 422: failure('A filter that is not valid'), ...ADMIN_FAILURES };

export interface DeliveryRouteDeps {
  readonly store: Store;
  readonly wakeUp: Pick<WakeUp, 'ring'>;
  readonly now: () => number;
  /** How events are named. */
  readonly monitorOptions?: WireOptions;
}

const listSchema = {
  ...adminOperation('listDeliveries', 'Lists deliveries, newest first', 'A filter that is absent does not restrict.'),
  querystring: listQuery,
  response: { 200: Type.Array(deliveryView, { description: 'The deliveries' }), ...refusals },
};

const countSchema = {
  ...adminOperation('countDeliveries', 'Counts deliveries', 'Takes the same filters as the list.'),
  querystring: Type.Object(filter),
  response: { 200: counted, ...refusals },
};

const seqParam = Type.Object({
  seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }),
});

const attemptsSchema = {
  ...adminOperation(
    'listAttempts',
    'Lists the attempts of a delivery',
    'Oldest first. Failed ones are kept for 90 days, others for a week.',
  ),
  params: seqParam,
  response: { 200: Type.Array(attemptView, { description: 'The attempts' }), ...refusals },
};

const replaySchema = {
  ...adminOperation(
    'replayDeliveries',
    'Delivers again',
    'Makes failing, held and failed deliveries, or those of the given state, due now with the same webhook-id. Leaves out those of disabled monitors. Call count first.',
  ),
  body: choice,
  response: { 200: counted, ...BODY_FAILURES, ...refusals },
};

const sendSchema = {
  ...adminOperation(
    'sendDelivery',
    'Sends a delivery now',
    'Makes it due now, whatever its state, with the same webhook-id. The count is 0 if there is no such delivery, if it is due already, or if its monitor is disabled.',
  ),
  params: seqParam,
  response: { 200: counted, ...refusals },
};

const recovery = Type.Object(
  {
    since: timeText('Created at or after'),
    monitor: filter.monitor,
    limit: choice.properties.limit,
  },
  { additionalProperties: false, examples: [{ since: '2026-03-01T00:00:00Z' }] },
);

const recoverSchema = {
  ...adminOperation(
    'recoverDeliveries',
    'Sends all that did not arrive since a time',
    'Makes failing, held and failed deliveries due now with the same webhook-id, oldest first. Leaves out those of disabled monitors.',
  ),
  body: recovery,
  response: { 200: counted, ...BODY_FAILURES, ...refusals },
};

const dropSchema = {
  ...adminOperation(
    'dropDeliveries',
    'Drops deliveries',
    'The service makes no further attempt at due, failing, held and failed deliveries, or at those of the given state.',
  ),
  body: choice,
  response: { 200: counted, ...BODY_FAILURES, ...refusals },
};

/** Adds the routes. */
export function addDeliveryRoutes(
  scope: Server,
  { store, wakeUp, now, monitorOptions: wire }: DeliveryRouteDeps,
): void {
  scope.get('/admin/api/deliveries', { schema: listSchema }, async ({ query }) =>
    (await listDeliveries(store.db, readFilter(query, 'querystring'))).map((delivery) => viewOf(delivery, wire)),
  );

  scope.get('/admin/api/deliveries/count', { schema: countSchema }, async ({ query }) => ({
    count: await countDeliveries(store.db, readFilter(query, 'querystring')),
  }));

  scope.get('/admin/api/deliveries/:seq/attempts', { schema: attemptsSchema }, async ({ params }) =>
    (await attemptsOf(store.db, params.seq)).map(({ at, ...attempt }) => {
      return { at: new Date(at).toISOString(), ...attempt };
    }),
  );

  const replay = async (chosen: DeliveryFilter) => {
    const count = await store.write((tx) => replayDeliveries(tx, chosen, now()));
    wakeUp.ring('deliver');
    return { count };
  };

  scope.post('/admin/api/deliveries/replay', { schema: replaySchema }, ({ body }) => replay(readFilter(body, 'body')));

  scope.post('/admin/api/deliveries/recover', { schema: recoverSchema }, ({ body }) =>
    replay(readFilter(body, 'body')),
  );

  scope.post('/admin/api/deliveries/:seq/send', { schema: sendSchema }, async ({ params }) => {
    const sent = await store.write((tx) => sendDelivery(tx, params.seq, now()));
    wakeUp.ring('deliver');
    return { count: sent === 'sent' ? 1 : 0 };
  });

  scope.post('/admin/api/deliveries/drop', { schema: dropSchema }, async ({ body }) => {
    const chosen = readFilter(body, 'body');
    const count = await store.write((tx) => dropDeliveries(tx, chosen, now()));
    wakeUp.ring('deliver');
    return { count };
  });
}

type FilterQuery = Static<typeof listQuery>;

/** `part` names the part of the request in refusals. */
const readFilter = ({ entity, since, until, monitor, state, limit }: FilterQuery, part: string): DeliveryFilter => ({
  ...(monitor !== undefined && { monitor }),
  ...(state !== undefined && { state }),
  ...(entity !== undefined && { entity: readMonitored(entity, `${part}.entity`) }),
  ...(since !== undefined && { since: Date.parse(since) }),
  ...(until !== undefined && { until: Date.parse(until) }),
  ...(limit !== undefined && { limit }),
});

const viewOf = ({ nextAt, createdAt, endedAt, events, ...delivery }: Delivery, wire: WireOptions | undefined) => ({
  ...delivery,
  events: events.map((event) => wireNameOf(event, wire)),
  nextAt: isoTime(nextAt),
  createdAt: new Date(createdAt).toISOString(),
  endedAt: isoTime(endedAt),
});
