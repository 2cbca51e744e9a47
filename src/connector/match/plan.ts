/** The plan of a match: a file that a person edits and `match --apply` follows, in the form of a backfill's. */
import { existsSync } from 'node:fs';
import { reasonText } from '../../match/weights.ts';
import { writePlanFile } from '../backfill/plan/write.ts';
import { type BackfillDeps, BackfillError } from '../backfill/rows/context.ts';
import { type MatchedRecord, resultsAt } from './results.ts';
import { doubtsOf } from './survey.ts';

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
  /** The lines, in their order. */
  readonly lines: readonly number[];
  /** Those that get the action `link`; undefined if nothing is linked without a person. */
  readonly linked: readonly number[] | undefined;
  readonly language: 'en' | 'da';
}

/** Throws where the file exists: it may hold somebody's work. */
export function refuseExisting(file: string): void {
  if (existsSync(file))
    throw new BackfillError(`${file} is there already, and may hold somebody's work: name another file`);
}

/** Writes the results of the last match at these positions. */
export async function writeMatchPlan(
  { store: { db }, crm: { name: provider } }: Pick<BackfillDeps, 'store' | 'crm'>,
  { file, lines, linked, language }: MatchPlanOptions,
  signal: AbortSignal,
): Promise<void> {
  const toLink = new Set(linked);
  let written = 0;
  await writePlanFile(file, COLUMNS, async () => {
    signal.throwIfAborted();
    const page = await resultsAt(db, provider, lines.slice(written, written + PAGE));
    written += page.length;
    const doubts = linked === undefined ? undefined : await doubtsOf(db, provider, page);
    return page.map((one) => {
      const doubt = doubts?.get(one.recordId);
      const isLinked = toLink.has(one.position) && doubt === undefined;
      return lineOf(one, { action: isLinked ? 'link' : 'skip', doubt, language });
    });
  });
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
