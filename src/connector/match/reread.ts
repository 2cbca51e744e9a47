/** Reads a record's texts again after a match. */
import type { RecordText } from '../../match/describe/described.ts';
import { matchRecords } from '../../match/match.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { readRecordText, textProperties } from './record-text.ts';
import { putResults, readRejections } from './results.ts';
import type { UndecidedMatch } from './undecided.ts';

/** Undefined if nothing changed, or the CRM has no such record. */
export async function readChangedText(
  crm: Crm,
  { recordId, record }: UndecidedMatch,
  signal: AbortSignal,
): Promise<RecordText | undefined> {
  const properties = textProperties(crm, await crm.schema(signal));
  const [read] = await crm.connection.read([recordId], [...new Set(Object.values(properties).flat())], signal);
  if (read?.kind !== 'found') return undefined;
  const fresh = readRecordText(properties, read.properties, record.number ?? null);
  const isSame = Object.entries(fresh).every(([part, text]) => text === (record[part as keyof RecordText] ?? null));
  return isSame ? undefined : fresh;
}

export async function matchAnew(store: Store, found: UndecidedMatch, record: RecordText): Promise<void> {
  const { provider, recordId, position } = found;
  const rejected = (await readRejections(store.db, provider, [recordId])).get(recordId) ?? new Set<string>();
  const [result] = await matchRecords(store.db, [record], { rejected: [rejected] });
  if (result === undefined) return;
  await store.write((tx) => putResults(tx, provider, [{ recordId, position, record, ...result }]));
}
