/** `parked`: what needs a person, and what the person decided. */
import {
  type Attention,
  dropAttention,
  type Resolved,
  readAttention,
  readDifferent,
  retryAttention,
} from '../connector/attention.ts';
import { countDifferences, type DifferenceFilter } from '../connector/differences.ts';
import { UPSTREAM_ACCOUNT } from '../connector/upstream.ts';
import { readBlocks } from '../runtime/rate.ts';
import type { Store, Tx } from '../store/open.ts';
import { defineCommand, flag, integer, many, oneOf, text, UsageError } from './command.ts';
import type { Context } from './context.ts';
import { shownTime, withStore } from './opened.ts';

const KINDS = ['lane', 'link', 'value', 'body', 'difference'] as const;
/** Resolved in one transaction: long enough to be quick, short enough not to hold up the daemon. */
const CHUNK = 200;
const SHOWN = 100;

/** What narrows a list of differences. */
const narrow = {
  provider: text('with --kind difference: only in this CRM', 'name'),
  property: text('with --kind difference: only this property of the CRM', 'name'),
};

const list = defineCommand({
  name: 'list',
  about: 'show what needs a person, each with an id for retry and drop; exit code 3 where there is something',
  options: {
    kind: oneOf(KINDS, 'only this kind; differences are shown by it alone'),
    ...narrow,
    limit: integer(`show at most so many (default ${SHOWN})`),
  },
  run: (context, _args, { kind, limit, ...filter }) => {
    needDifference(kind, filter);
    return kind === 'difference' ? showDifferences(context, filter, limit) : show(context, kind, limit);
  },
});

const retry = defineCommand({
  name: 'retry',
  about: 'try parked work, set-aside values and links in doubt again; let the register win over a difference, once',
  args: { ids: many('ids as `parked list` shows them') },
  options: {
    all: flag(
      'all that is listed but decisions: brakes never, links in conflict and differences where --kind names them',
    ),
    kind: oneOf(KINDS, 'with --all: only this kind'),
    ...narrow,
  },
  run: (context, { ids }, { all, kind, ...filter }) => resolve(context, retryAttention, ids, { all, kind, ...filter }),
});

const drop = defineCommand({
  name: 'drop',
  about: 'give parked work up, forget set-aside values, remove links in doubt, delete bodies, hold a difference',
  args: { ids: many('ids as `parked list` shows them') },
  options: {
    all: flag('everything of the kind that is named by --kind'),
    kind: oneOf(KINDS, 'with --all: this kind'),
    ...narrow,
  },
  run: (context, { ids }, { all, kind, ...filter }) => {
    if (all && kind === undefined) throw new UsageError('say what to give up: --all goes with --kind');
    return resolve(context, dropAttention, ids, { all, kind, ...filter });
  },
});

export const command = defineCommand({
  name: 'parked',
  about: 'work that needs a person: list, retry, drop',
  commands: [list, retry, drop],
  run: (context) => show(context, undefined, undefined),
});

function needDifference(kind: Attention['kind'] | undefined, { provider, property }: DifferenceFilter): void {
  if (kind !== 'difference' && (provider !== undefined || property !== undefined))
    throw new UsageError('--provider and --property narrow differences: add --kind difference');
}

async function show(context: Context, kind: Attention['kind'] | undefined, limit = SHOWN): Promise<0 | 3> {
  const { output } = context;
  const { found, differences, blocks } = await withStore(context, async ({ db }) => ({
    found: await readAttention(db),
    differences: kind === undefined ? await countDifferences(db) : 0,
    blocks: kind === undefined ? await readBlocks(db, Date.now()) : [],
  }));
  const chosen = found.filter((each) => kind === undefined || each.kind === kind);
  print(context, chosen.slice(0, limit), chosen.length);
  if (differences > 0)
    output.line(
      `${differences} properties hold another value than the register, and are kept: parked list --kind difference.`,
    );
  for (const { account, until, reason } of blocks)
    output.line(
      `${account === UPSTREAM_ACCOUNT ? 'The monitoring service' : account} is not called before ${shownTime(until)}: ${reason ?? 'no reason kept'}. What is to be done there waits; cvrsync check says more.`,
    );
  return chosen.length > 0 ? 3 : 0;
}

