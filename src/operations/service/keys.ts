import Type, { type Static } from 'typebox';
import {
  type ApiKey,
  createKey as createApiKey,
  getKey,
  listKeys as listApiKeys,
  SCOPES,
  USUAL_SCOPES,
} from '../../service/keys/keys.ts';
import { type EnabledJob, revokeKeyAndJobs } from '../../service/monitors/jobs.ts';
import { EXAMPLE_ID, isoTime, nullable, plainText, timeText } from '../../service/routes/schemas.ts';
import { defineOperation, invalid, Refused, unknown } from '../definition/operation.ts';

const scopes = (description: string) => Type.Array(Type.Enum(SCOPES), { minItems: 1, maxItems: 10, description });

const keyView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  scopes: scopes('The endpoints it admits to'),
  createdAt: timeText('When it was created'),
  revokedAt: nullable(timeText('When it was revoked')),
  usedAt: nullable(timeText('When it was last used, to the minute')),
});

const viewOf = ({ createdAt, revokedAt, usedAt, ...key }: ApiKey): Static<typeof keyView> => ({
  ...key,
  scopes: [...key.scopes],
  createdAt: new Date(createdAt).toISOString(),
  revokedAt: isoTime(revokedAt),
  usedAt: isoTime(usedAt),
});

export const createKey = defineOperation({
  name: 'key.create',
  role: 'admin',
  about: 'create an API key',
  more: 'This answer holds the key; no later answer can, because the service stores only a digest of it.',
  input: Type.Object({
    name: plainText('The owner of the key'),
    scopes: Type.Optional(scopes(`What it may be used for; ${USUAL_SCOPES.join(', ')} if absent`)),
  }),
  api: {
    method: 'POST',
    path: '/keys',
    operationId: 'createKey',
    status: 201,
    answer: Type.Object(
      {
        id: Type.String(),
        key: Type.String({ description: 'Only this answer shows it' }),
        name: keyView.properties.name,
        scopes: keyView.properties.scopes,
      },
      { description: 'The new key' },
    ),
    examples: [{ name: 'Birk Byg, CRM', scopes: ['monitoring', 'news'] }],
  },
  async change(tx, { name: given, scopes: chosen = [...USUAL_SCOPES] }, { id, now }) {
    const name = given.trim();
    if (name === '') throw invalid('/name', 'should be 1 to 256 characters on one line');
    if (id !== undefined && (await getKey(tx, id)) !== undefined)
      throw new Refused('conflict', 'the key is there already');
    const made = await createApiKey(tx, { ...(id !== undefined && { id }), name, scopes: chosen }, now);
    return {
      value: { ...made, name, scopes: chosen },
      audit: { subject: made.id, detail: { name, scopes: chosen }, result: 'created' },
    };
  },
});

export const listKeys = defineOperation({
  name: 'key.list',
  role: 'viewer',
  about: 'list all API keys',
  input: Type.Object({}),
  api: {
    method: 'GET',
    path: '/keys',
    operationId: 'listKeys',
    status: 200,
    answer: Type.Array(keyView, { description: 'The keys' }),
  },
  read: async (db) => ({ value: await listApiKeys(db) }),
  view: (keys: readonly ApiKey[]) => keys.map(viewOf),
});

export const revokeKey = defineOperation({
  name: 'key.revoke',
  role: 'admin',
  about: 'revoke an API key for good, and switch its jobs off; their deliveries are held for 14 days',
  more: 'Takes effect within a second and cannot be undone. To keep a job running, move it to another key first, or send `keepJobs`.',
  input: Type.Object({
    id: plainText('The id of the key, not the key itself', { example: EXAMPLE_ID }),
    keepJobs: Type.Boolean({
      default: false,
      description: 'Leave its jobs on: they go on delivering to their webhooks',
    }),
  }),
  api: {
    method: 'DELETE',
    path: '/keys/:id',
    operationId: 'revokeKey',
    status: 204,
    answer: 'The key is revoked, now or before',
    refusals: { 404: 'There is no such key' },
  },
  async change(tx, { id, keepJobs }, { now }) {
    const key = await getKey(tx, id);
    const jobs: readonly EnabledJob[] | undefined = await revokeKeyAndJobs(tx, id, { keepJobs, now });
    if (key === undefined || jobs === undefined) throw unknown('key');
    const value = { id, jobs, areKept: keepJobs };
    if (key.revokedAt !== null && (keepJobs || jobs.length === 0)) return { value };
    const result = `revoked; ${jobs.length} jobs ${keepJobs ? 'left on' : 'switched off'}`;
    return { value, audit: { subject: id, detail: { name: key.name }, result } };
  },
});
