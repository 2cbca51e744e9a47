/**
 * The safety limit. If many companies lose one kind of fact in one load, the register has probably stopped serving it:
 * cvrsync withholds these losses until a person decides. Pure.
 */
import type { Company } from '../document/company.ts';
import { ALL_FAMILIES, FAMILIES, type Family, PARTS, type Part } from '../document/families.ts';
import { isEmpty, type Own, withLosses, withParts } from '../document/known.ts';
import { isBody, type RelationBody } from '../document/relations.ts';
import type { DocumentStep } from './find-steps.ts';

/** Of the companies with facts of a family: how many were seen, and how many lost them. */
export interface Tally {
  readonly seen: number;
  readonly lost: number;
}
export type Tallies = Readonly<Partial<Record<Family, Tally>>>;

const NONE: Tally = { seen: 0, lost: 0 };

/** Some companies lose something every day, but not half of ten or a fifth of many. */
const isTooMuch = ({ seen, lost }: Tally): boolean =>
  (lost >= 10 && lost * 2 >= seen) || (lost >= 30 && lost * 5 >= seen);

const sum = (a: Tally = NONE, b: Tally = NONE): Tally => ({ seen: a.seen + b.seen, lost: a.lost + b.lost });

export const sumOf = (a: Tallies, b: Tallies): Tallies =>
  Object.fromEntries(
    ALL_FAMILIES.flatMap((family) => (a[family] || b[family] ? [[family, sum(a[family], b[family])]] : [])),
  );

/** Whether a part is gone, or some members of a body left without replacement. */
const isLost = (before: Company, after: Company, part: Part): boolean => {
  if (isEmpty(before, part)) return false;
  if (isEmpty(after, part)) return true;
  if (!isBody(part)) return false;
  const [was, is] = [before, after].map(({ bodies }) => new Set(bodies[part].members.map(({ entityId }) => entityId)));
  return was !== undefined && is !== undefined && is.size < was.size && is.isSubsetOf(was);
};

/** Parts whose loss is never published. */
const UNWATCHED: ReadonlySet<Part> = new Set<Part>([
  'names',
  'status',
  'form',
  'life',
  'credit',
  'founders',
  'commercialProtection',
]);

const WATCHED: readonly Part[] = PARTS.filter(
  (part) => !UNWATCHED.has(part) && !FAMILIES.employment.some((figure) => figure === part),
);

/** The parts that a document lacks, empty or missing. A company that ends normally loses everything. */
const lossesOf = (step: DocumentStep): readonly Part[] => {
  if (step.kind !== 'company' || step.before === undefined || step.after.life.value.ended !== null) return [];
  const { before, read } = step;
  return WATCHED.filter((part) => isLost(before, read, part));
};

const contentOf = (company: Company, part: Part): string =>
  JSON.stringify(isBody(part) ? company.bodies[part].members : company[part]);

/** Withheld parts that the document states the same way again. */
const stillWithheld = (step: DocumentStep): readonly Part[] => {
  if (step.kind !== 'company' || step.before?.withheld === undefined) return [];
  const { before, read } = step;
  const withApplied = withLosses(before);
  return WATCHED.filter(
    (part) =>
      contentOf(withApplied, part) !== contentOf(before, part) &&
      contentOf(withApplied, part) === contentOf(read, part),
  );
};

const withhold = (step: DocumentStep, parts: readonly Part[]): DocumentStep => {
  if (step.kind !== 'company' || step.before === undefined || parts.length === 0) return step;
  const { before, after, read, row } = step;
  const own = parts.filter((part): part is Own => !isBody(part));
  const bodies: readonly RelationBody[] = parts.filter(isBody);
  const kept = withParts({ ...after, bodies: withParts(after.bodies, before.bodies, bodies) }, before, own);
  const withheld = {
    ...Object.fromEntries(own.map((part) => [part, read[part]])),
    bodies: Object.fromEntries(bodies.map((body) => [body, read.bodies[body]])),
  };
  const company: Company = { ...kept, withheld };
  return { ...step, after: company, row: { ...row, body: JSON.stringify(company), withheld: 1 } };
};

export interface Limited {
  readonly steps: readonly DocumentStep[];
  readonly tallies: Tallies;
  readonly withheld: readonly Family[];
}

/** Withholds what too many companies lose. `before`: recent counts; `holds`: families already withheld. */
export function limitLosses(steps: readonly DocumentStep[], before: Tallies, holds: readonly string[]): Limited {
  const known = steps.flatMap((step) => (step.kind === 'company' && step.before !== undefined ? [step.before] : []));
  // A first load has only new companies.
  if (known.length === 0) return { steps, tallies: {}, withheld: [] };
  const losses = steps.map((step) => new Set(lossesOf(step)));
  const tallies: Partial<Record<Family, Tally>> = {};
  for (const family of ALL_FAMILIES) {
    const parts: readonly Part[] = FAMILIES[family];
    const seen = known.filter((company) => hasAny(company, parts)).length;
    const lost = losses.filter((each) => parts.some((part) => each.has(part))).length;
    if (seen > 0) tallies[family] = { seen, lost };
  }
  const total = sumOf(before, tallies);
  const withheld = ALL_FAMILIES.filter(
    (family) =>
      (tallies[family]?.lost ?? 0) > 0 &&
      (holds.includes(family) || isTooMuch(tallies[family] ?? NONE) || isTooMuch(total[family] ?? NONE)),
  );
  const parts = new Set(withheld.flatMap((family): readonly Part[] => FAMILIES[family]));
  const limited = steps.map((step, at) => {
    const lost = [...(losses[at] ?? [])].filter((part) => parts.has(part));
    return withhold(step, [...new Set([...lost, ...stillWithheld(step)])]);
  });
  return { steps: limited, tallies, withheld };
}

const hasAny = (company: Company, parts: readonly Part[]): boolean => parts.some((part) => !isEmpty(company, part));
