/** `POST` and `DELETE /apps/monitoring/jobs/thirdparty/{Provider}/items`: start and stop monitoring a company. */
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store, Tx } from '../../store/store.ts';
import { ensureOwnJobs, OWN_CONNECTOR, type OwnConnector } from '../delivery/own-jobs.ts';
import { addItem, removeItem } from '../items/items.ts';
import type { Secrets } from '../keys/secrets.ts';
import { type Job, listJobs } from '../monitors/monitors.ts';
import { ASK_QUEUE, STATE_QUEUE } from '../names/queues.ts';
import type { Access } from './access.ts';
import { entityIdText, failure, KEY_FAILURES, KEY_SECURITY, nothing, plainText, readMonitored } from './schemas.ts';

export interface ItemRouteDeps {
  readonly secrets: Secrets;
  /** The connector in this process, once its address is known. */
  readonly ownConnector: () => OwnConnector | undefined;
  readonly store: Store;
  readonly access: Pick<Access, 'guard' | 'caller'>;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
}

const PATH = '/apps/monitoring/jobs/thirdparty/:Provider/items';

const params = Type.Object({
  Provider: Type.String({
    description:
      'The name of the external system; case does not matter. An operator makes the job that belongs to it with `cvrsync jobs create`',
    examples: ['hubspot'],
  }),
});
const item = {
  entityId: entityIdText(
    'The company: `CVR-1-` and eight digits. A person, `CVR-3-` and a number, can be monitored too',
  ),
  id: plainText('The id of the same company in the external system', { example: '8412345678' }),
};

const WHO = 'A key sees only the jobs that belong to it.';
const NAMES = 'The names of the parameters may be in any case; each is given once.';

const about = {
  tags: ['monitoring'],
  security: KEY_SECURITY,
  params,
};
const failures = {
  ...KEY_FAILURES,
  400: failure('Several access keys that differ, or a path that cannot be read'),
  404: failure('The key has no job for this provider'),
  422: failure('A parameter is missing, given twice, or cannot be read; `errors` names each'),
};

/** Needs a scope with the guard of `monitoring`. */
export function addItemRoutes(scope: Server, deps: ItemRouteDeps): void {
  const { store, access, wakeUp, now } = deps;
  scope.post(
    PATH,
    {
      schema: {
        ...about,
        operationId: 'addItem',
        summary: 'Adds a company to monitoring',
        description: `Every later change of the company is sent to the webhook of the job. Adding an item that is there changes nothing and answers 204 as well. A company may be added under several ids. It need not be known yet: it is monitored from the day it is founded. ${WHO} ${NAMES}`,
        querystring: Type.Object({
          ...item,
          sendUpdate: Type.Optional(
            Type.Boolean({
              default: false,
              description:
                'Whether to send the whole current state of the company, soon after this answer; also where it is monitored already. `true` or `false` in any case',
            }),
          ),
        }),
        response: { 204: nothing('The company is monitored, now or before'), ...failures },
      },
    },
    async (request, reply) => {
      const { sendUpdate = false } = request.query;
      const wanted = readItem(request.query);
      const { keyId } = access.caller(request);
      await store.write(async (tx) => {
        await makeOwnJob(tx, deps, keyId, request.params.Provider);
        const job = await needJob(tx, keyId, request.params.Provider);
        const { kind } = await addItem(tx, { ...wanted, monitor: job.id, sendUpdate, now: now() });
        if (kind === 'no-monitor') throw noJob(request.params.Provider, []);
      });
      for (const queue of [ASK_QUEUE, 'deliver', 'mail', ...(sendUpdate ? [STATE_QUEUE] : [])]) wakeUp.ring(queue);
      return reply.code(204).send(null);
    },
  );

  scope.delete(
    PATH,
    {
      schema: {
        ...about,
        operationId: 'removeItem',
        summary: 'Removes a company from monitoring',
        description: `Only the item with this company and this id. Removing one that is not there answers 204 as well. What was found before is still delivered. ${WHO} ${NAMES}`,
        querystring: Type.Object(item),
        response: { 204: nothing('The company is not monitored under this id, now or before'), ...failures },
      },
    },
    async (request, reply) => {
      const unwanted = readItem(request.query);
      const { keyId } = access.caller(request);
      await store.write(async (tx) => {
        const job = await needJob(tx, keyId, request.params.Provider);
        await removeItem(tx, { ...unwanted, monitor: job.id, now: now() });
      });
      for (const queue of ['deliver', 'mail']) wakeUp.ring(queue);
      return reply.code(204).send(null);
    },
  );
}

const readItem = ({ entityId, id }: { readonly entityId: string; readonly id: string }) => ({
  entity: readMonitored(entityId, 'querystring.entityId'),
  recordId: id,
});

async function needJob(tx: Tx, keyId: string, provider: string): Promise<Job> {
  const jobs = await listJobs(tx, keyId);
  const job = jobs.find((each) => isOf(each, provider));
  if (job === undefined) throw noJob(provider, jobs);
  return job;
}

const isOf = (job: Job, provider: string): boolean => job.provider.toLowerCase() === provider.toLowerCase();

/**
 * Creates the job of our own connector if it is missing: a command may know a connection that was configured after
 * this process started.
 */
async function makeOwnJob(
  tx: Tx,
  { secrets, ownConnector, now }: Pick<ItemRouteDeps, 'secrets' | 'ownConnector' | 'now'>,
  keyId: string,
  provider: string,
): Promise<void> {
  const own = keyId === OWN_CONNECTOR ? ownConnector() : undefined;
  if (own === undefined || (await listJobs(tx, keyId)).some((job) => isOf(job, provider))) return;
  await ensureOwnJobs(tx, secrets, { ...own, providers: [provider] }, now());
}

const noJob = (provider: string, jobs: readonly Job[]): HttpError => {
  const name = provider.replaceAll(/[^\w .-]/g, '?').slice(0, 64);
  const others = jobs.length === 0 ? 'It has none.' : `It has: ${jobs.map((job) => job.provider).join(', ')}.`;
  return new HttpError(404, `This key has no job for ${name}. ${others} The {Provider} is named as its job is.`);
};
