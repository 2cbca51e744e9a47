import Type from 'typebox';
import {
  addItem as addToList,
  DEFAULT_TAKE,
  type ItemPage,
  MOST_TAKE,
  pageItems,
  removeItem as removeFromList,
} from '../../service/items/items.ts';
import { ASK_QUEUE, STATE_QUEUE } from '../../service/names/queues.ts';
import { entityIdText, plainText, timeText, tokenText } from '../../service/routes/schemas.ts';
import { readListed } from '../definition/entities.ts';
import { defineOperation, invalid, Refused, unknown } from '../definition/operation.ts';
import { type MonitorNeeds, monitorId, needMonitor } from './monitors.ts';

const REFUSALS = { 404: 'There is no such monitor' } as const;

const item = {
  id: monitorId,
  entityId: entityIdText('A company or person'),
  recordId: Type.Optional(plainText('The id in the external system, for jobs', { example: '8412345678' })),
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

export interface ListedItem {
  readonly entity: string;
  readonly result: 'added' | 'already' | 'removed' | 'absent' | 'no-monitor';
}

type Page = Extract<ItemPage, { ok: true }>;

export const listItems = defineOperation({
  name: 'monitor.list-entities',
  role: 'viewer',
  about: "list a monitor's items, in the order in which they were added, page by page",
  input: Type.Object({
    id: monitorId,
    take: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_TAKE, default: DEFAULT_TAKE })),
    continuationToken: Type.Optional(tokenText('From the previous page of the same list')),
  }),
  api: {
    method: 'GET',
    path: '/monitors/:id/items',
    operationId: 'listMonitorItems',
    status: 200,
    answer: page,
    refusals: REFUSALS,
  },
  async read(db, { id: monitor, take, continuationToken: token }, { secrets }: MonitorNeeds) {
    const found = await pageItems(db, secrets, { monitor, take, token });
    if (!found.ok) throw invalid('/continuationToken', 'is not a token of this list');
    const isThere = db.selectFrom('monitor').select('id').where('id', '=', monitor).executeTakeFirst();
    if (found.items.length === 0 && (await isThere) === undefined) throw unknown('monitor');
    return { value: found };
  },
  view: ({ items, continuationToken }: Page) => ({
    results: items.map(({ entity, recordId, addedAt }) => {
      return { entityId: entity, recordId, created: new Date(addedAt).toISOString() };
    }),
    ...(continuationToken !== undefined && { continuationToken }),
  }),
});

export const addItem = defineOperation({
  name: 'monitor.add-entities',
  role: 'admin',
  about: 'add companies or persons to the list; one that is already listed is not an error',
  input: Type.Object({
    ...item,
    sendUpdate: Type.Boolean({ default: false, description: 'Send its full current state' }),
  }),
  rings: [ASK_QUEUE, 'deliver', 'mail', STATE_QUEUE],
  api: {
    method: 'POST',
    path: '/monitors/:id/items',
    operationId: 'addMonitorItem',
    status: 204,
    answer: 'The list has it, now or before',
    examples: [{ entityId: 'CVR-1-10000001' }],
    refusals: { ...REFUSALS, 409: 'The company or person was erased' },
  },
  async change(tx, { id: monitor, entityId, recordId = '', sendUpdate }, { now }) {
    const entity = readListed(entityId, '/entityId');
    const { name } = await needMonitor(tx, monitor);
    const { kind } = await addToList(tx, { monitor, entity, recordId, sendUpdate, now });
    if (kind === 'erased') throw new Refused('conflict', `${entity} was erased: no list contains it`);
    const value: ListedItem = { entity, result: kind };
    if (kind !== 'added' && !sendUpdate) return { value };
    const result = kind === 'added' ? `added ${entity}` : `full state of ${entity} asked for`;
    return { value, audit: { subject: monitor, detail: { name }, result } };
  },
});

export const removeItem = defineOperation({
  name: 'monitor.remove-entities',
  role: 'admin',
  about: 'take companies or persons off the list; one that is not listed is not an error',
  input: Type.Object(item),
  rings: ['deliver', 'mail'],
  api: {
    method: 'DELETE',
    path: '/monitors/:id/items',
    operationId: 'removeMonitorItem',
    status: 204,
    answer: 'The list does not have it, now or before',
    refusals: REFUSALS,
  },
  async change(tx, { id: monitor, entityId, recordId = '' }, { now }) {
    const entity = readListed(entityId, '/entityId');
    const { name } = await needMonitor(tx, monitor);
    const { kind } = await removeFromList(tx, { monitor, entity, recordId, now });
    const value: ListedItem = { entity, result: kind };
    if (kind !== 'removed') return { value };
    return { value, audit: { subject: monitor, detail: { name }, result: `removed ${entity}` } };
  },
});
