/** Holds docs/model.md to the schema, to the types that describe it, and to the code that changes states. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moveLink } from '../src/connector/follow/move-link.ts';
import { endLink, LINK_STATES, linkRecord } from '../src/connector/links/links.ts';
import { canTakeBack } from '../src/connector/review/given-answers.ts';
import { KINDS_FOR_ALL, REVIEW_KINDS, VERBS } from '../src/connector/review/review-kinds.ts';
import { UNDO } from '../src/connector/undo/undo-task.ts';
import { counts } from '../src/runtime/lanes/count-lanes.ts';
import { drop, park, unpark } from '../src/runtime/lanes/lane-state.ts';
import { claim, mark, type Settlement, settle } from '../src/runtime/lanes/lanes.ts';
import { beginRun, cancelRun, confirmRun, endRun, RunRefused, requestPreview } from '../src/runtime/runs/runs.ts';
import { DELIVERY_STATES, DROPPED, REPLAYED } from '../src/service/delivery/deliveries.ts';
import type { RunTable } from '../src/store/runtime-schema.ts';
import type { Store, Tx } from '../src/store/store.ts';
import { linkOf } from './connector/query-plans.ts';
import { readDoc } from './support/docs.ts';
import { arrowsBelow, drawn, storedTables, typedTables } from './support/model.ts';
import { newStore } from './support/stores.ts';

const PAGE = readDoc('docs/model.md');
const TABLES = {
  connector: typedTables('src/store/schema.ts'),
  service: typedTables('src/store/service-schema.ts'),
  runtime: typedTables('src/store/runtime-schema.ts'),
};

const BLOCK = /(?<=<!-- made from the schema: (\w+) -->\n)[\s\S]*?(?=<!-- end -->)/g;

/** The kinds of entries, and the answers that all of a kind take at once. */
const reviewTable = (): string =>
  [
    '| Kind | Answers that all of a kind take | Can be taken back |',
    '|---|---|---|',
    ...REVIEW_KINDS.map((kind) => {
      const verbs = VERBS.filter((verb) => KINDS_FOR_ALL[verb].some((each) => each === kind));
      const back = VERBS.filter((verb) => canTakeBack(verb, kind));
      const cells = [[kind], verbs, back].map((words) => words.map((word) => `\`${word}\``).join(', '));
      return `| ${cells.join(' | ')} |`;
    }),
  ].join('\n');

describe('the tables of docs/model.md', () => {
  it('are those of the store, with the columns and blanks that the types have', async () => {
    const stored = await storedTables((await newStore('sqlite')).db);
    const typed = Object.values(TABLES).flat();
    expect(typed.map(({ name }) => name).toSorted()).toEqual([...stored.keys()]);
    for (const { name, holds, columns } of typed) {
      expect(holds, name).not.toBe('');
      const sorted = (all: readonly { name: string; nullable: boolean }[]) =>
        all.map((column) => `${column.name}${column.nullable ? '?' : ''}`).toSorted();
      expect(sorted(columns), name).toEqual(sorted(stored.get(name) ?? []));
    }
  });

  it('are drawn as the schema has them', async () => {
    const stored = await storedTables((await newStore('sqlite')).db);
    const blocks: Readonly<Record<string, string>> = {
      ...Object.fromEntries(Object.entries(TABLES).map(([half, tables]) => [half, drawn(tables, stored)])),
      review: reviewTable(),
    };
    const made = PAGE.replaceAll(BLOCK, (_, name: string) => `${blocks[name]}\n`);
    await expect(made).toMatchFileSnapshot(join(import.meta.dirname, '../docs/model.md'));
  });
});

const arrows = (heading: string): readonly string[] =>
  arrowsBelow(PAGE, heading)
    .map(({ from, to }) => `${from} > ${to}`)
    .toSorted();
const statesOf = (heading: string): readonly string[] =>
  [...new Set(arrowsBelow(PAGE, heading).flatMap(({ from, to }) => [from, to]))]
    .filter((state) => state !== '[*]')
    .toSorted();
const into = (heading: string, state: string): readonly string[] =>
  arrowsBelow(PAGE, heading)
    .filter(({ from, to }) => to === state && from !== '[*]')
    .map(({ from }) => from)
    .toSorted();

const COMPANY = 'CVR-1-95012353';
const NONE = '[*]';

/** What each of these does to each state, where it changes it: `from > to`, each once. */
async function driven<State extends string>(
  states: readonly State[],
  actions: readonly ((tx: Tx) => Promise<unknown>)[],
  { put, read }: { put(store: Store, state: State): Promise<unknown>; read(store: Store): Promise<string> },
): Promise<readonly string[]> {
  const store = await newStore('sqlite');
  const found = new Set<string>();
  for (const state of states)
    for (const action of actions) {
      await put(store, state);
      await store.write(action);
      const after = await read(store);
      if (after !== state) found.add(`${state} > ${after}`);
    }
  return [...found].toSorted();
}

