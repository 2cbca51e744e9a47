/** `review`: shows what needs a person, and applies the person's answer. */

import type { DifferenceFilter } from '../connector/history/difference-rows.ts';
import { countDifferences } from '../connector/history/differences.ts';
import { canTakeBack } from '../connector/review/given-answers.ts';
import {
  KINDS_FOR_ALL,
  REVIEW_KINDS,
  type ReviewEntry,
  type ReviewVerb,
  VERBS,
} from '../connector/review/review-kinds.ts';
import {
  COUNTED,
  countReview,
  readDifferent,
  readReview,
  shownAccount,
  shownCount,
} from '../connector/review/review-list.ts';
import { hasCopy, readCopy } from '../connector/review/unreadable-entries.ts';
import { needsPerson, readBlocks } from '../runtime/limits/blocks.ts';
import type { Db } from '../store/store.ts';
import { withStore } from './arguments/with-store.ts';
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  integer,
  many,
  oneOf,
  text,
  UsageError,
} from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { ago, shownTime, timeCell } from './cli/when.ts';
import { type Answered, answerReview, type Choice, hasFailed, type Result } from './review/answer.ts';
import { answered, takeBackCommand } from './review/take-back.ts';

type Kind = ReviewEntry['kind'];

/** A listed entry, with the received body if nobody could read it. */
type ListedEntry = ReviewEntry & { readonly body?: string | undefined };

const SHOWN = 100;

const narrow = {
  provider: text('only differences in this CRM', 'name'),
  property: text('only differences of this property in the CRM', 'name'),
};

const list = defineCommand({
  name: 'list',
  examples: ['review list', 'review list --kind difference --provider hubspot'],
  about: 'show what needs a person, each with an id and the answers it takes; exit code 3 if there is something',
  options: {
    kind: oneOf(
      REVIEW_KINDS,
      'only this kind; differences need it. With --json, `body` holds a received body or document',
    ),
    ...narrow,
    limit: integer(`show at most this many (default ${SHOWN})`),
  },
  run: (context, _args, { kind, limit, ...filter }) => {
    if (kind !== 'difference') needNoFilter(filter, 'add --kind difference');
    return kind === 'difference' ? showDifferences(context, filter, limit) : show(context, kind, limit);
  },
});

/** The help texts of a verb, and what `--all` covers. */
interface Answer {
  readonly about: string;
  readonly examples: readonly string[];
  readonly all: string;
  /** What `--all` covers without a `--kind`; undefined if `--kind` is required. */
  readonly byDefault: readonly Kind[] | undefined;
}

const ANSWERS: Readonly<Record<ReviewVerb, Answer>> = {
  retry: {
    examples: ['review retry lane/apply/CVR-1-10000001', 'review retry --all --kind value'],
    about: 'retry failed work, refused values, refused links and paused accounts',
    all: 'retry everything that failed; decisions stay',
    byDefault: ['account', 'lane', 'link', 'value'],
  },
  drop: {
    examples: ['review drop body/17', 'review drop --all --kind value'],
    about: 'drop failed work, forget refused values, remove refused links, delete unreadable bodies, discard events',
    all: 'drop everything that failed of the kind that --kind names; decisions stay',
    byDefault: undefined,
  },
  accept: {
    examples: ['review accept link/hubspot/1234567890', 'review accept --all --kind difference --property phone'],
    about:
      'decide for the register: write its value once, confirm a link in conflict, link a suggested company, end the links that the safety limit stopped',
    all: 'all differences, or all links in conflict with --kind link, or all suggestions with --kind match; name the safety limit by its id',
    byDefault: ['difference'],
  },
  keep: {
    examples: ['review keep match/hubspot/1234567890', 'review keep --all --kind difference --provider hubspot'],
    about:
      'decide for the CRM: hold its value, remove a link in conflict, reject a suggested company, keep the links that the safety limit stopped',
    all: 'all differences, or all links in conflict with --kind link, or all suggestions with --kind match; name the safety limit by its id',
    byDefault: ['difference'],
  },
};

