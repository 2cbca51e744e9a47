/** `/admin/api/keys`: operators create, list and revoke API keys. */
import Type from 'typebox';
import { HttpError } from '../../../http/server/error.ts';
import type { Server } from '../../../http/server/server.ts';
import type { Store } from '../../../store/store.ts';
import { type ApiKey, createKey, listKeys, SCOPES, USUAL_SCOPES } from '../../keys/keys.ts';
import { revokeKeyAndJobs } from '../../monitors/jobs.ts';
import { EXAMPLE_ID, failure, isoTime, nothing, nullable, plainText, timeText } from '../schemas.ts';
import { ADMIN_FAILURES, adminOperation, BODY_FAILURES } from './describe.ts';

const scopes = (description: string) => Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10, description });

const keyView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  scopes: scopes('The endpoints it admits to'),
  createdAt: timeText('When it was created'),
  revokedAt: nullable(timeText('When it was revoked')),
  usedAt: nullable(timeText('When it was last used, to the minute')),
});

const createSchema = {
  ...adminOperation(
    'createKey',
    'Creates an API key',
    'This answer holds the key; no later answer can, because the service stores only a digest of it.',
  ),
  body: Type.Object(
    {
      name: plainText('Whose key it is, for operators'),
      scopes: Type.Optional(scopes(`The endpoints it admits to; ${USUAL_SCOPES.join(', ')} if absent`)),
    },
    { additionalProperties: false, examples: [{ name: 'Birk Byg, CRM', scopes: ['monitoring', 'news'] }] },
  ),
  response: {
    201: Type.Object(
      { id: Type.String(), key: Type.String({ description: 'Only this answer shows it' }) },
      { description: 'The new key' },
    ),
    ...BODY_FAILURES,
    422: failure('A property of the body is missing or not valid'),
    ...ADMIN_FAILURES,
  },
};

const listSchema = {
  ...adminOperation('listKeys', 'Lists all API keys'),
  response: { 200: Type.Array(keyView, { description: 'The keys' }), ...ADMIN_FAILURES },
};

const revokeSchema = {
  ...adminOperation(
    'revokeKey',
    'Revokes an API key',
    'Takes effect within a second and cannot be undone. Disables the jobs of the key, and holds their deliveries for 14 days. To keep a job running, move it to another key first.',
  ),
  params: Type.Object({ id: plainText('The id of the key, not the key itself', { example: EXAMPLE_ID }) }),
  response: {
    204: nothing('The key is revoked, now or before'),
    404: failure('There is no such key'),
    ...ADMIN_FAILURES,
  },
};

interface KeyRouteDeps {
  readonly store: Store;
  readonly now: () => number;
}

/** Adds the routes. */
export function addKeyRoutes(scope: Server, { store, now }: KeyRouteDeps): void {
  scope.post('/admin/api/keys', { schema: createSchema }, async (request, reply) => {
    const { name, scopes: chosen = USUAL_SCOPES } = request.body;
    return reply.code(201).send(await store.write((tx) => createKey(tx, { name, scopes: chosen }, now())));
  });

  scope.get('/admin/api/keys', { schema: listSchema }, async () => (await listKeys(store.db)).map(viewOf));

  scope.delete('/admin/api/keys/:id', { schema: revokeSchema }, async (request, reply) => {
    const { id } = request.params;
    const jobs = await store.write((tx) => revokeKeyAndJobs(tx, id, { keepJobs: false, now: now() }));
    if (jobs === undefined) throw new HttpError(404, 'There is no key with this id.');
    return reply.code(204).send(null);
  });
}

const viewOf = ({ createdAt, revokedAt, usedAt, ...key }: ApiKey) => ({
  ...key,
  scopes: [...key.scopes],
  createdAt: new Date(createdAt).toISOString(),
  revokedAt: isoTime(revokedAt),
  usedAt: isoTime(usedAt),
});
