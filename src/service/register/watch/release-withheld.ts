/** Publishes the withheld changes after an operator accepts them (queue `withheld`). */
import { sql } from 'kysely';
import { type Claim, settle } from '../../../runtime/lanes/lanes.ts';
import { inPages } from '../../../store/count.ts';
import { engineOf, type Tx } from '../../../store/store.ts';
import type { Change } from '../../changes/change.ts';
import { DELIVER_QUEUE } from '../../names/queues.ts';
import { publish } from '../../publish/publish.ts';
import { changesOf } from '../diff/diff.ts';
import type { Company } from '../document/company.ts';
import { withLosses } from '../document/known.ts';
import { todayAt } from '../document/today.ts';
import { publishing, type WatchDeps } from './ingest-page.ts';
import { allowWithheld } from './withheld.ts';

/** Companies per transaction: each may lose a list of thousands. */
const BATCH = 50;

export async function releaseWithheld(deps: WatchDeps, claim: Claim): Promise<void> {
  const { store, now, wakeUp } = deps;
  await store.write((tx) => allowWithheld(tx, now()));
  await inPages('', async (after) => {
    const last = await store.write((tx) => releaseBatch(tx, deps, after));
    for (const queue of [DELIVER_QUEUE, 'mail']) wakeUp.ring(queue);
    return last;
  });
  await store.write((tx) => settle(tx, claim, { kind: 'done' }));
}

async function releaseBatch(tx: Tx, deps: WatchDeps, last: string): Promise<string | undefined> {
  const now = deps.now();
  const rows = await tx
    .selectFrom('snapshot')
    .select(['entity', 'body'])
    .where('entity', '>', last)
    // A literal, so that SQLite can use the partial index.
    .where('withheld', '=', sql.lit(1))
    .orderBy('entity')
    .limit(BATCH)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  const { placeType } = deps;
  const options = { today: todayAt(now), placeType, isRecoded: () => false };
  const changes: Change[] = [];
  for (const { entity, body } of rows) {
    // The watcher wrote the body.
    const before = JSON.parse(body) as Company;
    if (before.withheld === undefined) continue;
    const after = { ...withLosses(before), loadedAt: new Date(now).toISOString() };
    changes.push(...changesOf(before, after, options));
    await tx
      .updateTable('snapshot')
      .set({ body: JSON.stringify(after), withheld: 0, updated_at: now })
      .where('entity', '=', entity)
      .execute();
  }
  await publish(tx, changes, publishing(deps));
  return rows.at(-1)?.entity;
}
