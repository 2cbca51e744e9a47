/** Operations on runs, the mass effects that the daemon carries out: list, confirm and cancel them. */
import Type, { type Static } from 'typebox';
import { BACKFILL } from '../../connector/backfill/plan/backfill-task.ts';
import { LEAVE } from '../../connector/leave/leave-task.ts';
import { REVIEW } from '../../connector/review/review-task.ts';
import { UNDO } from '../../connector/undo/undo-task.ts';
import { includesRole, type Role } from '../../runtime/operators/operators.ts';
import { countItems, type RunItem, readItems } from '../../runtime/runs/run-items.ts';
import {
  cancelRun as cancelStored,
  confirmRun as confirmStored,
  findRun,
  listRuns as listStored,
  type RunTask,
  rateOf,
  type StoredRun,
} from '../../runtime/runs/runs.ts';
import { REPLAY } from '../../service/delivery/replay/replay-task.ts';
import { isoTime, nullable, timeText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { type Done, defineOperation, type Moment, Refused, unknown } from '../definition/operation.ts';

/** The queues of all tasks. */
export const RUN_TASKS = ['backfill', 'leave', 'replay', 'review', 'undo'] as const;
const TASKS: Readonly<Record<(typeof RUN_TASKS)[number], RunTask<unknown>>> = {
  backfill: BACKFILL,
  leave: LEAVE,
  replay: REPLAY,
  review: REVIEW,
  undo: UNDO,
};
export const RUN_STATES = ['waiting', 'running', 'done', 'cancelled', 'failed'] as const;

/** Whether this role may confirm the run; programs and the machine's users may confirm all. */
export function mayConfirm(run: Pick<Run, 'task'>, role: Role | undefined): boolean {
  return role === undefined || includesRole(role, taskOf(run).role ?? 'operator');
}

const REFUSALS = { 404: 'There is no such run', 422: 'A number that is not valid' } as const;
const MOST = 1_000;

export const runId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [1],
  description: 'The number of the run',
});
const one = Type.Object({ run: runId });
const facts = (description: string) => Type.Object({}, { additionalProperties: true, description });

const runProperties = {
  id: runId,
  task: Type.Enum(RUN_TASKS, { description: 'What it does' }),
  action: Type.String({ description: 'Its name in the audit' }),
  input: facts('On what'),
  stage: Type.Enum(['preview', 'run'], { description: 'preview: it finds out what it would do, and changes nothing' }),
  state: Type.Enum(RUN_STATES, { description: 'The state of its stage' }),
  done: Type.Integer({ description: 'How much of `total` is done' }),
  total: nullable(Type.Integer({ description: 'Null until it is known' })),
  perMinute: nullable(Type.Number({ description: 'How fast the stage is' })),
  secondsLeft: nullable(Type.Integer({ description: 'How long the stage still takes at this rate' })),
  by: Type.String({ description: 'Who asked for the stage' }),
  via: Type.Enum(['page', 'command', 'api']),
  createdAt: timeText('When it was asked for'),
  previewedAt: nullable(timeText('When its preview ended')),
  confirmedAt: nullable(timeText('When it was confirmed')),
  startedAt: nullable(timeText('When the daemon began the stage')),
  endedAt: nullable(timeText('When the stage ended')),
  error: nullable(Type.String({ description: 'Why it failed' })),
};
const runView = Type.Object(runProperties);
const shownRun = Type.Object({
  ...runProperties,
  results: Type.Array(Type.Object({ kind: Type.String(), count: Type.Integer() }), {
    description: 'How many things came to each result; of a preview, what would become of them',
  }),
  items: Type.Array(facts('`key` and `result`, and what else is known'), {
    description: 'Things with their results',
  }),
});

type Run = StoredRun<unknown>;

/** The task of a run; others are never requested. */
function taskOf({ task }: Pick<Run, 'task'>): RunTask<unknown> & { readonly name: (typeof RUN_TASKS)[number] } {
  const name = RUN_TASKS.find((each) => each === task);
  if (name === undefined) throw new Error(`no task is called ${task}`);
  return { ...TASKS[name], name };
}

