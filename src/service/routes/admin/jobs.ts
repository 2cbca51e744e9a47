/** `/admin/api/jobs`: third-party jobs. A job is a monitor: the routes of monitors do everything else. */
import Type from 'typebox';
import { HttpError } from '../../../http/server/error.ts';
import type { Server } from '../../../http/server/server.ts';
import { createJob, moveJob, removeJob } from '../../monitors/jobs.ts';
import { listMonitors } from '../../monitors/monitors.ts';
import { EXAMPLE_ID, failure, nothing, plainText } from '../schemas.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';
import {
  enabled,
  monitorView,
  orUnprocessable,
  settings,
  viewOf,
  viewWithSecret,
  withSecret,
} from './monitor-shape.ts';
import type { MonitorRouteDeps } from './monitors.ts';

const PATH = '/admin/api/jobs';
const NO_EXTRA_PROPERTIES = { additionalProperties: false } as const;

const params = Type.Object({ id: plainText('The JobId', { example: EXAMPLE_ID }) });
const provider = plainText('The {Provider} in the paths of its items', { maxLength: 64 });
const key = plainText('The id of the API key that owns the job');
const missing = { 404: failure('There is no such job'), ...ADMIN_FAILURES };
const refusals = { 422: failure('The job is not valid; `errors` names each problem'), ...ADMIN_FAILURES };

const noJob = (): HttpError => new HttpError(404, 'There is no job with this id.');

const createSchema = {
  ...adminOperation(
    'createJob',
    'Creates a third-party job',
    'Each key can have one job for each provider. This answer holds the signing secret; no later answer does.',
  ),
  body: Type.Object(
    { provider, key, name: Type.Optional(plainText('The name of the job', { maxLength: 200 })), enabled, ...settings },
    {
      ...NO_EXTRA_PROPERTIES,
      examples: [{ provider: 'salesforce', key: EXAMPLE_ID, url: 'https://hooks.example.com/cvr' }],
    },
  ),
  response: { 201: withSecret, ...BODY_FAILURES, ...refusals },
};

const listSchema = {
  ...adminOperation('listAllJobs', 'Lists the jobs of all keys'),
  response: { 200: Type.Array(monitorView, { description: 'The jobs' }), ...ADMIN_FAILURES },
};

const moveSchema = {
  ...adminOperation('moveJob', 'Moves a job to another key', 'Use it when one key replaces another.'),
  params,
  body: Type.Object({ key }, { ...NO_EXTRA_PROPERTIES, examples: [{ key: EXAMPLE_ID }] }),
  response: { 204: nothing('The job belongs to the key, now or before'), ...BODY_FAILURES, ...missing, ...refusals },
};

const removeSchema = {
  ...adminOperation('removeJob', 'Removes a job', 'Removes its items too, and drops its pending deliveries.'),
  params,
  response: { 204: nothing('The job is removed'), ...missing },
};

/** Adds the routes. */
export function addAdminJobRoutes(scope: Server, { store, secrets, now, monitorOptions }: MonitorRouteDeps): void {
  scope.post(PATH, { schema: createSchema }, async (request, reply) => {
    const context = { secrets, now: now(), options: monitorOptions };
    const job = await orUnprocessable(store.write((tx) => createJob(tx, request.body, context)));
    return reply.code(201).send(viewWithSecret(job, monitorOptions));
  });

  scope.get(PATH, { schema: listSchema }, async () =>
    (await listMonitors(store.db, secrets, { job: true })).map((job) => viewOf(job, monitorOptions)),
  );

  scope.patch(`${PATH}/:id`, { schema: moveSchema }, async ({ params: { id }, body }, reply) => {
    const moved = await orUnprocessable(store.write((tx) => moveJob(tx, id, body.key, now())));
    if (moved === undefined) throw noJob();
    return reply.code(204).send(null);
  });

  scope.delete(`${PATH}/:id`, { schema: removeSchema }, async (request, reply) => {
    if (!(await store.write((tx) => removeJob(tx, request.params.id, now())))) throw noJob();
    return reply.code(204).send(null);
  });
}
