/** Logs what a sync did to each record: the events behind it, the properties written, and the rules. No values. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type DebugLog, shows } from '../../telemetry/debug-log.ts';
import type { Decided } from '../history/history.ts';
import { requestIn } from '../intake/receipt.ts';
import type { RecordResult } from './record-result.ts';

/** At `debug`, one line a record; at `trace`, also one a property. */
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
    const propertiesOf = (is: (one: Decided) => boolean) => decided.filter(is).map(({ planned }) => planned.property);
    const outcome = effect?.kind ?? settlement.kind;
    const about = { provider, record: claim.key };
    log?.debug?.(
      {
        ...about,
        outcome,
        requests: seqs.flatMap((seq) => requests.get(seq) ?? []),
        written: propertiesOf(({ planned, refused }) => planned.action === 'write' && refused === undefined),
        kept: propertiesOf(({ planned }) => planned.action === 'keep'),
        refused: propertiesOf(({ refused }) => refused !== undefined),
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
