/** Deliveries, for operators: what became of them, and what to do again. */
import Type, { type Static } from 'typebox';
import type { Server } from '../../../http/server/server.ts';
import type { WakeUp } from '../../../runtime/wake-up.ts';
import type { Store } from '../../../store/store.ts';
import {
  attemptsOf,
  countDeliveries,
  type Delivery,
  type DeliveryFilter,
  dropDeliveries,
  listDeliveries,
  MOST_REPLAYED,
  replayDeliveries,
} from '../../delivery/deliveries.ts';
import {
  EXAMPLE_ID,
  entityIdText,
  failure,
  isoTime,
  nullable,
  plainText,
  readMonitored,
  timeText,
} from '../schemas.ts';
import { ADMIN_FAILURES, BODY_FAILURES, forOperators } from './describe.ts';

const states = ['due', 'held', 'done', 'failed', 'dropped'] as const;
const state = (description: string) => Type.Enum(states, { description });

const filter = {
  monitor: Type.Optional(plainText('Of one monitor, by its id', { example: EXAMPLE_ID })),
  state: Type.Optional(
    state(
      'due: not delivered yet; held: its monitor is off; done; failed: after the last attempt; dropped: given up by a person',
    ),
  ),
  entity: Type.Optional(entityIdText('Of one company or person')),
  since: Type.Optional(timeText('Made at or after')),
  until: Type.Optional(timeText('Made before')),
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
        maximum: MOST_REPLAYED,
        default: MOST_REPLAYED,
        description: 'How many at most, oldest first; call again for more',
      }),
    ),
  },
  { additionalProperties: false, examples: [{ entity: 'CVR-1-10000001', since: '2026-03-01T00:00:00Z', limit: 100 }] },
);

const deliveryView = Type.Object({
  seq: Type.Integer({ description: 'Its number; the webhook-id is made from it' }),
  monitor: Type.String(),
  entity: Type.String(),
  name: Type.String(),
  events: Type.Array(Type.String()),
  state: state('What became of it'),
  attempts: Type.Integer(),
  nextAt: nullable(timeText('When it is tried next')),
  status: nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  error: nullable(Type.String({ description: 'Why the last attempt failed' })),
  createdAt: timeText('When it was made'),
  endedAt: nullable(timeText('When it ended')),
});

const attemptView = Type.Object({
  at: timeText('When'),
  took: Type.Integer({ description: 'Ms' }),
  number: Type.Integer(),
  status: nullable(Type.Integer()),
  fault: nullable(Type.String()),
  answer: nullable(Type.String({ description: 'The beginning of the answer' })),
});

const counted = Type.Object({ count: Type.Integer() }, { description: 'How many there are, or were changed' });

const refusals = { 422: failure('A filter that cannot be read'), ...ADMIN_FAILURES };

export interface DeliveryRouteDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
}

/** Adds `/admin/api/deliveries`: list, count, attempts, replay, drop. */
export function addDeliveryRoutes(scope: Server, { store, wakeUp, now }: DeliveryRouteDeps): void {
  scope.get(
    '/admin/api/deliveries',
    {
      schema: {
        ...forOperators('listDeliveries', 'Deliveries, newest first', 'What is left out does not restrict.'),
        querystring: listQuery,
        response: { 200: Type.Array(deliveryView, { description: 'The deliveries' }), ...refusals },
      },
    },
    async ({ query }) => (await listDeliveries(store.db, read(query, 'querystring'))).map(viewOf),
  );

  scope.get(
    '/admin/api/deliveries/count',
    {
      schema: {
        ...forOperators('countDeliveries', 'How many deliveries there are', 'By the same filter as the list.'),
        querystring: Type.Object(filter),
        response: { 200: counted, ...refusals },
      },
    },
    async ({ query }) => ({ count: await countDeliveries(store.db, read(query, 'querystring')) }),
  );

  scope.get(
    '/admin/api/deliveries/:seq/attempts',
    {
      schema: {
        ...forOperators('listAttempts', 'The failed attempts of a delivery', 'Oldest first; kept for 90 days.'),
        params: Type.Object({ seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] }) }),
        response: { 200: Type.Array(attemptView, { description: 'The attempts' }), ...refusals },
      },
    },
    async ({ params }) =>
      (await attemptsOf(store.db, params.seq)).map(({ at, ...attempt }) => {
        return { at: new Date(at).toISOString(), ...attempt };
      }),
  );

  scope.post(
    '/admin/api/deliveries/replay',
    {
      schema: {
        ...forOperators(
          'replayDeliveries',
          'Delivers again',
          'Held and failed deliveries, or those of the state asked for, are due again with the same webhook-id. Those of monitors that are off stay as they are. Ask for the count first.',
        ),
        body: choice,
        response: { 200: counted, ...BODY_FAILURES, ...refusals },
      },
    },
    async ({ body }) => {
      const chosen = read(body, 'body');
      const count = await store.write((tx) => replayDeliveries(tx, chosen, now()));
      wakeUp.ring('deliver');
      return { count };
    },
  );

  scope.post(
    '/admin/api/deliveries/drop',
    {
      schema: {
        ...forOperators(
          'dropDeliveries',
          'Gives deliveries up',
          'Due, held and failed deliveries, or those of the state asked for, are not tried again.',
        ),
        body: choice,
        response: { 200: counted, ...BODY_FAILURES, ...refusals },
      },
    },
    async ({ body }) => {
      const chosen = read(body, 'body');
      const count = await store.write((tx) => dropDeliveries(tx, chosen, now()));
      wakeUp.ring('deliver');
      return { count };
    },
  );
}

type Asked = Static<typeof listQuery>;

const read = ({ entity, since, until, monitor, state, limit }: Asked, part: string): DeliveryFilter => ({
  ...(monitor !== undefined && { monitor }),
  ...(state !== undefined && { state }),
  ...(entity !== undefined && { entity: readMonitored(entity, `${part}.entity`) }),
  ...(since !== undefined && { since: Date.parse(since) }),
  ...(until !== undefined && { until: Date.parse(until) }),
  ...(limit !== undefined && { limit }),
});

const viewOf = ({ nextAt, createdAt, endedAt, events, ...delivery }: Delivery) => ({
  ...delivery,
  events: [...events],
  nextAt: isoTime(nextAt),
  createdAt: new Date(createdAt).toISOString(),
  endedAt: isoTime(endedAt),
});