export const command = defineCommand({
  name: 'review',
  examples: ['review'],
  about: 'show and resolve what needs a person: retry or drop failed work, accept or keep a value, take answers back',
  commands: [list, ...VERBS.map(answering), answered, takeBackCommand],
  run: (context) => show(context, undefined, undefined),
});

function answering(verb: ReviewVerb): Command {
  const { about, all, examples } = ANSWERS[verb];
  const kinds: readonly Kind[] = KINDS_FOR_ALL[verb];
  const shared = {
    all: flag(all),
    kind: oneOf(kinds, 'with --all: only this kind'),
    yes: flag('with --all: do not ask'),
  };
  const args = { ids: many('ids as `review list` shows them') };
  if (!kinds.includes('difference'))
    return defineCommand({
      name: verb,
      operation: `review.${verb}`,
      audit: { action: `review.${verb}`, where: 'all' },
      about,
      examples,
      args,
      options: shared,
      run: (context, { ids }, chosen) => answer(context, verb, ids, chosen),
    });
  return defineCommand({
    name: verb,
    operation: `review.${verb}`,
    audit: { action: `review.${verb}`, where: 'all' },
    about,
    examples,
    args,
    options: { ...shared, ...narrow },
    run: (context, { ids }, chosen) => answer(context, verb, ids, chosen),
  });
}

function needNoFilter({ provider, property }: DifferenceFilter, advice: string): void {
  if (provider !== undefined || property !== undefined)
    throw new UsageError(`--provider and --property narrow differences: ${advice}`);
}

async function show(context: CommandContext, kind: Kind | undefined, limit = SHOWN): Promise<ExitCode> {
  const { output } = context;
  const kinds = kind === undefined ? undefined : [kind];
  const { found, count, differences, blocks } = await withStore(context, async ({ db }) => ({
    found: await withCopies(context, db, kind, await readReview(db, Date.now(), { kinds, limit })),
    count: await countReview(db, Date.now(), { kinds, limit: countedFor(limit) }),
    differences: kind === undefined ? await countDifferences(db, Date.now(), {}, COUNTED + 1) : 0,
    blocks: kind === undefined ? await readBlocks(db, Date.now()) : [],
  }));
  const paused = blocks.filter((block) => !needsPerson(block));
  print(context, found, count, paused.length > 0 ? 'Nothing failed.' : NOBODY);
  if (differences > 0) output.line(differencesLine(differences));
  for (const { account, until, reason } of paused)
    output.line(
      `${shownAccount(account)} is not called before ${shownTime(until)}: ${reason ?? 'no reason kept'}. Work for it waits, and resumes by itself.`,
    );
  return count > 0 ? 3 : 0;
}

/** Adds the stored copies of entries of one kind, for programs: they are too long for a table. */
async function withCopies(
  { json }: CommandContext,
  db: Db,
  kind: Kind | undefined,
  found: readonly ReviewEntry[],
): Promise<readonly ListedEntry[]> {
  if (!json || !hasCopy(kind)) return found;
  return Promise.all(found.map(async (each) => ({ ...each, body: await readCopy(db, each.id) })));
}

async function showDifferences(context: CommandContext, filter: DifferenceFilter, limit = SHOWN): Promise<ExitCode> {
  const { found, count } = await withStore(context, async ({ db }) => ({
    found: await readDifferent(db, Date.now(), filter, limit),
    count: await countDifferences(db, Date.now(), filter, countedFor(limit)),
  }));
  print(context, found, count, NOBODY);
  return count > 0 ? 3 : 0;
}

const NOBODY = 'Nothing needs a person.';

const differencesLine = (count: number): string =>
  `${count === 1 ? '1 property holds another value than the register, and is' : `${shownCount(count)} properties hold another value than the register, and are`} kept: cvrsync review list --kind difference.`;

