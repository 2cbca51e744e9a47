/** Starts and ends a copy: checks that it is allowed, and marks both stores so that nothing else uses them meanwhile. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { lockUntilCommit } from '../advisory-lock.ts';
import type { Store, Tx } from '../store.ts';
import { MovedStoreError, readMark, removeMark, type SourceMark, shownPlace, writeMark } from './mark.ts';
import type { CopiedTable } from './rows.ts';

export interface CopyPlaces {
  readonly from: Store;
  readonly to: Store;
  readonly fromUrl: string;
  readonly toUrl: string;
  readonly tables: readonly CopiedTable[];
}

export interface CopyPlan {
  readonly id: string;
  readonly begunAt: number;
  /** The store has a mark of an earlier attempt. */
  readonly isMarked: boolean;
  /** The copy was interrupted, and holds some of the rows. */
  readonly goesOn: boolean;
}

/** Throws if the store may not be copied there. */
export async function planCopy({ from, to, fromUrl, toUrl, tables }: CopyPlaces, now: number): Promise<CopyPlan> {
  const source = await readMark(from.db);
  const target = await readMark(to.db);
  const goesOn = target?.role === 'target' && source?.role === 'source' && target.id === source.id;
  if (source?.role === 'target' || (source?.doneAt != null && !goesOn)) throw new MovedStoreError(fromUrl, source);
  if (target !== undefined && !goesOn)
    throw new Error(
      target.role === 'source'
        ? `${shownPlace(toUrl)} is a store that is itself being copied: name an empty database or a new file`
        : `${shownPlace(toUrl)} is an incomplete copy of ${target.place}: name another place, or delete it first`,
    );
  const filled = goesOn ? undefined : await firstFilled(to, tables);
  if (filled !== undefined)
    throw new Error(
      `${shownPlace(toUrl)} already holds an installation (the table ${filled} has rows): ` +
        'name an empty database or a new file',
    );
  const isMarked = source !== undefined;
  // Another copy of the same store has its own id: only one of them can be opened.
  return { id: goesOn && source ? source.id : randomUUID(), begunAt: source?.begunAt ?? now, isMarked, goesOn };
}

async function firstFilled({ db }: Store, tables: readonly CopiedTable[]): Promise<string | undefined> {
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return name;
  }
  return undefined;
}

/** Marks both stores. Throws if a daemon runs on the source. `also` runs in the transaction that marks the source. */
export async function closeBoth(
  { from, to, fromUrl, toUrl }: CopyPlaces,
  { id, begunAt, isMarked, goesOn }: CopyPlan,
  also: (tx: Tx) => Promise<void>,
  now: number,
): Promise<void> {
  // The mark first: a daemon that starts meanwhile finds it, or is found below.
  await from.write(async (tx) => {
    // Waits for the writes of running commands.
    await lockUntilCommit(tx, 'move', 'exclusive');
    await writeMark(tx, sourceMark({ id, begunAt }, toUrl, null), now);
    if (!isMarked) await also(tx);
  });
  const running = from.engine === 'postgres' ? await from.livingDaemons() : [];
  if (running.length > 0) {
    if (!isMarked) await from.write(removeMark);
    throw new Error(
      `${running.length === 1 ? 'a daemon runs' : `${running.length} daemons run`} on ${shownPlace(fromUrl)}: ` +
        'stop them all, or the copy would lack what they write',
    );
  }
  if (goesOn) return;
  const mark = { role: 'target', id, place: shownPlace(fromUrl), begunAt, at: null } as const;
  await to.write((tx) => writeMark(tx, mark, now));
}

const sourceMark = (
  { id, begunAt }: Pick<CopyPlan, 'id' | 'begunAt'>,
  toUrl: string,
  doneAt: number | null,
): SourceMark => ({ role: 'source', id, place: shownPlace(toUrl), begunAt, doneAt });

/** Opens the copy and leaves the source closed. `also` runs in the transaction that opens the copy. */
export async function openCopy(
  { from, to, toUrl, tables }: CopyPlaces,
  plan: CopyPlan,
  also: (tx: Tx) => Promise<void>,
  now: number,
): Promise<void> {
  // Without statistics PostgreSQL would plan the first statements for empty tables.
  if (to.engine === 'postgres')
    await sql`analyze ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(to.db);
  // In this order, so that both are never open together.
  await from.write(async (tx) => {
    const mark = await readMark(tx);
    if (mark?.role !== 'source' || mark.id !== plan.id)
      throw new Error(`the store was reopened during the copy: delete ${shownPlace(toUrl)}, and copy it again`);
    await writeMark(tx, sourceMark(plan, toUrl, now), now);
  });
  await to.write(async (tx) => {
    await removeMark(tx);
    await also(tx);
  });
}

/** Reopens the source of a finished or abandoned copy. Returns the mark that it had. */
export async function reopenStore(store: Store, url: string): Promise<SourceMark | undefined> {
  const mark = await readMark(store.db);
  if (mark?.role === 'target') throw new MovedStoreError(url, mark);
  if (mark !== undefined) await store.write(removeMark);
  return mark;
}