async function showDifferences(context: Context, filter: DifferenceFilter, limit = SHOWN): Promise<0 | 3> {
  const { found, count } = await withStore(context, async ({ db }) => ({
    found: await readDifferent(db, filter, limit),
    count: await countDifferences(db, filter),
  }));
  print(context, found, count);
  return count > 0 ? 3 : 0;
}

function print({ json, log, output }: Context, shown: readonly Attention[], count: number): void {
  if (json) {
    output.result(shown, '');
    if (shown.length < count) log.warn({ all: count, limit: shown.length }, 'there is more: raise --limit');
    return;
  }
  output.table(
    shown.map(({ id, about, reason, since, advice }) => ({ id, about, since: shownTime(since), reason, advice })),
    'Nothing needs a person.',
  );
  if (shown.length < count) output.line(`… and ${count - shown.length} more: see --limit and --kind.`);
}

type Resolve = (tx: Tx, id: string, now: number) => Promise<Resolved>;

interface Chosen extends DifferenceFilter {
  readonly all: boolean;
  readonly kind: Attention['kind'] | undefined;
}

async function resolve(context: Context, one: Resolve, ids: readonly string[], chosen: Chosen): Promise<0 | 1 | 3> {
  const { all, kind } = chosen;
  if (ids.length === 0 && !all) throw new UsageError('name at least one id from `cvrsync parked list`, or use --all');
  if (ids.length > 0 && all) throw new UsageError('name ids, or use --all: not both');
  needDifference(all ? kind : 'difference', chosen);
  const leftOut: string[] = [];
  const results = await withStore(context, async (store) => {
    if (!all) return resolveAll(store, one, ids);
    if (kind === 'difference') return resolveDifferences(store, one, chosen);
    // Bodies cannot be retried; --all is not to fail on them.
    const found = (await readAttention(store.db)).filter((each) =>
      kind === undefined ? each.kind !== 'body' : each.kind === kind,
    );
    // Who tries all again after an outage has not decided anything.
    const isLeft = ({ decides }: Attention): boolean => one === retryAttention && decides && kind !== 'link';
    leftOut.push(...found.filter(isLeft).map(({ id }) => id));
    return resolveAll(
      store,
      one,
      found.filter((each) => !isLeft(each)).map(({ id }) => id),
    );
  });
  const failed = results.filter(({ result }) => result.kind !== 'done').length;
  if (context.json) context.output.result(results, '');
  else {
    for (const { id, result } of results) context.output.line(`${id}: ${told(result)}`);
    if (results.length + leftOut.length === 0) context.output.line('Nothing of that kind is there.');
    if (leftOut.length > 0) context.output.line(`Left for you to decide, by id: ${leftOut.join(', ')}`);
  }
  if (failed > 0) return 1;
  return leftOut.length > 0 ? 3 : 0;
}

/** What is settled leaves the list, so each page is the first one. One that another settled meanwhile is left out. */
async function resolveDifferences(store: Store, one: Resolve, filter: DifferenceFilter): Promise<Result[]> {
  const results: Result[] = [];
  for (;;) {
    const page = await readDifferent(store.db, filter, CHUNK);
    if (page.length === 0) return results;
    const resolved = await resolveAll(
      store,
      one,
      page.map(({ id }) => id),
    );
    results.push(...resolved.filter(({ result }) => result.kind === 'done'));
  }
}

interface Result {
  readonly id: string;
  readonly result: Resolved;
}

async function resolveAll(store: Store, one: Resolve, ids: readonly string[]): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = await store.write(async (tx) => {
      const resolved: Result[] = [];
      for (const id of ids.slice(start, start + CHUNK)) resolved.push({ id, result: await one(tx, id, Date.now()) });
      return resolved;
    });
    results.push(...chunk);
  }
  return results;
}

const told = (result: Resolved): string => {
  if (result.kind === 'done') return result.note;
  return result.kind === 'impossible' ? result.reason : 'not there (any more): see `cvrsync parked list`';
};
