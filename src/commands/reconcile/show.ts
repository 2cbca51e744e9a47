import {
  DIFFERENCES,
  type DifferenceKind,
  KINDS,
  pageOf,
  type ReconcileDifference,
  type Repair,
} from '../../connector/reconcile/differences.ts';
import { type Mandate, type Repaired, type RepairResult, repairResult } from '../../connector/reconcile/repair.ts';
import type { Survey } from '../../connector/reconcile/survey.ts';
import type { Db } from '../../store/store.ts';
import { countOf } from '../cli/count-of.ts';

export interface ReconcileView {
  readonly kind: DifferenceKind;
  readonly count: number;
  readonly result: RepairResult;
  readonly some: readonly ReconcileDifference[];
}

/** Every kind of difference that occurs, with some examples. */
export async function shownOf(
  db: Db,
  found: Survey,
  mandate: Mandate,
  limit: number,
): Promise<readonly ReconcileView[]> {
  const shown: ReconcileView[] = [];
  for (const kind of KINDS) {
    const count = found.counts[kind];
    if (count === 0) continue;
    const some = await pageOf(db, kind, found.scope, { limit });
    shown.push({ kind, count, result: repairResult(kind, found, mandate), some });
  }
  return shown;
}

const REPAIRS: Readonly<Record<Repair, string>> = {
  heal: 'read the record in the CRM and let its link follow',
  add: 'ask the service again to monitor it',
  remove: 'ask the service again to stop',
  delete: 'have the service drop it',
  person: 'a person must decide',
};

const VERDICTS: Readonly<Record<RepairResult, string>> = {
  repaired: '',
  mismatch: ', but nothing is repaired from a list that is not plausible',
  person: '',
};

/** Lines for people: the lists, which of them are not plausible, and each kind of difference with examples. */
export function linesOf(
  { scope, records, links, young, items, doubts }: Survey,
  shown: readonly ReconcileView[],
): readonly string[] {
  const compared = [`${countOf(records, 'record')} in ${scope.provider}`, countOf(links, 'link')];
  if (items !== undefined) compared.push(`${countOf(items, 'item')} of the service`);
  const lines = [`Compared ${compared.join(', ')}.`];
  if (young > 0) lines.push(`${countOf(young, 'link')} changed less than a minute ago: compared the next time.`);
  if (items === undefined) lines.push('No monitoring service is configured: its list was not compared.');
  for (const { reason } of doubts) lines.push(`Not plausible: ${reason}.`);
  for (const { kind, count, result, some } of shown) {
    const { about, repair, say } = DIFFERENCES[kind];
    lines.push('', `${count} ${about}: ${REPAIRS[repair]}${VERDICTS[result]}`);
    for (const one of some) lines.push(`  ${say(one, scope.provider)}`);
    if (count > some.length) lines.push(`  … and ${count - some.length} more`);
  }
  return lines;
}

/** The document of `--json`. `repaired` is null if there was nothing to repair. */
export const documentOf = (
  { scope, records, links, young, items, doubts }: Survey,
  shown: readonly ReconcileView[],
  repaired: Repaired | undefined,
): object => ({
  provider: scope.provider,
  records,
  links,
  young,
  items: items ?? null,
  doubts: doubts.map(({ basis, reason }) => ({ about: basis, reason })),
  differences: shown.map(({ kind, count, result, some }) => ({
    kind,
    about: DIFFERENCES[kind].about,
    repair: DIFFERENCES[kind].repair,
    left: result === 'repaired' ? null : result,
    count,
    repaired: repaired?.counts[kind] ?? 0,
    some: some.map((one) => ({ ...one, text: DIFFERENCES[kind].say(one, scope.provider) })),
  })),
  repaired: repaired === undefined ? null : Object.values(repaired.counts).reduce((sum, count) => sum + count, 0),
  refused: repaired?.refused ?? [],
});
