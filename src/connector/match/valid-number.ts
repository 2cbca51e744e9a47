/**
 * Records without a valid number. A number is not valid if it is no CVR number, or if it fails the register's check digits and
 * the company index has no company of it: the check alone cannot say so, and an index alone may be partial.
 */
import { readEntries } from '../../match/index/write.ts';
import { isMistyped } from '../../protocol/cvr-number.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { Db } from '../../store/store.ts';

/** What a scan says of records whose property names no company: it is blank, no number, or a P-number. */
const UNNUMBERED: readonly string[] = ['no-number', 'invalid', 'unit'];
/** Of these the number is a company's if it is valid; several records often share a made-up one. */
const NUMBERED: readonly string[] = ['matched', 'ambiguous'];

/** What the number of a scanned record says of it. */
interface RecordNumber {
  readonly verdict: string;
  readonly entity: string | null;
}

/** Those of the rows that a match looks a company up for. */
export async function withoutValidNumber<Row extends RecordNumber>(
  db: Db,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const unknown = await unknownNumbers(
    db,
    rows.flatMap(({ verdict, entity }) => (entity !== null && NUMBERED.includes(verdict) ? entity : [])),
  );
  return rows.filter(({ verdict, entity }) => UNNUMBERED.includes(verdict) || unknown.has(entity ?? ''));
}

/** Those of these companies whose number is not valid. */
export async function unknownNumbers(db: Db, entities: readonly string[]): Promise<ReadonlySet<string>> {
  const mistyped = new Map(entities.filter(isMistyped).map((entity) => [parseEntityId(entity)?.number ?? '', entity]));
  const known = await readEntries(db, [...mistyped.keys()]);
  return new Set([...mistyped].flatMap(([number, entity]) => (known.has(number) ? [] : entity)));
}
