/** Third-party jobs, for operators. Everything else of a job is done to the monitor it is. */
import Type from 'typebox';
import { HttpError } from '../../../http/server/error.ts';
import type { Server } from '../../../http/server/server.ts';
import { createJob, moveJob, removeJob } from '../../monitors/jobs.ts';
import { listMonitors } from '../../monitors/monitors.ts';
import { EXAMPLE_ID, failure, nothing, plainText } from '../schemas.ts';
import { ADMIN_FAILURES, BODY_FAILURES, forOperators } from './describe.ts';
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
const CLOSED = { additionalProperties: false } as const;

const params = Type.Object({ id: plainText('The JobId', { example: EXAMPLE_ID }) });
const provider = plainText('The {Provider} in the paths of its items', { maxLength: 64 });
const key = plainText('Id of the API key that it belongs to');
const missing = { 404: failure('There is no such job'), ...ADMIN_FAILURES };
const refusals = { 422: failure('The job cannot be like that; `errors` names each problem'), ...ADMIN_FAILURES };

const noJob = (): HttpError => new HttpError(404, 'There is no job with this id.');

/** Adds `/admin/api/jobs`: create, list, hand over, remove. */
export function addAdminJobRoutes(scope: Server, { store, secrets, now, reading }: MonitorRouteDeps): void {
  scope.post(
    PATH,
    {
      schema: {
        ...forOperators(
          'createJob',
          'Makes a third-party job',
          'One for each key and provider. The signing secret is in this answer and nowhere else.',
        ),
        body: Type.Object(
          {
            provider,
            key,
            name: Type.Optional(plainText('What it is called', { maxLength: 200 })),
            enabled,
            ...settings,
          },
          { ...CLOSED, examples: [{ provider: 'salesforce', key: EXAMPLE_ID, url: 'https://hooks.example.com/cvr' }] },
        ),
        response: { 201: withSecret, ...BODY_FAILURES, ...refusals },
      },
    },
    async (request, reply) => {
      const made = store.write((tx) => createJob(tx, secrets, request.body, now(), reading));
      return reply.code(201).send(viewWithSecret(await orUnprocessable(made)));
    },
  );

  scope.get(
    PATH,
    {
      schema: {
        ...forOperators('listAllJobs', 'The jobs of all keys'),
        response: { 200: Type.Array(monitorView, { description: 'The jobs' }), ...ADMIN_FAILURES },
      },
    },
    async () => (await listMonitors(store.db, secrets, { job: true })).map(viewOf),
  );

  scope.patch(
    `${PATH}/:id`,
    {
      schema: {
        ...forOperators('moveJob', 'Hands a job to another key', 'As when one key replaces another.'),
        params,
        body: Type.Object({ key }, { ...CLOSED, examples: [{ key: EXAMPLE_ID }] }),
        response: { 204: nothing('It belongs to the key, now or before'), ...BODY_FAILURES, ...missing, ...refusals },
      },
    },
    async (request, reply) => {
      const moved = await orUnprocessable(store.write((tx) => moveJob(tx, request.params.id, request.body.key, now())));
      if (moved === undefined) throw noJob();
      return reply.code(204).send(null);
    },
  );

  scope.delete(
    `${PATH}/:id`,
    {
      schema: {
        ...forOperators('removeJob', 'Removes a job', 'With its items; what was not delivered yet is dropped.'),
        params,
        response: { 204: nothing('It is removed'), ...missing },
      },
    },
    async (request, reply) => {
      if (!(await store.write((tx) => removeJob(tx, request.params.id, now())))) throw noJob();
      return reply.code(204).send(null);
    },
  );
}
