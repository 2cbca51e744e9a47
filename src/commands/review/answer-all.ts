/** Gives an operator's answer to all entries of a kind, as a run. */
import { kindsFor, type ReviewKind, type ReviewVerb } from '../../connector/review/review-kinds.ts';
import { readReview } from '../../connector/review/review-list.ts';
import { type PlannedAnswer, pageEntries, reviewWork } from '../../connector/review/review-task.ts';
import { requestAnswers } from '../../operations/connector/run-requests.ts';
import { confirmRun } from '../../operations/installation/runs.ts';
import { countItems } from '../../runtime/runs/run-items.ts';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { ExitCode } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { countOf } from '../cli/count-of.ts';
import { performHere } from '../operations/operation-command.ts';
import { isOpen, openLines, runCarrier, syncs, withRunWorker } from '../progress/carry-out-run.ts';
import { type Result, resultText } from './answer.ts';

export interface AnswerToAll {
  readonly verb: ReviewVerb;
  readonly kind: ReviewKind | undefined;
  readonly provider?: string | undefined;
  readonly property?: string | undefined;
}

/** Answers all entries of the filter, after the operator confirms. */
export async function answerAll(
  context: CommandContext,
  store: Store,
  answer: AnswerToAll,
  yes: boolean,
): Promise<ExitCode> {
  const ground = { store, now: Date.now };
  const { id } = await performHere(requestAnswers, answer, ground);
  const carryOut = runCarrier(context, store, {
    works: syncs,
    withWorkers: (run, during) => withRunWorker(context, store, { id: run, work: reviewWork(ground) }, during),
    about: 'answering',
  });
  const previewed = await carryOut(id);
  if (previewed.state !== 'done') return report(context, store, answer, previewed);
  const count = (await countItems(store.db, id)).get('planned') ?? 0;
  if (count === 0) return report(context, store, answer, previewed);
  if (!(await confirmMany(context, yes, questionOf(answer, count), 'name ids from `cvrsync review list`'))) {
    context.output.result([], 'Nothing was done.');
    return 1;
  }
  await performHere(confirmRun, { run: id }, ground);
  return report(context, store, answer, await carryOut(id));
}

const entries = (count: number): string => countOf(count, 'entry', 'entries');

const questionOf = ({ verb }: AnswerToAll, count: number): string =>
  `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${entries(count)} of review?`;

async function report(
  context: CommandContext,
  store: Store,
  answer: AnswerToAll,
  run: StoredRun<unknown>,
): Promise<ExitCode> {
  const { output, json } = context;
  const { verb, ...options } = answer;
  const next = commandLine(context, `review ${verb}`, { all: true, ...options });
  if (run.state === 'failed') throw new Error(`run ${run.id} failed: ${run.error}. To continue: ${next}`);
  const outcome = await readOutcome(store, run, json);
  const leftOut = await leftToDecide(store, answer);
  if (json) output.result(outcome.results, '');
  else {
    for (const line of linesOf(outcome)) output.line(line);
    for (const line of endingLines(run, next)) output.line(line);
    if (run.state === 'done' && outcome.count + leftOut.length === 0) output.line('There is nothing of that kind.');
    if (leftOut.length > 0) output.line(`Left for you to decide, by id: ${leftOut.join(', ')}`);
  }
  if (run.state !== 'done' || outcome.results.some(({ result }) => result.kind !== 'done')) return 1;
  return leftOut.length > 0 ? 3 : 0;
}

function linesOf({ count, notes, results }: Outcome): readonly string[] {
  const lines = results.map((each) => `${each.id}: ${resultText(each)}`);
  const summary = [...notes].map(([note, of]) => (notes.size === 1 ? note : `${note} (${of})`)).join(', ');
  return count === 0 ? lines : [...lines, `${entries(count)}: ${summary}`];
}

/** How to continue a run that is not done. */
function endingLines(run: StoredRun<unknown>, next: string): readonly string[] {
  if (isOpen(run)) return openLines(run, next);
  return run.state === 'cancelled' ? [`Run ${run.id} was cancelled. To continue: ${next}`] : [];
}

/** The results are counted, because there may be a million. */
interface Outcome {
  readonly count: number;
  /** How many ended with the same note. */
  readonly notes: ReadonlyMap<string, number>;
  /** All of them, or those that are not done. */
  readonly results: readonly (Result & { readonly run: number })[];
}

async function readOutcome({ db }: Store, { id: run }: StoredRun<unknown>, keepsAll: boolean): Promise<Outcome> {
  const notes = new Map<string, number>();
  const results: (Result & { readonly run: number })[] = [];
  let count = 0;
  for await (const page of pageEntries(db, run))
    for (const entry of page) {
      const result = resultOf(entry);
      if (result === undefined) continue;
      const note = result.kind === 'done' ? result.note : 'not done';
      notes.set(note, (notes.get(note) ?? 0) + 1);
      count += 1;
      if (keepsAll || result.kind !== 'done') results.push({ id: entry.id, run, result });
    }
  return { results, notes, count };
}

/** Undefined if nobody answered it, or somebody else did. */
function resultOf({ result, note = '' }: PlannedAnswer): Result['result'] | undefined {
  switch (result) {
    case 'done':
      return { kind: 'done', note };
    case 'impossible':
      return { kind: 'impossible', reason: note };
    case 'changed':
      return { kind: 'changed' };
    default:
      return undefined;
  }
}

/** Ids that still need a decision, which a retry of everything after an outage does not make. */
async function leftToDecide({ db }: Store, { verb, kind }: AnswerToAll): Promise<readonly string[]> {
  if (verb !== 'retry' && verb !== 'drop') return [];
  const found = await readReview(db, Date.now(), { kinds: kindsFor({ verb, kind }) });
  return found.filter(({ decides }) => decides).map(({ id }) => id);
}
