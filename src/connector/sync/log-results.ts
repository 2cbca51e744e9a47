/** What a sync did to each record, as lines of the log: the events that it follows, what it wrote, and by which rule. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type DebugLog, shows } from '../../telemetry/debug-log.ts';
import type { Decided } from '../history/history.ts';
import { requestIn } from '../intake/receipt.ts';
import type { RecordResult } from './record-result.ts';

/** Logs results that are stored, at `debug`; at `trace` also what was decided of each property. No values. */
export async function logResults(
  { db, log }: { readonly db: Db; readonly log: DebugLog | undefined },
  provider: string,
  results: readonly RecordResult[],
): Promise<void> {
  if (!shows(log, 'debug')) return;
  const requests = await readRequests(
    db,
    results.flatMap(({ decided = [] }) => decided.map(({ planned }) => planned.seq)),
  );
  for (const { claim, decided = [], effect, settlement } of results) {
    const seqs = [...new Set(decided.map(({ planned }) => planned.seq))];
    const named = (is: (one: Decided) => boolean) => decided.filter(is).map(({ planned }) => planned.property);
    const outcome = effect?.kind ?? settlement.kind;
    const about = { provider, record: claim.key };
    log?.debug?.(
      {
        ...about,
        outcome,
        requests: seqs.flatMap((seq) => requests.get(seq) ?? []),
        written: named(({ planned, refused }) => planned.action === 'write' && refused === undefined),
        kept: named(({ planned }) => planned.action === 'keep'),
        refused: named(({ refused }) => refused !== undefined),
      },
      'a record was synced',
    );
    for (const { planned, refused } of decided)
      log?.trace?.(
        {
          ...about,
          property: planned.property,
          rule: planned.rule,
          action: planned.action,
          refused,
          request: requests.get(planned.seq),
        },
        'a property was decided',
      );
  }
}

/** What names the events in the log, by receipt. */
async function readRequests(db: Db, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('receipt')
    .select(['seq', 'webhook_id', 'digest'])
    .where(
      'seq',
      'in',
      sql<number>`(select cast(value as bigint) from ${each(db, [...new Set(seqs)].map(String))} as seqs)`,
    )
    .execute();
  return new Map(
    rows.flatMap((row) => {
      const request = requestIn(row);
      return request === undefined ? [] : [[row.seq, request] as const];
    }),
  );
}
