/** `review`: shows what needs a person, and applies the person's answer. */

import type { DifferenceFilter } from '../../connector/history/difference-rows.ts';
import { countDifferences } from '../../connector/history/differences.ts';
import { canTakeBack } from '../../connector/review/given-answers.ts';
import {
  KINDS_FOR_ALL,
  kindsFor,
  REVIEW_KINDS,
  type ReviewEntry,
  type ReviewVerb,
  VERBS,
} from '../../connector/review/review-kinds.ts';
import {
  COUNTED,
  countReview,
  readDifferent,
  readReview,
  shownAccount,
  shownCount,
} from '../../connector/review/review-list.ts';
import { hasCopy, readCopy } from '../../connector/review/unreadable-entries.ts';
import { needsPerson, readBlocks } from '../../runtime/limits/blocks.ts';
import type { Db } from '../../store/store.ts';
import { withStore } from '../arguments/with-store.ts';
import {
  type Command,
  defineCommand,
  type ExitCode,
  flag,
  many,
  oneOf,
  positive,
  text,
  UsageError,
} from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { ago, shownTime, timeCell } from '../cli/when.ts';
import { answerNamed, resultText } from './answer.ts';
import { answerAll } from './answer-all.ts';
import { answered, takeBackCommand } from './take-back.ts';

type Kind = ReviewEntry['kind'];

/** A listed entry, with the received body if it was unreadable. */
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
    limit: positive(`show at most this many (default ${SHOWN})`),
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
}

const ANSWERS: Readonly<Record<ReviewVerb, Answer>> = {
  retry: {
    examples: ['review retry lane/apply/CVR-1-10000001', 'review retry --all --kind value'],
    about: 'retry failed work, refused values, refused links and paused accounts',
    all: 'retry everything that failed; decisions stay',
  },
  drop: {
    examples: ['review drop body/17', 'review drop --all --kind value'],
    about: 'drop failed work, forget refused values, remove refused links, delete unreadable bodies, discard events',
    all: 'drop everything that failed of the kind that --kind names; decisions stay',
  },
  accept: {
    examples: ['review accept link/hubspot/1234567890', 'review accept --all --kind difference --property phone'],
    about:
      'decide for the register: write its value once, confirm a link in conflict, link a suggested company, end the links that the safety limit stopped',
    all: 'all differences, or all links in conflict with --kind link, or all suggestions with --kind match; name the safety limit by its id',
  },
  keep: {
    examples: ['review keep match/hubspot/1234567890', 'review keep --all --kind difference --provider hubspot'],
    about:
      'decide for the CRM: hold its value, remove a link in conflict, reject a suggested company, keep the links that the safety limit stopped',
    all: 'all differences, or all links in conflict with --kind link, or all suggestions with --kind match; name the safety limit by its id',
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
      about,
      examples,
      args,
      options: shared,
      run: (context, { ids }, chosen) => answer(context, verb, ids, chosen),
    });
  return defineCommand({
    name: verb,
    operation: `review.${verb}`,
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
      `${shownAccount(account)} is not called before ${shownTime(until)}: ${reason ?? 'no reason stored'}. Work for it waits, and resumes by itself.`,
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

/** How far to count, so that a larger `--limit` still shows whether there are more. */
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
  const { yes, all: _, ...filter } = chosen;
  checkChoice(verb, ids, chosen);
  return withStore(context, async (store) => {
    if (chosen.all) return answerAll(context, store, { verb, ...filter }, yes);
    const results = await answerNamed(store, verb, ids);
    context.output.result(results, results.map((each) => `${each.id}: ${resultText(each)}`).join('\n'));
    return results.every(({ result }) => result.kind === 'done') ? 0 : 1;
  });
}

function checkChoice(verb: ReviewVerb, ids: readonly string[], chosen: Chosen): void {
  const { all, kind } = chosen;
  if (ids.length === 0 && !all) throw new UsageError('name at least one id from `cvrsync review list`, or use --all');
  if (ids.length > 0 && all) throw new UsageError('give ids or --all, not both');
  if (ids.length > 0 && kind !== undefined) throw new UsageError('--kind goes with --all');
  const kinds = kindsFor({ verb, kind });
  if (all && kinds.length === 0) throw new UsageError(`say what to ${verb}: --all goes with --kind`);
  if (!all || !kinds.includes('difference')) needNoFilter(chosen, 'they go with --all');
}
