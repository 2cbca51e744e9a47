/** `runs`: shows, confirms and cancels what the daemon does to many things at once. */
import type { Ground } from '../operations/definition/operation.ts';
import { cancelRun, confirmRun, listRuns, showRun } from '../operations/installation/runs.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { shownTime } from './cli/when.ts';
import { operationCommand } from './operations/operation-command.ts';

type Work = (ground: Ground) => Promise<ExitCode>;

const face = {
  args: ['run'],
  names: { run: 'id' },
  hint: 'see cvrsync runs list',
  open: (context: CommandContext, work: Work) => withStore(context, (store) => work({ store, now: Date.now })),
};

const timeOf = (time: string | null): string => (time === null ? '' : shownTime(Date.parse(time)));
const ofAll = ({ done, total }: { readonly done: number; readonly total: number | null }): string =>
  total === null ? String(done) : `${done} of ${total}`;
const left = (seconds: number | null): string => (seconds === null ? '' : `${seconds} s`);

const list = operationCommand(listRuns, {
  name: 'list',
  examples: ['runs list', 'runs list --state running'],
  open: face.open,
  show({ output, json }, runs) {
    if (json) return output.result(runs);
    const rows = runs.map((run) => ({
      id: run.id,
      task: run.task,
      stage: run.stage,
      state: run.state,
      done: ofAll(run),
      left: left(run.secondsLeft),
      by: run.by,
      asked: timeOf(run.createdAt),
      ended: timeOf(run.endedAt),
    }));
    return output.table(rows, 'There are no runs.');
  },
});

const show = operationCommand(showRun, {
  ...face,
  name: 'show',
  examples: ['runs show 12', 'runs show 12 --json'],
  show({ output, json }, run) {
    if (json) return output.result(run);
    const lines = [
      `Run ${run.id}: ${run.action} ${JSON.stringify(run.input)}`,
      `${run.stage} ${run.state}${run.error === null ? '' : `: ${run.error}`}, ${ofAll(run)}, asked for by ${run.by} (${run.via})`,
      ...[
        ['asked', run.createdAt],
        ['previewed', run.previewedAt],
        ['confirmed', run.confirmedAt],
        ['ended', run.endedAt],
      ].flatMap(([stage, at]) => (at == null ? [] : `  ${stage} ${timeOf(at)}`)),
      ...(run.perMinute === null ? [] : [`  ${run.perMinute} a minute`]),
      ...(run.secondsLeft === null ? [] : [`  about ${left(run.secondsLeft)} left`]),
      ...run.results.map(({ kind, count }) => `${String(count).padStart(8)}  ${kind}`),
    ];
    for (const line of lines) output.line(line);
    if (run.items.length > 0) output.table(run.items.map(rowOf));
    const all = run.results.reduce((sum, { count }) => sum + count, 0);
    if (all > run.items.length) output.line(`… and ${all - run.items.length} more: see --limit.`);
  },
});

const rowOf = ({ key: _, ...facts }: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      value === null ? '(blank)' : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

const RESULTS = {
  begun: 'has begun: the daemon carries it out',
  cancelled: 'is cancelled: what is done stays done',
  ended: 'had ended before',
} as const;

const steps = [
  operationCommand(confirmRun, {
    ...face,
    name: 'confirm',
    examples: ['runs confirm 12'],
    show: ({ output }, step) => output.result(step, `Run ${step.id} ${RESULTS[step.result]}.`),
  }),
  operationCommand(cancelRun, {
    ...face,
    name: 'cancel',
    examples: ['runs cancel 12'],
    show: ({ output }, step) => output.result(step, `Run ${step.id} ${RESULTS[step.result]}.`),
  }),
];

export const command = defineCommand({
  name: 'runs',
  about: 'show what the daemon does to many things at once, and confirm or cancel it: list, show, confirm, cancel',
  commands: [list, show, ...steps],
});