function print(
  { json, log, output }: CommandContext,
  shown: readonly ListedEntry[],
  count: number,
  empty: string,
): void {
  if (json) {
    output.result(
      shown.map(({ revision: _, ...entry }) => ({
        ...entry,
        takeBack: entry.verbs.filter((verb) => canTakeBack(verb, entry.kind)),
      })),
      '',
    );
    if (shown.length < count)
      log.warn(
        { all: count > COUNTED ? shownCount(count) : count, limit: shown.length },
        'there is more: raise --limit',
      );
    return;
  }
  output.table(
    shown.map(({ id, kind, about, reason, since, advice, verbs, editor }) => {
      const edited =
        editor === undefined
          ? ''
          : `; ${editor.name} edited it ${ago(editor.at, Date.now())}, at ${shownTime(editor.at)}`;
      return {
        id,
        about,
        since: timeCell(since),
        reason: `${reason}${edited}`,
        advice: `${advice}${finalNote(kind, verbs)}`,
      };
    }),
    empty,
  );
  if (shown.length < count) output.line(`… and ${shownMore(shown.length, count)}: see --limit and --kind.`);
}

/** Names the answers that cannot be taken back. */
function finalNote(kind: Kind, verbs: readonly ReviewVerb[]): string {
  const final = verbs.filter((verb) => !canTakeBack(verb, kind));
  return final.length === 0 ? '' : `; cannot be taken back: ${final.join(', ')}`;
}

/** How far to count, so that a larger `--limit` still learns whether there is more. */
const countedFor = (limit: number): number => Math.max(COUNTED, limit) + 1;

const shownMore = (shown: number, count: number): string =>
  count > COUNTED ? `more, ${shownCount(count)} in all` : `${count - shown} more`;

interface Chosen extends DifferenceFilter {
  readonly all: boolean;
  readonly kind: Kind | undefined;
  readonly yes: boolean;
}

async function answer(
  context: CommandContext,
  verb: ReviewVerb,
  ids: readonly string[],
  chosen: Chosen,
): Promise<ExitCode> {
  const choice = choiceOf(verb, ids, chosen);
  const mayTake = (count: number): Promise<boolean> | boolean =>
    count === 0 || confirmMany(context, chosen.yes, questionOf(verb, count), 'name ids from `cvrsync review list`');
  const outcome = await withStore(context, (store) =>
    answerReview(store, choice, { verb, mayTake, keepResults: context.json }),
  );
  if (outcome === undefined) {
    context.output.result([], 'Nothing was done.');
    return 1;
  }
  if (context.json) context.output.result(outcome.results, '');
  else for (const line of linesOf(outcome, chosen.all)) context.output.line(line);
  if (outcome.results.some(hasFailed)) return 1;
  return outcome.leftOut.length > 0 ? 3 : 0;
}

function choiceOf(verb: ReviewVerb, ids: readonly string[], chosen: Chosen): Choice {
  const { all, kind, provider, property } = chosen;
  if (ids.length === 0 && !all) throw new UsageError('name at least one id from `cvrsync review list`, or use --all');
  if (ids.length > 0 && all) throw new UsageError('give ids or --all, not both');
  if (ids.length > 0 && kind !== undefined) throw new UsageError('--kind goes with --all');
  const kinds = kind === undefined ? ANSWERS[verb].byDefault : [kind];
  if (all && kinds === undefined) throw new UsageError(`say what to ${verb}: --all goes with --kind`);
  if (!all || !kinds?.includes('difference')) needNoFilter(chosen, 'they go with --all');
  return all ? { kinds, filter: { provider, property } } : { ids };
}

const questionOf = (verb: ReviewVerb, count: number): string =>
  `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${count === 1 ? '1 entry' : `${count} entries`} of review?`;

function linesOf({ count, notes, results, leftOut }: Answered, all: boolean): readonly string[] {
  const lines = results.map(({ id, result }) => `${id}: ${resultText(result)}`);
  const summary = [...notes].map(([note, of]) => (notes.size === 1 ? note : `${note} (${of})`)).join(', ');
  if (all && count > 0) lines.push(`${count === 1 ? '1 entry' : `${count} entries`}: ${summary}`);
  if (count + leftOut.length === 0) lines.push('There is nothing of that kind.');
  if (leftOut.length > 0) lines.push(`Left for you to decide, by id: ${leftOut.join(', ')}`);
  return lines;
}

const resultText = (result: Result['result']): string => {
  if (result.kind === 'done') return result.note;
  if (result.kind === 'changed') return 'not done: it changed since it was listed';
  return result.kind === 'impossible' ? result.reason : 'not there (any more): see `cvrsync review list`';
};
