/** Operations on third-party jobs. A job is a monitor: the operations on monitors do everything else. */
import Type from 'typebox';
import * as stored from '../../service/monitors/jobs.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { checkMonitor } from '../../service/monitors/monitor-input.ts';
import { listMonitors, lockMonitor } from '../../service/monitors/monitors.ts';
import { EXAMPLE_ID, plainText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { defineOperation, Refused, unknown } from '../definition/operation.ts';
import { createdMonitorView, enabled, monitorView, settings, viewOf, viewOfCreated } from './monitor-view.ts';
import type { MonitorNeeds } from './monitors.ts';

const REFUSALS = { 404: 'There is no such job' } as const;

const id = plainText('The id of the job', { example: EXAMPLE_ID });
const key = plainText('The id of the API key that owns the job');

async function needJob(tx: Tx, job: string) {
  const row = await lockMonitor(tx, job);
  if (row === undefined || row.provider === null) throw unknown('job');
  return row;
}

export const createJob = defineOperation({
  name: 'job.create',
  role: 'admin',
  about: 'create the job of a provider',
  more: 'Each key can have one job for each provider. If the job has a webhook, this answer holds the signing secret; no later answer does.',
  input: Type.Object({
    provider: plainText('The name of the external system, as in the paths of its items', { maxLength: 64 }),
    key,
    name: Type.Optional(plainText('The name of the job', { maxLength: 200 })),
    enabled,
    ...settings,
  }),
  rings: ['deliver', 'mail'],
  api: {
    method: 'POST',
    path: '/jobs',
    operationId: 'createJob',
    status: 201,
    answer: createdMonitorView,
    examples: [{ provider: 'salesforce', key: EXAMPLE_ID, url: 'https://hooks.example.com/cvr' }],
    refusals: { 422: 'The job is not valid; `errors` names each problem' },
  },
  check: (input, { options }: MonitorNeeds) => checkMonitor(input, options),
  async change(tx, input, context) {
    if (context.id !== undefined && (await lockMonitor(tx, context.id)) !== undefined)
      throw new Refused('conflict', 'the job is there already');
    const job = await stored.createJob(tx, input, context);
    return { value: job, audit: { subject: job.id, detail: { name: job.name }, result: 'created' } };
  },
  view: (job: Monitor, { options }: MonitorNeeds) => viewOfCreated(job, options),
});

export const listJobs = defineOperation({
  name: 'job.list',
  role: 'viewer',
  about: 'list the jobs of all keys',
  input: Type.Object({}),
  api: {
    method: 'GET',
    path: '/jobs',
    operationId: 'listAllJobs',
    status: 200,
    answer: Type.Array(monitorView, { description: 'The jobs' }),
  },
  read: async (db, _input, { secrets }: MonitorNeeds) => ({ value: await listMonitors(db, secrets, { job: true }) }),
  view: (jobs: readonly Monitor[], { options }: MonitorNeeds) => jobs.map((job) => viewOf(job, options)),
});

export const moveJob = defineOperation({
  name: 'job.move',
  role: 'admin',
  about: 'move a job to another key, for example when you replace a key',
  input: Type.Object({ id, key }),
  api: {
    method: 'PATCH',
    path: '/jobs/:id',
    operationId: 'moveJob',
    status: 204,
    answer: 'The job belongs to the key, now or before',
    examples: [{ key: EXAMPLE_ID }],
    refusals: { ...REFUSALS, 422: 'The key cannot have the job; `errors` says why' },
  },
  async change(tx, { id: job, key: to }, { now }) {
    const { name, owner } = await needJob(tx, job);
    const value = { id: job, key: to };
    if (owner === to) return { value };
    await stored.moveJob(tx, job, to, now);
    return { value, audit: { subject: job, detail: { name }, result: `moved to the key ${to}` } };
  },
});

export const removeJob = defineOperation({
  name: 'job.remove',
  role: 'admin',
  about: 'remove a job with its items; pending deliveries are dropped',
  input: Type.Object({ id }),
  api: {
    method: 'DELETE',
    path: '/jobs/:id',
    operationId: 'removeJob',
    status: 204,
    answer: 'The job is removed',
    refusals: REFUSALS,
  },
  async change(tx, { id: job }, { now }) {
    const { name } = await needJob(tx, job);
    await stored.removeJob(tx, job, now);
    return { value: { id: job, removed: true }, audit: { subject: job, detail: { name }, result: 'removed' } };
  },
});