function viewOf(run: Run, now: number): Static<typeof runView> {
  const { id, input, stage, state, done, total, actor, via, error } = run;
  const rate = rateOf(run, now);
  const task = taskOf(run);
  return {
    id,
    task: task.name,
    action: task.audit(run).action,
    input: Object(input),
    ...{ stage, state, done, total, error },
    perMinute: rate === undefined ? null : Math.round(rate.perMinute * 10) / 10,
    secondsLeft: rate?.leftMs === undefined ? null : Math.ceil(rate.leftMs / 1_000),
    by: actor.name,
    via,
    createdAt: new Date(run.createdAt).toISOString(),
    previewedAt: isoTime(stage === 'preview' && state === 'done' ? run.endedAt : run.previewedAt),
    confirmedAt: isoTime(run.confirmedAt),
    startedAt: isoTime(run.startedAt),
    endedAt: isoTime(run.endedAt),
  };
}

/** The facts of an item by name. */
export const itemFacts = ({ key, kind, detail }: RunItem): Readonly<Record<string, unknown>> => ({
  key,
  result: kind,
  ...JSON.parse(detail),
});

async function needRun(tx: Tx, id: number): Promise<Run> {
  const run = await findRun(tx, id);
  if (run === undefined) throw unknown('run');
  return run;
}

export const listRuns = defineOperation({
  name: 'run.list',
  role: 'viewer',
  about:
    'list runs, newest first: backfills, undoes, answers to many entries of review, deliveries sent again, and leaving a CRM',
  more: 'A filter that is absent does not restrict.',
  input: Type.Object({
    task: Type.Optional(Type.Enum(RUN_TASKS, { description: 'only runs of this kind' })),
    state: Type.Optional(Type.Enum(RUN_STATES, { description: 'only runs in this state' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, default: 100, description: 'How many at most' })),
  }),
  api: {
    method: 'GET',
    path: '/runs',
    operationId: 'listRuns',
    status: 200,
    answer: Type.Array(runView, { description: 'The runs' }),
  },
  async read(db, { limit = 100, ...filter }, { now }) {
    const runs = await listStored(db, filter, limit);
    return { value: runs.map((run) => viewOf(run, now)) };
  },
});

export const showRun = defineOperation({
  name: 'run.show',
  role: 'operator',
  about: 'show a run with its results, those that need a person first',
  input: Type.Object({
    run: runId,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST, default: 100, description: 'How many results at most' }),
    ),
  }),
  api: { method: 'GET', path: '/runs/:run', operationId: 'showRun', status: 200, answer: shownRun, refusals: REFUSALS },
  async read(db, { run: id, limit = 100 }, { now }) {
    const run = await findRun(db, id);
    if (run === undefined) throw unknown('run');
    const results = [...(await countItems(db, id))].map(([kind, count]) => ({ kind, count }));
    const items = (await readItems(db, id, limit, taskOf(run).fine)).map(itemFacts);
    return { value: { ...viewOf(run, now), results, items } };
  },
});

type Step = 'begun' | 'cancelled' | 'ended';

const stepView = Type.Object({
  id: runId,
  result: Type.Enum(['begun', 'cancelled', 'ended'], { description: 'ended: it had ended before' }),
});

export const confirmRun = defineOperation({
  name: 'run.confirm',
  role: 'operator',
  about: 'carry out what the preview of a run showed',
  input: one,
  api: {
    method: 'POST',
    path: '/runs/:run/confirm',
    operationId: 'confirmRun',
    status: 200,
    answer: stepView,
    refusals: { ...REFUSALS, 409: 'It has no preview that waits for a confirmation, or what it is about has changed' },
  },
  async change(
    tx,
    { run: id },
    { now, actor, via, role }: Moment,
  ): Promise<Done<{ readonly id: number; readonly result: Step }>> {
    const run = await needRun(tx, id);
    if (!mayConfirm(run, role)) throw new Refused('conflict', 'only an administrator may confirm this run');
    await confirmStored(tx, taskOf(run), { id, actor, via }, now);
    return { value: { id, result: 'begun' } };
  },
});

export const cancelRun = defineOperation({
  name: 'run.cancel',
  role: 'operator',
  about: 'stop a run before its next step; what is done stays done',
  input: one,
  api: {
    method: 'POST',
    path: '/runs/:run/cancel',
    operationId: 'cancelRun',
    status: 200,
    answer: stepView,
    refusals: REFUSALS,
  },
  async change(
    tx,
    { run: id },
    { now, actor, via }: Moment,
  ): Promise<Done<{ readonly id: number; readonly result: Step }>> {
    const run = await needRun(tx, id);
    const isStopped = await cancelStored(tx, taskOf(run), { id, actor, via }, now);
    return { value: { id, result: isStopped ? 'cancelled' : 'ended' } };
  },
});
