/** `/admin/api/monitors/{id}/items`: operators list, add and remove the items of a monitor. */
import Type from 'typebox';
import type { Server } from '../../../http/server/server.ts';
import { addItem, DEFAULT_TAKE, MOST_TAKE, pageItems, removeItem } from '../../items/items.ts';
import { ASK_QUEUE, STATE_QUEUE } from '../../names/queues.ts';
import {
  EXAMPLE_ID,
  entityIdText,
  failure,
  nothing,
  plainText,
  readMonitored,
  timeText,
  tokenText,
  unprocessable,
} from '../schemas.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';
import { noMonitor } from './monitor-shape.ts';
import type { MonitorRouteDeps } from './monitors.ts';

const PATH = '/admin/api/monitors/:id/items';

const params = Type.Object({ id: plainText('The id of the monitor', { example: EXAMPLE_ID }) });
const item = {
  entityId: entityIdText('A company or person'),
  recordId: Type.Optional(plainText('The id in the external system, for jobs', { example: '8412345678' })),
};
const failures = {
  404: failure('There is no such monitor'),
  422: failure('A parameter is missing or cannot be read; `errors` names each'),
  ...ADMIN_FAILURES,
};

const page = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        entityId: Type.String(),
        recordId: Type.String({ description: 'Empty if the item has none' }),
        created: timeText('When it was added'),
      }),
    ),
    continuationToken: Type.Optional(Type.String({ description: 'Of the next page; absent on the last' })),
  },
  { description: 'A page of items' },
);

const listSchema = {
  ...adminOperation('listMonitorItems', "Lists a monitor's items", 'In the order of their adding, page by page.'),
  params,
  querystring: Type.Object({
    take: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_TAKE, default: DEFAULT_TAKE })),
    continuationToken: Type.Optional(tokenText('From the previous page of the same list')),
  }),
  response: { 200: page, ...failures },
};

const addSchema = {
  ...adminOperation('addMonitorItem', 'Adds an entity to the list', 'Does nothing if the list has it already.'),
  params,
  body: Type.Object(
    {
      ...item,
      sendUpdate: Type.Optional(Type.Boolean({ default: false, description: 'Send its full current state' })),
    },
    { additionalProperties: false, examples: [{ entityId: 'CVR-1-10000001' }] },
  ),
  response: { 204: nothing('The list has it, now or before'), ...BODY_FAILURES, ...failures },
};

const removeSchema = {
  ...adminOperation(
    'removeMonitorItem',
    'Removes an entity from the list',
    'Does nothing if the list does not have it.',
  ),
  params,
  querystring: Type.Object(item),
  response: { 204: nothing('The list does not have it, now or before'), ...failures },
};

/** Adds the routes. */
export function addMonitorItemRoutes(scope: Server, { store, secrets, wakeUp, now }: MonitorRouteDeps): void {
  const exists = async (id: string): Promise<boolean> =>
    (await store.db.selectFrom('monitor').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

  scope.get(PATH, { schema: listSchema }, async ({ params: { id: monitor }, query }) => {
    const { take, continuationToken: token } = query;
    const page = await pageItems(store.db, secrets, { monitor, take, token });
    if (!page.ok) throw unprocessable('querystring.continuationToken', 'is not a token of this list');
    if (page.items.length === 0 && !(await exists(monitor))) throw noMonitor();
    const results = page.items.map(({ entity, recordId, addedAt }) => {
      return { entityId: entity, recordId, created: new Date(addedAt).toISOString() };
    });
    const { continuationToken } = page;
    return { results, ...(continuationToken !== undefined && { continuationToken }) };
  });

  scope.post(PATH, { schema: addSchema }, async ({ params: { id: monitor }, body }, reply) => {
    const { recordId = '', sendUpdate = false } = body;
    const entity = readMonitored(body.entityId, 'body.entityId');
    const { kind } = await store.write((tx) => addItem(tx, { monitor, entity, recordId, sendUpdate, now: now() }));
    if (kind === 'no-monitor') throw noMonitor();
    for (const queue of [ASK_QUEUE, 'deliver', 'mail', STATE_QUEUE]) wakeUp.ring(queue);
    return reply.code(204).send(null);
  });

  scope.delete(PATH, { schema: removeSchema }, async ({ params: { id: monitor }, query }, reply) => {
    const { entityId, recordId = '' } = query;
    const entity = readMonitored(entityId, 'querystring.entityId');
    const { kind } = await store.write((tx) => removeItem(tx, { monitor, entity, recordId, now: now() }));
    if (kind === 'no-monitor') throw noMonitor();
    for (const queue of ['deliver', 'mail']) wakeUp.ring(queue);
    return reply.code(204).send(null);
  });
}
