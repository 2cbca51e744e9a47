/** recheck: a planned row beside what the CRM says of its record now. Pure. */
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { UNMENTIONED } from '../crm/settle.ts';
import type { NumberVerdict } from '../follow/verdict.ts';
import type { ScanRow } from './rows/scan-rows.ts';

/** A record as it is read now. */
export type Fresh = Pick<ScanRow, 'name' | 'found'> & NumberVerdict;

/**
 * What becomes of a row after another look. `link` as planned; `again` its number changed and it is decided again;
 * `settled` it is not to be linked; `follow` it was merged into record `to`, which may stand for its `entity`; `later` the CRM could not tell.
 */
export type Rechecked =
  | { readonly kind: 'link'; readonly row: ScanRow }
  | { readonly kind: 'again' | 'settled'; readonly row: ScanRow }
  | { readonly kind: 'follow'; readonly row: ScanRow; readonly to: string; readonly entity: string | null }
  | { readonly kind: 'later'; readonly row: ScanRow; readonly reason: string };

/** `isExact`: a person approved the row as it stands in a plan file, so that another number is no longer theirs. */
export function recheck(
  row: ScanRow,
  read: Read | undefined,
  fresh: (properties: Readonly<Record<string, PropertyValue>>) => Fresh | undefined,
  isExact: boolean,
): Rechecked {
  if (read === undefined) return { kind: 'later', row, reason: UNMENTIONED };
  switch (read.kind) {
    case 'retry':
      return { kind: 'later', row, reason: read.reason };
    case 'gone':
      return { kind: 'settled', row: ended(row, 'gone', 'deleted in the CRM since the scan') };
    case 'moved':
      return {
        kind: 'follow',
        to: read.to,
        entity: row.entity,
        row: ended(row, 'moved', `merged into record ${read.to}`),
      };
    case 'found':
      return ofFound(row, fresh(read.properties), isExact);
  }
}

function ofFound(row: ScanRow, fresh: Fresh | undefined, isExact: boolean): Rechecked {
  // A CRM that cannot read the number back: what the scan saw is all there is.
  if (fresh === undefined) return { kind: 'link', row };
  const isSame = fresh.found === row.found || (fresh.entity !== null && fresh.entity === row.entity);
  if (fresh.verdict === 'held') return { kind: 'settled', row: { ...row, ...fresh, action: 'skip' } };
  if (isSame) return { kind: 'link', row };
  if (!isExact) return { kind: 'again', row: { ...row, ...fresh } };
  const detail = `its number was ${row.found ?? 'blank'} when the plan was made, and is ${fresh.found ?? 'blank'} now`;
  return { kind: 'settled', row: { ...row, found: fresh.found, verdict: 'changed', action: 'skip', detail } };
}

/** No longer a record of its own: its number is nobody's. */
const ended = (row: ScanRow, verdict: 'gone' | 'moved', detail: string): ScanRow => ({
  ...row,
  entity: null,
  verdict,
  action: 'skip',
  detail,
});
