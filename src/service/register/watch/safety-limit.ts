/**
 * The safety limit: where one kind of fact goes from many companies in one load, the register has more likely stopped to
 * serve it than all of them have lost it. Nothing of it is told before a person decides. Pure.
 */
import type { Company } from '../document/company.ts';
import { ALL_FAMILIES, FAMILIES, type Family, PARTS, type Part } from '../document/families.ts';
import { isEmpty, type Own, withParts } from '../document/known.ts';
import { isBody, type RelationBody } from '../document/relations.ts';
import type { DocumentStep } from './read-page.ts';

/** Of the companies that had something of a family: how many were looked at, and how many have lost it. */
export interface Tally {
  readonly seen: number;
  readonly lost: number;
}
export type Tallies = Readonly<Partial<Record<Family, Tally>>>;

const NONE: Tally = { seen: 0, lost: 0 };

/** Some companies lose something every day; not half of ten, nor a fifth of many. */
const isTooMuch = ({ seen, lost }: Tally): boolean =>
  (lost >= 10 && lost * 2 >= seen) || (lost >= 30 && lost * 5 >= seen);

const sum = (a: Tally = NONE, b: Tally = NONE): Tally => ({ seen: a.seen + b.seen, lost: a.lost + b.lost });

export const sumOf = (a: Tallies, b: Tallies): Tallies =>
  Object.fromEntries(
    ALL_FAMILIES.flatMap((family) => (a[family] || b[family] ? [[family, sum(a[family], b[family])]] : [])),
  );

/** Whether a part is gone, or some of a body's members are and nobody came for them. */
const isLost = (before: Company, after: Company, part: Part): boolean => {
  if (isEmpty(before, part)) return false;
  if (isEmpty(after, part)) return true;
  if (!isBody(part)) return false;
  const [was, is] = [before, after].map(({ bodies }) => new Set(bodies[part].members.map(({ entityId }) => entityId)));
  return was !== undefined && is !== undefined && is.size < was.size && is.isSubsetOf(was);
};

/** What a company is never told to be without, or what no event tells of. */
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

/**
 * What a document no longer has, be it that it says so or that it says nothing. A company that ends loses all it has, and
 * that is no loss.
 */
const lossesOf = (step: DocumentStep): readonly Part[] => {
  if (step.kind !== 'company' || step.before === undefined || step.after.life.value.ended !== null) return [];
  const { before, read } = step;
  return WATCHED.filter((part) => isLost(before, read, part));
};

const contentOf = (company: Company, part: Part): string =>
  JSON.stringify(isBody(part) ? company.bodies[part].members : company[part]);

/** Parts that were withheld, and of which the document says the same again. */
const stillWithheld = (step: DocumentStep): readonly Part[] => {
  if (step.kind !== 'company' || step.before?.withheld === undefined) return [];
  const { before, read } = step;
  const told = withLosses(before);
  return WATCHED.filter(
    (part) => contentOf(told, part) !== contentOf(before, part) && contentOf(told, part) === contentOf(read, part),
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

/** A company as it is once what was withheld counts. */
export const withLosses = ({ withheld, ...company }: Company): Company => {
  const { bodies, ...own } = withheld ?? {};
  return { ...company, ...own, bodies: { ...company.bodies, ...bodies } };
};

export interface Limited {
  readonly steps: readonly DocumentStep[];
  /** Counted in these steps. */
  readonly tallies: Tallies;
  /** Families of which something is withheld. */
  readonly withheld: readonly Family[];
}

/** Withholds what goes from too many. `before` is what was counted lately, `holds` the families that wait already. */
export function limitLosses(steps: readonly DocumentStep[], before: Tallies, holds: readonly string[]): Limited {
  const known = steps.flatMap((step) => (step.kind === 'company' && step.before !== undefined ? [step.before] : []));
  // A first load brings nothing but what is new.
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
