/** The plan of a match: a file that a person edits and `match --apply` follows, in the form of a backfill's. */
import { existsSync } from 'node:fs';
import { reasonText } from '../../match/weights.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { writePlanFile } from '../backfill/plan/write.ts';
import { type BackfillDeps, BackfillError } from '../backfill/rows/context.ts';
import { entityOf, type MatchedRecord, resultsAfter, sharedEntities } from './results.ts';

/** Those of a backfill's plan, by which it is read, and for people what speaks for the company. */
const COLUMNS = [
  'record',
  'name',
  'number',
  'verdict',
  'action',
  'note',
  'scanned',
  'company',
  'score',
  'others',
] as const;
const PAGE = 500;

export interface MatchPlanOptions {
  readonly file: string;
  /** Whether certain matches get the action `link`. */
  readonly linkCertain: boolean;
  readonly language: 'en' | 'da';
  /** At most so many lines. */
  readonly limit?: number | undefined;
}

/** Throws where the file exists: it may hold somebody's work. */
export function refuseExisting(file: string): void {
  if (existsSync(file))
    throw new BackfillError(`${file} is there already, and may hold somebody's work: name another file`);
}

/** Writes all results of the last match; returns how many lines say `link`. */
export async function writeMatchPlan(
  { store: { db }, crm: { name: provider } }: Pick<BackfillDeps, 'store' | 'crm'>,
  { file, linkCertain, language, limit = Number.POSITIVE_INFINITY }: MatchPlanOptions,
  signal: AbortSignal,
): Promise<number> {
  let after = 0;
  let left = limit;
  let linked = 0;
  await writePlanFile(file, COLUMNS, async () => {
    signal.throwIfAborted();
    const page = left <= 0 ? [] : await resultsAfter(db, provider, { after, limit: Math.min(PAGE, left) });
    after = page.at(-1)?.position ?? after;
    left -= page.length;
    const doubts = linkCertain ? await doubtsOf(db, provider, page) : undefined;
    return page.map((one) => {
      const doubt = doubts?.get(one.recordId);
      const isLinked = doubts !== undefined && one.verdict === 'certain' && doubt === undefined;
      if (isLinked) linked += 1;
      return lineOf(one, { action: isLinked ? 'link' : 'skip', doubt, language });
    });
  });
  return linked;
}

/** Why a certain match is not linked without a person, by record. */
async function doubtsOf(
  db: Db,
  provider: string,
  page: readonly MatchedRecord[],
): Promise<ReadonlyMap<string, string>> {
  const entities = page.flatMap((one) => entityOf(one) ?? []);
  const shared = await sharedEntities(db, provider, entities);
  const links = await db
    .selectFrom('link')
    .select(['entity', 'record_id'])
    .where('provider', '=', provider)
    .where('entity', 'in', each(db, entities))
    .where('state', 'in', ['active', 'conflict'])
    .execute();
  const taken = new Map(links.map((link) => [link.entity, link.record_id]));
  return new Map(
    page.flatMap((one): readonly (readonly [string, string])[] => {
      const entity = entityOf(one) ?? '';
      const other = taken.get(entity);
      if (other !== undefined) return [[one.recordId, `record ${other} stands for this company already`]];
      return shared.has(entity) ? [[one.recordId, 'several records mean this company']] : [];
    }),
  );
}

interface Shown {
  readonly action: 'link' | 'skip';
  readonly doubt: string | undefined;
  readonly language: 'en' | 'da';
}

function lineOf(one: MatchedRecord, { action, doubt, language }: Shown): readonly string[] {
  const [best, ...others] = one.candidates;
  const reasons = best?.findings.map((finding) => reasonText(finding, language)) ?? [];
  const successor = best?.successor ?? null;
  const note = [doubt, ...reasons, successor === null ? undefined : `its successor is ${successor}`];
  return [
    one.recordId,
    one.record.name ?? '',
    best?.company ?? '',
    one.verdict,
    action,
    note.filter((part) => part !== undefined).join('; '),
    one.record.number ?? '',
    best?.name ?? '',
    best === undefined ? '' : String(best.score),
    others.map(({ company, name, score }) => `${company} ${name} (${score})`).join(' | '),
  ];
}
