/** API keys, for operators. */
import Type from 'typebox';
import { HttpError } from '../../../http/server/error.ts';
import type { Server } from '../../../http/server/server.ts';
import type { Store } from '../../../store/store.ts';
import { type ApiKey, createKey, listKeys, revokeKey, SCOPES, USUAL_SCOPES } from '../../keys/keys.ts';
import { switchOffJobs } from '../../monitors/jobs.ts';
import { EXAMPLE_ID, failure, isoTime, nothing, nullable, plainText, timeText } from '../schemas.ts';
import { ADMIN_FAILURES, BODY_FAILURES, forOperators } from './describe.ts';

const scopes = (description: string) => Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10, description });

const keyView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  scopes: scopes('What it may be used for'),
  createdAt: timeText('When it was made'),
  revokedAt: nullable(timeText('When it was revoked')),
  usedAt: nullable(timeText('When it was last used, to the minute')),
});

/** Adds `/admin/api/keys`: create, list, revoke. */
export function addKeyRoutes(
  scope: Server,
  { store, now }: { readonly store: Store; readonly now: () => number },
): void {
  scope.post(
    '/admin/api/keys',
    {
      schema: {
        ...forOperators('createKey', 'Makes an API key'),
        description: 'The key is in this answer and nowhere else: it is kept as a digest and cannot be shown again.',
        body: Type.Object(
          {
            name: plainText('Whose it is, for operators'),
            scopes: Type.Optional(scopes(`What it may be used for; ${USUAL_SCOPES.join(', ')} where left out`)),
          },
          { additionalProperties: false, examples: [{ name: 'Birk Byg, CRM', scopes: ['monitoring', 'news'] }] },
        ),
        response: {
          201: Type.Object(
            { id: Type.String(), key: Type.String({ description: 'Shown this once' }) },
            { description: 'The key is made' },
          ),
          ...BODY_FAILURES,
          422: failure('The body does not say what is needed'),
          ...ADMIN_FAILURES,
        },
      },
    },
    async (request, reply) => {
      const { name, scopes: chosen = USUAL_SCOPES } = request.body;
      return reply.code(201).send(await store.write((tx) => createKey(tx, { name, scopes: chosen }, now())));
    },
  );

  scope.get(
    '/admin/api/keys',
    {
      schema: {
        ...forOperators('listKeys', 'All API keys'),
        response: { 200: Type.Array(keyView, { description: 'The keys' }), ...ADMIN_FAILURES },
      },
    },
    async () => (await listKeys(store.db)).map(viewOf),
  );

  scope.delete(
    '/admin/api/keys/:id',
    {
      schema: {
        ...forOperators('revokeKey', 'Ends an API key'),
        description:
          'For good, within a second. Its jobs are switched off: what is due to them is held for 14 days. Move a job to another key before, and it goes on.',
        params: Type.Object({ id: plainText('The id of the key, not the key', { example: EXAMPLE_ID }) }),
        response: {
          204: nothing('It is revoked, now or before'),
          404: failure('There is no such key'),
          ...ADMIN_FAILURES,
        },
      },
    },
    async (request, reply) => {
      const isThere = await store.write(async (tx) => {
        await switchOffJobs(tx, request.params.id, now());
        return revokeKey(tx, request.params.id, now());
      });
      if (!isThere) throw new HttpError(404, 'There is no key with this id.');
      return reply.code(204).send(null);
    },
  );
}

const viewOf = ({ createdAt, revokedAt, usedAt, ...key }: ApiKey) => ({
  ...key,
  scopes: [...key.scopes],
  createdAt: new Date(createdAt).toISOString(),
  revokedAt: isoTime(revokedAt),
  usedAt: isoTime(usedAt),
});
