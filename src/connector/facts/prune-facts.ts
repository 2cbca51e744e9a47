/** Forgets what is known of companies that no record has stood for in a long time. */

import type { Walked } from '../../runtime/housekeeping/prune.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';

const STEP = 500;

export interface PruneStep {
  /** The last company of the step before; empty at first. */
  readonly after: string;
  /** In ms since 1970. */
  readonly before: number;
  readonly now: number;
}

/**
 * Deletes the facts, and the values that came before them, of the next companies after `after`: those without a link that
 * counts or that ended since `before`, without a receipt that is still kept, and without a value first seen since
 * `before`. One step of a walk over all companies that anything is known of. The facts of linked companies stay.
 */
export async function pruneFacts(tx: Tx, { after, before, now }: PruneStep): Promise<Walked<string> | undefined> {
  const page = await tx
    .selectFrom('fact')
    .select('entity')
    .distinct()
    .where('entity', '>', after)
    .orderBy('entity')
    .limit(STEP)
    .execute();
  const last = page.at(-1)?.entity;
  if (last === undefined) return undefined;
  const found = await forgotten(
    tx,
    page.map(({ entity }) => entity),
    before,
  );
  if (found.length > 0) {
    // Whoever links one of them, or is told of it or applies that, has marked its lane, or holds it: PostgreSQL shows what
    // they did once we had to wait for them.
    await mark(tx, 'apply', found, now);
    const entities = await forgotten(tx, found, before);
    await tx.deleteFrom('fact').where('entity', 'in', each(tx, entities)).execute();
    await tx.deleteFrom('known_value').where('entity', 'in', each(tx, entities)).execute();
  }
  // Companies stand in no order of time: the walk goes on to the end.
  return { last, found: true };
}

async function forgotten(db: Db, entities: readonly string[], before: number): Promise<readonly string[]> {
  const listed = each(db, entities);
  const [linked, received, seen] = await Promise.all([
    db
      .selectFrom('link')
      .select('entity')
      .where('entity', 'in', listed)
      .where(({ eb, or }) => or([eb('state', 'in', ['active', 'conflict']), eb('updated_at', '>=', before)]))
      .execute(),
    db.selectFrom('receipt').select('entity').distinct().where('entity', 'in', listed).execute(),
    db
      .selectFrom('known_value')
      .select('entity')
      .distinct()
      .where('entity', 'in', listed)
      .where('seen_at', '>=', before)
      .execute(),
  ]);
  const kept = new Set([...linked, ...received, ...seen].map(({ entity }) => entity));
  return entities.filter((entity) => !kept.has(entity));
}
