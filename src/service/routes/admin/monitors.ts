/** `/admin/api/monitors`: operators make, change, enable, disable and remove monitors. */
import Type from 'typebox';
import type { Server } from '../../../http/server/server.ts';
import type { WakeUp } from '../../../runtime/wake-up.ts';
import type { Store } from '../../../store/store.ts';
import { replayHeld } from '../../delivery/deliveries.ts';
import { addItem } from '../../items/items.ts';
import type { Secrets } from '../../keys/secrets.ts';
import { type MonitorOptions, requireListener } from '../../monitors/monitor-input.ts';
import {
  activate,
  createMonitor,
  disable,
  getMonitor,
  listMonitors,
  removeMonitor,
  rotateSecret,
  updateMonitor,
} from '../../monitors/monitors.ts';
import { EXAMPLE_ID, entityIdText, failure, nothing, plainText, readMonitored } from '../schemas.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';
import {
  createdMonitorView,
  enabled,
  monitorView,
  noMonitor,
  orUnprocessable,
  settings,
  target,
  viewOf,
  viewOfCreated,
  viewWithSecret,
  withSecret,
} from './monitor-shape.ts';

export interface MonitorRouteDeps {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly wakeUp: WakeUp;
  /** Wall clock in ms. */
  readonly now: () => number;
  /** Which event names and addresses a monitor may have. */
  readonly monitorOptions?: MonitorOptions;
}

const PATH = '/admin/api/monitors';
const CLOSED = { additionalProperties: false } as const;

const params = Type.Object({ id: plainText('The id of the monitor', { example: EXAMPLE_ID }) });
const missing = { 404: failure('There is no such monitor'), ...ADMIN_FAILURES };
const refusals = { 422: failure('The monitor is not valid; `errors` names each problem'), ...ADMIN_FAILURES };

const createSchema = {
  ...adminOperation(
    'createMonitor',
    'Creates a monitor',
    'The monitor is enabled unless `enabled` is false. If it has a webhook, this answer holds the signing secret; no later answer does.',
  ),
  body: Type.Object(
    {
      name: plainText('The name of the monitor', { maxLength: 200 }),
      target: Type.Optional(target),
      entities: Type.Optional(
        Type.Array(entityIdText('A company or person of its list'), { maxItems: 1_000, description: 'Its list' }),
      ),
      enabled,
      ...settings,
    },
    {
      ...CLOSED,
      examples: [
        {
          name: 'Our customers',
          target: 'items',
          entities: ['CVR-1-10000001'],
          events: ['name', 'address', 'status'],
          url: 'https://hooks.example.com/cvr',
          credentials: { method: 'Bearer', token: 'a-token-of-theirs' },
          emails: ['sales@example.com'],
          mailFrequency: 'daily',
        },
      ],
    },
  ),
  response: { 201: createdMonitorView, ...BODY_FAILURES, ...refusals },
};

