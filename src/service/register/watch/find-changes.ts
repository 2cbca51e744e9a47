import { errorText } from '../../../protocol/text/error-text.ts';
import type { Db } from '../../../store/store.ts';
import type { Change } from '../../changes/change.ts';
import { changesOf, type DiffOptions, unitChanges } from '../diff/diff.ts';
import { missing } from '../diff/differ.ts';
import { industryChangesOf } from '../diff/differ-facts.ts';
import { reportedMergers } from '../diff/differ-relations.ts';
import { addParty, readMergerParties } from '../diff/merger-parties.ts';
import type { RecodingGuard } from '../diff/recoding.ts';
import type { Company } from '../document/company.ts';
import { brokenText, type UnreadableDocument } from '../source/source.ts';
import type { DocumentStep } from './find-steps.ts';
import { readNames, type SnapshotRow } from './snapshots.ts';

export interface FindOptions {
  readonly today: string;
  readonly placeType: string;
  readonly newWithinDays?: number | undefined;
  readonly guard: RecodingGuard;
  readonly breathe: () => Promise<void>;
}

export interface FoundInPage {
  readonly changes: readonly Change[];
  readonly rows: readonly SnapshotRow[];
  readonly companies: readonly Company[];
  /** Documents that were read but could not be compared. */
  readonly broken: readonly UnreadableDocument[];
}

/**
 * The changes of a page, in order. Loads what the documents lack, then compares step by step. A step that fails is
 * reported, and its snapshot is not stored.
 */
export async function findChanges(db: Db, steps: readonly DocumentStep[], options: FindOptions): Promise<FoundInPage> {
  const { today, placeType, newWithinDays, guard, breathe } = options;
  guard.page(steps.map(({ before, after }) => (before === undefined ? [] : industryChangesOf(before, after))));
  // Includes new names, whichever document comes first.
  const names = new Map([...namesIn(steps), ...(await readNames(db, namedIn(steps)))]);
  const mergerParties = await readMergerParties(db, steps.flatMap(newMergers));
  const diffOptions: DiffOptions = {
    today,
    placeType,
    isRecoded: guard.isRecoded,
    mergerParties: (organisation) => mergerParties.get(organisation) ?? [],
    nameOf: (entity) => names.get(entity),
    newWithinDays,
  };

  const changes: Change[] = [];
  const rows = new Map<string, SnapshotRow>();
  const companies: Company[] = [];
  const broken: UnreadableDocument[] = [];
  for (const step of steps) {
    await breathe();
    try {
      if (step.kind === 'unit') changes.push(...unitChanges(step.before, step.after, diffOptions));
      else {
        changes.push(...changesOf(step.before, step.after, diffOptions));
        addParty(mergerParties, step.after);
        companies.push(step.after);
      }
      rows.set(step.row.entity, step.row);
      names.set(step.row.entity, step.after.name);
    } catch (error) {
      const reason = `cannot be compared: ${errorText(error)}`;
      broken.push(brokenText(step.row.entity, reason, step.row.body));
    }
  }
  return { changes, rows: [...rows.values()], companies, broken };
}

const namesIn = (steps: readonly DocumentStep[]): readonly (readonly [string, string])[] =>
  steps.map(({ after }) => [after.entity, after.name] as const);

/** The entities that changes will name and documents do not. */
const namedIn = (steps: readonly DocumentStep[]): readonly string[] => [
  ...new Set(
    steps.flatMap((step): readonly string[] => {
      if (step.before === undefined) return [];
      if (step.kind === 'unit') return step.after.company.value === null ? [] : [step.after.company.value];
      const [was, is] = [step.before.units.value, step.after.units.value];
      return [...missing(is, was, String), ...missing(was, is, String)];
    }),
  ),
];

const newMergers = (step: DocumentStep): readonly string[] =>
  step.kind === 'unit' || step.before === undefined ? [] : reportedMergers(step.before, step.after);
