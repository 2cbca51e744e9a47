/** `parked`: what needs a person, and what the person decided. */
import { type Attention, dropAttention, type Resolved, readAttention, retryAttention } from '../connector/attention.ts';
import type { Store, Tx } from '../store/open.ts';
import { defineCommand, flag, integer, many, oneOf, UsageError } from './command.ts';
import type { Context } from './context.ts';
import { shownTime, withStore } from './opened.ts';

const KINDS = ['lane', 'link', 'value', 'body'] as const;
/** Resolved in one transaction: long enough to be quick, short enough not to hold up the daemon. */
const CHUNK = 200;
const SHOWN = 100;

const list = defineCommand({
  name: 'list',
  about: 'show what needs a person, each with an id for retry and drop; exit code 3 where there is something',
  options: { kind: oneOf(KINDS, 'only this kind'), limit: integer(`show at most so many (default ${SHOWN})`) },
  run: (context, _args, { kind, limit }) => show(context, kind, limit),
});

const retry = defineCommand({
  name: 'retry',
  about: 'try parked work, set-aside values and links in doubt again',
  args: { ids: many('ids as `parked list` shows them') },
  options: { all: flag('everything that is listed'), kind: oneOf(KINDS, 'with --all: only this kind') },
  run: (context, { ids }, { all, kind }) => resolve(context, retryAttention, ids, all, kind),
});

const drop = defineCommand({
  name: 'drop',
  about: 'give parked work up, forget set-aside values, remove links in doubt, delete bodies',
  args: { ids: many('ids as `parked list` shows them') },
  run: (context, { ids }) => resolve(context, dropAttention, ids, false, undefined),
});

export const command = defineCommand({
  name: 'parked',
  about: 'work that needs a person: list, retry, drop',
  commands: [list, retry, drop],
  run: (context) => show(context, undefined, undefined),
});

async function show(context: Context, kind: Attention['kind'] | undefined, limit = SHOWN): Promise<0 | 3> {
  const { output } = context;
  const found = await withStore(context, (store) => readAttention(store.db));
  const chosen = found.filter((each) => kind === undefined || each.kind === kind);
  const shown = chosen.slice(0, limit);
  if (context.json) output.result(shown, '');
  else {
    output.table(
      shown.map(({ id, about, reason, since, advice }) => ({ id, about, since: shownTime(since), reason, advice })),
      'Nothing needs a person.',
    );
    if (shown.length < chosen.length)
      output.line(`… and ${chosen.length - shown.length} more: see --limit and --kind.`);
  }
  return chosen.length > 0 ? 3 : 0;
}

type Resolve = (tx: Tx, id: string, now: number) => Promise<Resolved>;

async function resolve(
  context: Context,
  one: Resolve,
  ids: readonly string[],
  all: boolean,
  kind: Attention['kind'] | undefined,
): Promise<0 | 1> {
  if (ids.length === 0 && !all)
    throw new UsageError('name at least one id from `cvrsync parked list`, or use --all with retry');
  if (ids.length > 0 && all) throw new UsageError('name ids, or use --all: not both');
  const results = await withStore(context, async (store) => {
    // Bodies cannot be retried; --all is not to fail on them.
    const retryable = all
      ? (await readAttention(store.db)).filter((each) =>
          kind === undefined ? each.kind !== 'body' : each.kind === kind,
        )
      : [];
    return resolveAll(store, one, all ? retryable.map(({ id }) => id) : ids);
  });
  const failed = results.filter(({ result }) => result.kind !== 'done').length;
  if (context.json) context.output.result(results, '');
  else {
    for (const { id, result } of results) context.output.line(`${id}: ${told(result)}`);
    if (results.length === 0) context.output.line('Nothing to retry.');
  }
  return failed > 0 ? 1 : 0;
}

async function resolveAll(
  store: Store,
  one: Resolve,
  ids: readonly string[],
): Promise<{ id: string; result: Resolved }[]> {
  const results: { id: string; result: Resolved }[] = [];
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = await store.write(async (tx) => {
      const resolved: { id: string; result: Resolved }[] = [];
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