describe('the states of docs/model.md', () => {
  it('of a link are those of its type, with the ways that the code has between them', async () => {
    const ref = { provider: 'hubspot', recordId: '1', now: 9 };
    const found = await driven(
      [NONE, ...LINK_STATES],
      [
        (tx) => linkRecord(tx, { ...ref, entity: COMPANY, sendUpdate: false }),
        (tx) => moveLink(tx, { provider: 'hubspot', from: '1', to: '2', now: 9 }),
        ...(['gone', 'removed', 'conflict'] as const).map(
          (state) => (tx: Tx) => endLink(tx, { ...ref, state, reason: 'r', mismatch: 'CVR-1-1' }),
        ),
      ],
      {
        put: (store, state) =>
          store.write(async (tx) => {
            await tx.deleteFrom('link').execute();
            const row = { entity: COMPANY, state, mismatch: state === 'conflict' ? 'CVR-1-1' : null };
            if (state !== NONE) await tx.insertInto('link').values(linkOf('1', row)).execute();
          }),
        read: async ({ db }) =>
          (await db.selectFrom('link').select('state').where('record_id', '=', '1').executeTakeFirst())?.state ?? NONE,
      },
    );
    expect(statesOf('Link')).toEqual([...LINK_STATES].toSorted());
    // A record that claims the company of another one begins so: `contest` of heal.
    expect(arrows('Link')).toEqual([...found, `${NONE} > conflict`].toSorted());
  });

  it('of a lane are those that are counted, with the ways that the code has between them', async () => {
    const [now, later, ended] = [1_000, 5_000, 60_000];
    const lanes = { queue: 'q', key: 'k' };
    const settlements: readonly Settlement[] = [
      { kind: 'done' },
      { kind: 'again', at: later },
      { kind: 'parked', at: now, error: 'e' },
    ];
    const store = await newStore('sqlite');
    const read = async (at: number): Promise<string> => {
      const [{ queue: _, oldestSince: __, ...count } = {}] = await counts(store.db, at);
      return Object.entries(count).find(([, lanes]) => lanes === 1)?.[0] ?? NONE;
    };
    const write = (work: (tx: Tx) => Promise<unknown>) => store.write(work);
    const taken = () => claim(store, 'q', { limit: 1, now, leaseMs: later - now });
    const begin: Readonly<Record<string, () => Promise<unknown>>> = {
      [NONE]: async () => {},
      ready: () => write((tx) => mark(tx, 'q', ['k'], now)),
      waiting: () => write((tx) => mark(tx, 'q', ['k'], later)),
      leased: () => write((tx) => mark(tx, 'q', ['k'], now)),
      parked: () => write((tx) => park(tx, 'q', 'k', { at: now, error: 'e' })),
    };
    const found = new Set<string>();
    const tryOut = async (state: string, work: () => Promise<unknown>, at = now): Promise<void> => {
      await write((tx) => tx.deleteFrom('lane').execute());
      await begin[state]?.();
      await work();
      const after = await read(at);
      if (after !== state) found.add(`${state} > ${after}`);
    };
    for (const state of [NONE, 'ready', 'waiting', 'parked']) {
      await tryOut(state, () => write((tx) => mark(tx, 'q', ['k'], now)));
      await tryOut(state, () => write((tx) => mark(tx, 'q', ['k'], later)));
      await tryOut(state, () => write((tx) => park(tx, 'q', 'k', { at: now, error: 'e' })));
      await tryOut(state, () => write((tx) => unpark(tx, lanes.queue, lanes.key, now)));
      await tryOut(state, () => write((tx) => drop(tx, lanes.queue, lanes.key)));
      await tryOut(state, taken);
      await tryOut(state, async () => {}, ended);
    }
    for (const settlement of settlements)
      for (const isMarked of [false, true])
        await tryOut('leased', async () => {
          const [claimed] = await taken();
          if (isMarked) await write((tx) => mark(tx, 'q', ['k'], now));
          if (claimed !== undefined) await write((tx) => settle(tx, claimed, settlement));
        });
    await tryOut('leased', taken, ended);
    expect(arrows('Lane')).toEqual([...found].toSorted());
  });

  it('of a delivery are those that are listed, and lead to due and dropped from those that the code names', () => {
    expect(statesOf('Delivery')).toEqual([...DELIVERY_STATES].toSorted());
    expect(into('Delivery', 'due')).toEqual([...REPLAYED].toSorted());
    expect(into('Delivery', 'dropped')).toEqual([...DROPPED].toSorted());
  });

  it('of a run are those of its type, with the ways that the code has between them', async () => {
    const states = [
      'waiting',
      'running',
      'done',
      'cancelled',
      'failed',
    ] as const satisfies readonly RunTable['state'][];
    const ida = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;
    const confirm = (tx: Tx) =>
      confirmRun(tx, UNDO, { id: 1, ...ida }, 9).catch((error) => {
        if (!(error instanceof RunRefused)) throw error;
      });
    const found = await driven(
      [NONE, ...states],
      [
        (tx) => beginRun(tx, UNDO, 1, 9),
        (tx) => endRun(tx, 1, null, 9),
        (tx) => endRun(tx, 1, 'e', 9),
        (tx) => cancelRun(tx, UNDO, { id: 1, ...ida }, 9),
        confirm,
        async (tx) => {
          const known = await tx.selectFrom('run').select('id').executeTakeFirst();
          if (known === undefined) await requestPreview(tx, UNDO, { input: {}, ...ida }, 9);
        },
      ],
      {
        put: (store, state) =>
          store.write(async (tx) => {
            await tx.deleteFrom('run').execute();
            if (state === NONE) return;
            await requestPreview(tx, UNDO, { input: {}, ...ida }, 9);
            await tx.updateTable('run').set({ id: 1, state }).execute();
          }),
        read: async ({ db }) => (await db.selectFrom('run').select('state').executeTakeFirst())?.state ?? NONE,
      },
    );
    expect(statesOf('Run')).toEqual([...states].toSorted());
    expect(arrows('Run')).toEqual(found);
  });

  it('of a review entry take the answers that review has', () => {
    const [answer] = arrowsBelow(PAGE, 'Review entry').filter(({ to }) => to === 'answered');
    expect(answer?.when.split(/, | or /)).toEqual([...VERBS]);
  });
});
