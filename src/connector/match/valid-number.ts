/**
 * Selects records without a valid number: it is not a CVR number, or it fails the check digits and the company index has
 * no such company. Check digits alone are not proof, and an index may be partial.
 */
import { readEntries } from '../../match/index/write.ts';
import { isMistyped } from '../../protocol/cvr-number.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { Db } from '../../store/store.ts';

/** Verdicts on properties without a company's number: blank, invalid, or a P-number. */
const UNNUMBERED: readonly string[] = ['no-number', 'invalid', 'unit'];
/** Verdicts on a company's number; several records often share an invented one. */
const NUMBERED: readonly string[] = ['matched', 'ambiguous'];

interface RecordNumber {
  readonly verdict: string;
  readonly entity: string | null;
}

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

export async function unknownNumbers(db: Db, entities: readonly string[]): Promise<ReadonlySet<string>> {
  const mistyped = new Map(entities.filter(isMistyped).map((entity) => [parseEntityId(entity)?.number ?? '', entity]));
  const known = await readEntries(db, [...mistyped.keys()]);
  return new Set([...mistyped].flatMap(([number, entity]) => (known.has(number) ? [] : entity)));
}
