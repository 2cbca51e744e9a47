/** Monitors, for operators: made, changed, switched on and off. */
import Type from 'typebox';
import type { Server } from '../../../http/server/server.ts';
import type { WakeUp } from '../../../runtime/wake-up.ts';
import type { Store } from '../../../store/store.ts';
import type { Secrets } from '../../keys/secrets.ts';
import { addItem } from '../../monitors/items.ts';
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
import { ADMIN_FAILURES, BODY_FAILURES, forOperators } from './describe.ts';
import {
  enabled,
  made,
  monitorView,
  noMonitor,
  orUnprocessable,
  settings,
  target,
  viewOf,
  viewOfNew,
  viewWithSecret,
  withSecret,
} from './monitor-shape.ts';

export interface MonitorRouteDeps {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly wakeUp: WakeUp;
  /** Wall clock in ms. */
  readonly now: () => number;
  /** How what is asked of a monitor is read. */
  readonly reading?: MonitorOptions;
}

const PATH = '/admin/api/monitors';
const CLOSED = { additionalProperties: false } as const;

const params = Type.Object({ id: plainText('The id of the monitor', { example: EXAMPLE_ID }) });
const missing = { 404: failure('There is no such monitor'), ...ADMIN_FAILURES };
const refusals = { 422: failure('The monitor cannot be like that; `errors` names each problem'), ...ADMIN_FAILURES };

/** Adds `/admin/api/monitors`, but for their items. */
export function addMonitorRoutes(scope: Server, deps: MonitorRouteDeps): void {
  const { store, secrets, wakeUp, now, reading } = deps;

  scope.post(
    PATH,
    {
      schema: {
        ...forOperators(
          'createMonitor',
          'Makes a monitor',
          'It is activated at once unless `activated` is false, which prepares it. Where it has a webhook, the signing secret is in this answer and nowhere else.',
        ),
        body: Type.Object(
          {
            name: plainText('What it is called', { maxLength: 200 }),
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
        response: { 201: made, ...BODY_FAILURES, ...refusals },
      },
    },
    async (request, reply) => {
      const { entities = [], ...input } = request.body;
      const listed = entities.map((entity, at) => readMonitored(entity, `body.entities.${at}`));
      const making = store.write(async (tx) => {
        const monitor = await createMonitor(tx, secrets, input, now(), reading);
        requireListener(monitor);
        for (const entity of listed)
          await addItem(tx, { monitor: monitor.id, entity, recordId: '', sendUpdate: false, now: now() });
        return monitor;
      });
      const monitor = await orUnprocessable(making);
      for (const queue of ['deliver', 'mail']) wakeUp.ring(queue);
      return reply.code(201).send(viewOfNew(monitor));
    },
  );

  scope.get(
    PATH,
    {
      schema: {
        ...forOperators('listMonitors', 'Monitors by id', 'Third-party jobs are monitors too. Page with `after`.'),
        querystring: Type.Object({
          after: Type.Optional(plainText('What comes after this id', { example: EXAMPLE_ID })),
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'How many at most' }),
          ),
        }),
        response: {
          200: Type.Array(monitorView, { description: 'The monitors' }),
          422: failure('A parameter that cannot be read'),
          ...ADMIN_FAILURES,
        },
      },
    },
    async ({ query }) => (await listMonitors(store.db, secrets, query)).map(viewOf),
  );

  scope.get(
    `${PATH}/:id`,
    { schema: { ...forOperators('getMonitor', 'One monitor'), params, response: { 200: monitorView, ...missing } } },
    async (request) => {
      const monitor = await getMonitor(store.db, secrets, request.params.id);
      if (monitor === undefined) throw noMonitor();
      return viewOf(monitor);
    },
  );

  scope.patch(
    `${PATH}/:id`,
    {
      schema: {
        ...forOperators(
          'updateMonitor',
          'Changes a monitor',
          'What is left out stays. A job keeps its items as target.',
        ),
        params,
        body: Type.Object(
          {
            name: Type.Optional(plainText('What it is called', { maxLength: 200 })),
            target: Type.Optional(target),
            ...settings,
          },
          { ...CLOSED, examples: [{ events: ['name', 'newReport'], schedule: [0, 60, 3_600] }] },
        ),
        response: { 200: monitorView, ...BODY_FAILURES, ...missing, ...refusals },
      },
    },
    async (request) => {
      const { params, body } = request;
      const changed = store.write(async (tx) => {
        const monitor = await updateMonitor(tx, secrets, params.id, body, now(), reading);
        if (monitor !== undefined && (body.url !== undefined || body.emails !== undefined)) requireListener(monitor);
        return monitor;
      });
      const monitor = await orUnprocessable(changed);
      if (monitor === undefined) throw noMonitor();
      wakeUp.ring('deliver');
      return viewOf(monitor);
    },
  );

  scope.delete(
    `${PATH}/:id`,
    {
      schema: {
        ...forOperators('removeMonitor', 'Removes a monitor', 'With its list; what was not delivered yet is dropped.'),
        params,
        response: { 204: nothing('It is removed'), ...missing },
      },
    },
    async (request, reply) => {
      if (!(await store.write((tx) => removeMonitor(tx, request.params.id, now())))) throw noMonitor();
      return reply.code(204).send(null);
    },
  );

  scope.post(
    `${PATH}/:id/activate`,
    {
      schema: {
        ...forOperators(
          'activateMonitor',
          'Switches a monitor on',
          'What was held for it meanwhile stays held until it is replayed.',
        ),
        params,
        response: { 204: nothing('It is on, now or before'), ...missing },
      },
    },
    async (request, reply) => {
      if (!(await store.write((tx) => activate(tx, request.params.id, now())))) throw noMonitor();
      wakeUp.ring('deliver');
      return reply.code(204).send(null);
    },
  );

  scope.post(
    `${PATH}/:id/disable`,
    {
      schema: {
        ...forOperators('disableMonitor', 'Switches a monitor off', 'What happens from now on is held for 14 days.'),
        params,
        response: { 204: nothing('It is off, now or before'), ...missing },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const isThere = await store.write(
        // False is also the answer for one that is off already.
        async (tx) => (await disable(tx, id, 'person', now())) || (await getMonitor(tx, secrets, id)) !== undefined,
      );
      if (!isThere) throw noMonitor();
      return reply.code(204).send(null);
    },
  );

  scope.post(
    `${PATH}/:id/rotate-secret`,
    {
      schema: {
        ...forOperators(
          'rotateSecret',
          'Gives a monitor a new signing secret',
          'Posts are signed with the old one as well for 24 hours. The new one is in this answer and nowhere else.',
        ),
        params,
        response: { 200: withSecret, ...missing },
      },
    },
    async (request) => {
      const monitor = await store.write((tx) => rotateSecret(tx, secrets, request.params.id, now()));
      if (monitor === undefined) throw noMonitor();
      return viewWithSecret(monitor);
    },
  );
}