const listSchema = {
  ...adminOperation('listMonitors', 'Lists monitors by id', 'The list includes third-party jobs. Page with `after`.'),
  querystring: Type.Object({
    after: Type.Optional(plainText('Only monitors after this id', { example: EXAMPLE_ID })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many at most' })),
  }),
  response: {
    200: Type.Array(monitorView, { description: 'The monitors' }),
    422: failure('A parameter that cannot be read'),
    ...ADMIN_FAILURES,
  },
};

const getSchema = {
  ...adminOperation('getMonitor', 'Shows one monitor'),
  params,
  response: { 200: monitorView, ...missing },
};

const updateSchema = {
  ...adminOperation(
    'updateMonitor',
    'Changes a monitor',
    'A property that the body does not have stays as it is. The target of a job is always its items.',
  ),
  params,
  body: Type.Object(
    {
      name: Type.Optional(plainText('The name of the monitor', { maxLength: 200 })),
      target: Type.Optional(target),
      ...settings,
    },
    { ...CLOSED, examples: [{ events: ['name', 'newReport'], schedule: [0, 60, 3_600] }] },
  ),
  response: { 200: monitorView, ...BODY_FAILURES, ...missing, ...refusals },
};

const removeSchema = {
  ...adminOperation('removeMonitor', 'Removes a monitor', 'Removes its list too, and drops its pending deliveries.'),
  params,
  response: { 204: nothing('The monitor is removed'), ...missing },
};

const activateSchema = {
  ...adminOperation(
    'activateMonitor',
    'Enables a monitor',
    'Deliveries that are held for it stay held until a replay, or are sent with `replay=true`, before any later change.',
  ),
  params,
  querystring: Type.Object({ replay: Type.Optional(Type.Boolean({ default: false })) }),
  response: { 204: nothing('The monitor is enabled, now or before'), ...missing, ...refusals },
};

const disableSchema = {
  ...adminOperation('disableMonitor', 'Disables a monitor', 'The service holds its deliveries for 14 days.'),
  params,
  response: { 204: nothing('The monitor is disabled, now or before'), ...missing },
};

const rotateSchema = {
  ...adminOperation(
    'rotateSecret',
    'Gives a monitor a new signing secret',
    'For 24 hours the service signs posts with the old secret as well. This answer holds the new secret; no later answer does.',
  ),
  params,
  response: { 200: withSecret, ...missing },
};

/** Adds `/admin/api/monitors`, without the routes of their items. */
export function addMonitorRoutes(scope: Server, deps: MonitorRouteDeps): void {
  addCreateRoute(scope, deps);
  addReadRoutes(scope, deps);
  addUpdateRoute(scope, deps);
  addStateRoutes(scope, deps);
}

function addCreateRoute(scope: Server, { store, secrets, wakeUp, now, monitorOptions: options }: MonitorRouteDeps) {
  scope.post(PATH, { schema: createSchema }, async (request, reply) => {
    const { entities = [], ...input } = request.body;
    const listed = entities.map((entity, at) => readMonitored(entity, `body.entities.${at}`));
    const creation = store.write(async (tx) => {
      const monitor = await createMonitor(tx, input, { secrets, now: now(), options });
      requireListener(monitor);
      for (const entity of listed)
        await addItem(tx, { monitor: monitor.id, entity, recordId: '', sendUpdate: false, now: now() });
      return monitor;
    });
    const monitor = await orUnprocessable(creation);
    for (const queue of ['deliver', 'mail']) wakeUp.ring(queue);
    return reply.code(201).send(viewOfCreated(monitor, options));
  });
}

function addReadRoutes(scope: Server, { store, secrets, monitorOptions: options }: MonitorRouteDeps): void {
  scope.get(PATH, { schema: listSchema }, async ({ query }) =>
    (await listMonitors(store.db, secrets, query)).map((monitor) => viewOf(monitor, options)),
  );

  scope.get(`${PATH}/:id`, { schema: getSchema }, async (request) => {
    const monitor = await getMonitor(store.db, secrets, request.params.id);
    if (monitor === undefined) throw noMonitor();
    return viewOf(monitor, options);
  });
}

function addUpdateRoute(scope: Server, { store, secrets, wakeUp, now, monitorOptions: options }: MonitorRouteDeps) {
  scope.patch(`${PATH}/:id`, { schema: updateSchema }, async ({ params, body }) => {
    const update = store.write(async (tx) => {
      const monitor = await updateMonitor(tx, params.id, body, { secrets, now: now(), options });
      if (monitor !== undefined && (body.url !== undefined || body.emails !== undefined)) requireListener(monitor);
      return monitor;
    });
    const monitor = await orUnprocessable(update);
    if (monitor === undefined) throw noMonitor();
    wakeUp.ring('deliver');
    return viewOf(monitor, options);
  });
}

function addStateRoutes(
  scope: Server,
  { store, secrets, wakeUp, now, monitorOptions: options }: MonitorRouteDeps,
): void {
  scope.delete(`${PATH}/:id`, { schema: removeSchema }, async (request, reply) => {
    if (!(await store.write((tx) => removeMonitor(tx, request.params.id, now())))) throw noMonitor();
    return reply.code(204).send(null);
  });

  scope.post(`${PATH}/:id/activate`, { schema: activateSchema }, async (request, reply) => {
    const { id } = request.params;
    const exists = await store.write(async (tx) => {
      const isThere = await activate(tx, id, now());
      if (isThere && request.query.replay === true) await replayHeld(tx, id, now());
      return isThere;
    });
    if (!exists) throw noMonitor();
    wakeUp.ring('deliver');
    return reply.code(204).send(null);
  });

  scope.post(`${PATH}/:id/disable`, { schema: disableSchema }, async (request, reply) => {
    const { id } = request.params;
    const exists = await store.write(
      // `disable` also returns false for a monitor that is disabled already.
      async (tx) => (await disable(tx, id, 'person', now())) || (await getMonitor(tx, secrets, id)) !== undefined,
    );
    if (!exists) throw noMonitor();
    return reply.code(204).send(null);
  });

  scope.post(`${PATH}/:id/rotate-secret`, { schema: rotateSchema }, async (request) => {
    const monitor = await store.write((tx) => rotateSecret(tx, secrets, request.params.id, now()));
    if (monitor === undefined) throw noMonitor();
    return viewWithSecret(monitor, options);
  });
}
