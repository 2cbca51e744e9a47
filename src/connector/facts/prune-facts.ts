/** Deletes facts of companies that no record was linked to for a long time. */

import type { Walked } from '../../runtime/housekeeping/prune.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';

const STEP = 500;

export interface PruneStep {
  readonly after: string;
  readonly before: number;
  readonly now: number;
}

/**
 * Deletes facts and known values of the next companies after `after` that have no active or conflicting link, no link
 * changed since `before`, no stored receipt, and no value first seen since `before`. One step of a walk over all
 * companies.
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
  const found = await unusedCompanies(
    tx,
    page.map(({ entity }) => entity),
    before,
  );
  if (found.length > 0) {
    // A process that links such a company, or receives or applies an event of it, marks or holds its lane: PostgreSQL
    // shows its changes after this wait.
    await mark(tx, 'apply', found, now);
    const entities = await unusedCompanies(tx, found, before);
    await tx.deleteFrom('fact').where('entity', 'in', each(tx, entities)).execute();
    await tx.deleteFrom('known_value').where('entity', 'in', each(tx, entities)).execute();
  }
  // Companies are not sorted by time, so the walk covers all.
  return { last, found: true };
}

async function unusedCompanies(db: Db, entities: readonly string[], before: number): Promise<readonly string[]> {
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
  const inUse = new Set([...linked, ...received, ...seen].map(({ entity }) => entity));
  return entities.filter((entity) => !inUse.has(entity));
}
