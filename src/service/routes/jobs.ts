/** `GET /apps/monitoring/jobs` and `GET /apps/monitoring/jobs/{JobId}/items`: the jobs of a key, and their items. */
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import type { Store } from '../../store/store.ts';
import { DEFAULT_TAKE, MOST_TAKE, pageItems } from '../items/items.ts';
import type { Secrets } from '../keys/secrets.ts';
import { listJobs } from '../monitors/monitors.ts';
import type { Access } from './access.ts';
import { EXAMPLE_ID, failure, KEY_FAILURES, KEY_SECURITY, timeText, tokenText, unprocessable } from './schemas.ts';

export interface JobRouteDeps {
  readonly store: Store;
  readonly access: Pick<Access, 'guard' | 'caller'>;
  readonly secrets: Pick<Secrets, 'sign' | 'verify'>;
}

const job = Type.Object({
  id: Type.String({ description: 'The JobId' }),
  name: Type.String(),
  provider: Type.String({ description: 'The {Provider} in the paths of its items' }),
});

const page = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        entityId: Type.String(),
        id: Type.String({ description: 'In the external system' }),
        provider: Type.String(),
        created: timeText('When it was added'),
      }),
    ),
    continuationToken: Type.Optional(Type.String({ description: 'Of the next page; absent on the last' })),
  },
  { description: 'A page of items' },
);

/** Needs a scope with the guard of `monitoring`. */
export function addJobRoutes(scope: Server, { store, access, secrets }: JobRouteDeps): void {
  scope.get(
    '/apps/monitoring/jobs',
    {
      schema: {
        operationId: 'listJobs',
        summary: 'The monitoring jobs of the key',
        description: 'All of them, in one list. A key sees only the jobs that belong to it.',
        tags: ['monitoring'],
        security: KEY_SECURITY,
        response: { 200: Type.Array(job, { description: 'The jobs' }), ...KEY_FAILURES },
      },
    },
    async (request) => {
      const jobs = await listJobs(store.db, access.caller(request).keyId);
      return jobs.map(({ id, name, provider }) => ({ id, name, provider }));
    },
  );

  scope.get(
    '/apps/monitoring/jobs/:JobId/items',
    {
      schema: {
        operationId: 'listItems',
        summary: 'The companies that a job monitors',
        description:
          'In the order in which they were added. What stays in the list while you page comes exactly once, whatever is added and removed meanwhile. The last page has no `continuationToken`.',
        tags: ['monitoring'],
        security: KEY_SECURITY,
        params: Type.Object({
          JobId: Type.String({ description: 'The id of a job of the key', examples: [EXAMPLE_ID] }),
        }),
        querystring: Type.Object({
          take: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: MOST_TAKE,
              default: DEFAULT_TAKE,
              description: `Items a page, ${MOST_TAKE} at most`,
            }),
          ),
          continuationToken: Type.Optional(tokenText('From the page before, of the same job')),
        }),
        response: {
          200: page,
          ...KEY_FAILURES,
          400: failure('Several access keys that differ, or a path that cannot be read'),
          404: failure('The key has no such job'),
          422: failure('A parameter is given twice or cannot be read, or the token is none of this list'),
        },
      },
    },
    async (request) => {
      const wanted = request.params.JobId.toLowerCase();
      const jobs = await listJobs(store.db, access.caller(request).keyId);
      const asked = jobs.find(({ id }) => id === wanted);
      if (asked === undefined)
        throw new HttpError(404, 'This key has no job with this id: GET /apps/monitoring/jobs lists its jobs.');
      const { take, continuationToken } = request.query;
      const read = await pageItems(store.db, secrets, { monitor: asked.id, take, token: continuationToken });
      if (!read.ok)
        throw unprocessable('querystring.continuationToken', 'is no token of this list: begin again without one');
      return {
        results: read.items.map(({ entity, recordId, addedAt }) => ({
          entityId: entity,
          id: recordId,
          provider: asked.provider,
          created: new Date(addedAt).toISOString(),
        })),
        ...(read.continuationToken !== undefined && { continuationToken: read.continuationToken }),
      };
    },
  );
}
