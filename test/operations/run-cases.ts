/** What the contract asks of runs. */
import { UNDO } from '../../src/connector/undo/undo-task.ts';
import { requestPreview } from '../../src/runtime/runs/runs.ts';
import { COMPANY } from '../service/monitored.ts';
import { type Case, NEW, NOBODY } from './case.ts';
import type { Faces } from './faces.ts';

/** A number that no run has, for {@link NOBODY}. */
const runOf = (id: string): string => (id === NOBODY ? '999999' : id);
const withoutRuns = async ({ store }: Faces): Promise<readonly [string, string]> => {
  await store.write((tx) => tx.deleteFrom('run').execute());
  return NEW;
};
/** An undo whose preview is at this point. */
const previewed = async ({ store }: Faces, state: 'running' | 'done'): Promise<readonly [string]> => {
  const asked = { input: { since: 0 }, actor: { kind: 'user', name: 'ida' }, via: 'command' } as const;
  const id = await store.write((tx) => requestPreview(tx, UNDO, asked, 1));
  await store.write((tx) => tx.updateTable('run').set({ state, total: 3, ended_at: 2 }).where('id', '=', id).execute());
  return [String(id)];
};

export const RUN_CASES: readonly Case[] = [
  {
    operation: 'undo.preview',
    what: 'of what was written for a company',
    make: async () => NEW,
    ask: () => ({
      api: ['POST', '/runs/undo', { entity: COMPANY, property: 'name' }],
      page: ['/runs/undo', { entity: COMPANY, property: 'name' }],
    }),
    result: undefined,
  },
  {
    operation: 'undo.preview',
    what: 'with a hold of its own',
    make: async () => NEW,
    ask: () => ({
      api: ['POST', '/runs/undo', { entity: COMPANY, hold: 'forever' }],
      page: ['/runs/undo', { entity: COMPANY, hold: 'forever' }],
    }),
    result: undefined,
  },
  {
    operation: 'replay.preview',
    what: 'of what was held since a time',
    make: async () => NEW,
    ask: () => ({
      api: ['POST', '/runs/replay', { since: '2026-03-01T00:00:00.000Z' }],
      page: ['/runs/replay', { since: '2026-03-01T01:00' }],
    }),
    result: undefined,
  },
  {
    operation: 'review.preview',
    what: 'of all differences of a property',
    make: async () => NEW,
    ask: () => ({
      api: ['POST', '/runs/answers', { verb: 'accept', kind: 'difference', provider: 'crm', property: 'name' }],
      page: ['/runs/answers', { verb: 'accept-difference', kind: 'difference', provider: 'crm', property: 'name' }],
    }),
    result: undefined,
  },
  {
    operation: 'backfill.scan',
    what: 'of a CRM',
    make: withoutRuns,
    ask: () => ({
      api: ['POST', '/runs/scan', { provider: 'crm', revision: 'none' }],
      page: ['/backfill/crm/scan', { revision: 'none' }],
    }),
    result: 'begun',
    again: 'unchanged',
  },
  {
    operation: 'match.run',
    what: 'of the records of a CRM',
    make: withoutRuns,
    ask: () => ({
      api: ['POST', '/runs/match', { provider: 'crm' }],
      page: ['/inbox/match/run', { provider: 'crm' }],
    }),
    result: 'begun',
    again: 'unchanged',
  },
  {
    operation: 'backfill.preview',
    what: 'of a plan',
    make: withoutRuns,
    ask: () => ({
      api: ['POST', '/runs/apply', { provider: 'crm', revision: 'none', trust: 'register' }],
      page: ['/backfill/crm/apply', { revision: 'none', trust: 'register' }],
    }),
    result: undefined,
    again: 'unchanged',
  },
  {
    operation: 'leave.preview',
    what: 'of a connection',
    make: withoutRuns,
    ask: () => ({
      api: ['POST', '/runs/leave', { provider: 'hubspot' }],
      page: ['/connections/hubspot/leave', {}],
    }),
    result: undefined,
    again: 'unchanged',
  },
  {
    operation: 'run.confirm',
    what: 'after its preview',
    make: (faces) => previewed(faces, 'done'),
    ask: (id) => ({
      command: ['runs', 'confirm', runOf(id)],
      api: ['POST', `/runs/${runOf(id)}/confirm`],
      page: [`/runs/${runOf(id)}/confirm`, {}],
    }),
    result: 'begun for 3 records',
    action: 'undo.run',
    again: 409,
  },
  {
    operation: 'run.cancel',
    what: 'while it runs',
    make: async (faces) => {
      const [id] = await previewed(faces, 'running');
      await faces.store.write((tx) =>
        tx.updateTable('run').set({ stage: 'run', done: 2 }).where('id', '=', Number(id)).execute(),
      );
      return [id];
    },
    ask: (id) => ({
      command: ['runs', 'cancel', runOf(id)],
      api: ['POST', `/runs/${runOf(id)}/cancel`],
      page: [`/runs/${runOf(id)}/cancel`, {}],
    }),
    result: 'cancelled after 2 records',
    action: 'undo.run',
    again: 'unchanged',
  },
];
