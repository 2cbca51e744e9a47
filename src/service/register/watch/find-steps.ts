/** Finds what is new in the documents of a page. */

import { type Company, SNAPSHOT_FORM } from '../document/company.ts';
import { later, loadTime } from '../document/document.ts';
import { ALL_FAMILIES, type Family, unspokenBy } from '../document/families.ts';
import { comparable, comparableUnit, withKnown, withKnownUnit, withLosses } from '../document/known.ts';
import type { DocumentStatement } from '../document/stated.ts';
import type { Unit } from '../document/unit.ts';
import type { Origin } from '../source/source.ts';
import { ledByOthers, originsWith, partsFrom, readOrigins, takenFrom, takesLead } from './origins/origins.ts';
import { differencesOf, type SecondReading, secondBodyOf } from './origins/second-readings.ts';
import { beforeTakeOver, withPartsOf } from './origins/take-over.ts';
import { allowedPart, type Heading, type PageLook } from './read-page.ts';
import type { KnownSnapshot, SnapshotRow } from './snapshots.ts';

export type DocumentStep = Pick<PageLook, 'unread'> & { readonly row: SnapshotRow } & (
    | {
        readonly kind: 'company';
        readonly before: Company | undefined;
        readonly after: Company;
        /** The content of the document alone, without known values: see known.ts. */
        readonly read: Company;
      }
    | { readonly kind: 'unit'; readonly before: Unit | undefined; readonly after: Unit }
  );

/**
 * The result for a document. `late`: a newer one is known. `same`: nothing is new. `compared`: another source leads in
 * all that it states.
 */
export type PageResult = 'new' | 'changed' | 'same' | 'compared' | 'late' | 'person' | 'unreadable';
export type PageCounts = Record<PageResult, number>;

export interface StepOptions {
  readonly now: number;
  readonly breathe: () => Promise<void>;
  readonly again?: boolean | undefined;
  readonly beneficialOwners?: boolean;
  readonly origin?: Origin;
  /** The configured origins, the leading one first. */
  readonly order?: readonly Origin[];
  readonly families?: readonly Family[];
}

export interface FoundSteps {
  readonly steps: readonly DocumentStep[];
  readonly counts: PageCounts;
  readonly seconds: readonly SecondReading[];
  /** Companies that the page's source leads now: its second readings of them are obsolete. */
  readonly leading: readonly string[];
}

/** The known state of a company or unit, after earlier documents of this page. */
interface Standing {
  readonly snapshot: () => Company | Unit | undefined;
  readonly origins: readonly Origin[];
  readonly lead: Heading;
  readonly seconds: ReadonlyMap<Origin, SecondReading>;
}

/**
 * What is new, in the order of the page; a company that occurs twice makes two steps. `again`: known documents, read
 * for another day.
 */
export async function findSteps(
  looks: readonly PageLook[],
  known: ReadonlyMap<string, KnownSnapshot>,
  options: StepOptions,
): Promise<FoundSteps> {
  const { breathe, beneficialOwners = false } = options;
  const counts: PageCounts = { new: 0, changed: 0, same: 0, compared: 0, late: 0, person: 0, unreadable: 0 };
  const steps: DocumentStep[] = [];
  const latest = new Map<string, Standing>();
  const seconds = new Map<string, SecondReading>();
  const leading: string[] = [];
  const page = pageOf(options);
  for (const look of looks) {
    await breathe();
    const { entity } = look.row;
    const last = latest.get(entity) ?? standingOf(known.get(entity), beneficialOwners);
    const place = placeOf(last, look, page);
    if (place.skip !== undefined) {
      counts[place.skip]++;
      continue;
    }
    const next = nextOf(last, place.look, { ...page, role: place.role });
    latest.set(entity, next.standing);
    if (place.role === 'takes') leading.push(entity);
    for (const second of next.seconds) seconds.set(`${entity} ${second.origin}`, second);
    if (next.step === undefined) counts.compared++;
    else {
      counts[last === undefined ? 'new' : 'changed']++;
      steps.push(next.step);
    }
  }
  return { steps, counts, seconds: [...seconds.values()], leading };
}

interface Page {
  readonly origin: Origin;
  readonly order: readonly Origin[];
  readonly now: number;
  readonly again: boolean;
  readonly unspoken: ReadonlySet<string>;
}

const pageOf = ({
  now,
  again = false,
  families = ALL_FAMILIES,
  origin = 'cvr',
  order = [origin],
}: StepOptions): Page => ({
  ...{ origin, order, now, again },
  unspoken: unspokenBy(families),
});

/** Whether the document's source leads the company, takes the lead with this document, or follows. */
type Role = 'leads' | 'takes' | 'follows';

interface Place {
  readonly look: PageLook;
  readonly role: Role;
  /** The result of a document with nothing new. */
  readonly skip: 'same' | 'late' | undefined;
}

function placeOf(last: Standing | undefined, look: PageLook, page: Page): Place {
  const { origin, order, now, again } = page;
  const lead = last?.origins[0] ?? origin;
  const head = lead === origin ? last?.lead : last?.seconds.get(origin);
  const timely = timed(look, now, head?.loaded_at);
  const { digest, loaded_at: loadedAt } = timely.row;
  const isKnown = digest === head?.digest;
  const role = last === undefined || lead === origin ? 'leads' : takesOver(last, lead) ? 'takes' : 'follows';
  return { look: timely, role, skip: isOld() ? (isKnown ? 'same' : 'late') : undefined };

  function takesOver({ lead: { loaded_at: ledAt } }: Standing, leader: Origin): boolean {
    return !again && takesLead({ lead: leader, loadedAt: ledAt }, { origin, loadedAt }, order);
  }
  function isOld(): boolean {
    if (again) return !isKnown;
    return (isKnown && role !== 'takes') || (head !== undefined && loadedAt < head.loaded_at);
  }
}

interface PagePart extends Page {
  readonly role: Role;
}

interface Next {
  readonly step: DocumentStep | undefined;
  readonly standing: Standing;
  readonly seconds: readonly SecondReading[];
}

const NO_SECONDS: ReadonlyMap<Origin, SecondReading> = new Map();

/** Merges a document into the known state. */
function nextOf(last: Standing | undefined, look: PageLook, page: PagePart): Next {
  const { origin, order, now, role } = page;
  if (last === undefined) {
    const { step, after } = stepOf(undefined, look, { ...page, origins: [origin], heading: look.row });
    return {
      step,
      standing: { snapshot: () => after, origins: [origin], lead: look.row, seconds: NO_SECONDS },
      seconds: [],
    };
  }
  const led = role === 'follows' ? ledByOthers(last.origins, origin) : new Set<string>();
  const origins = originsWith(last.origins, origin, role !== 'follows');
  const lead = role === 'follows' ? last.lead : look.row;
  const before = last.snapshot();
  const speaks = !partsFrom(origin).isSubsetOf(led);
  const step = speaks
    ? stepOf(last, look, { ...page, origins, heading: lead, unspoken: page.unspoken.union(led) })
    : undefined;
  const after = step?.after ?? before;
  const seconds = new Map(last.seconds);
  if (role === 'takes') {
    const [former = origin] = last.origins;
    seconds.delete(origin);
    if (order.includes(former) && before !== undefined)
      seconds.set(
        former,
        secondOf(former, last.lead, before, (part) => before.unknown?.includes(part) !== true),
      );
  }
  if (role === 'follows') {
    const says = (part: string) => look.says.of(part) !== 'missing';
    const { differs = null, differs_since = null } = seconds.get(origin) ?? {};
    seconds.set(origin, { ...secondOf(origin, look.row, look.snapshot, says), differs, differs_since });
  }
  const compared = after === undefined ? [] : [...seconds.values()].map((each) => compareWith(after, each, now));
  return {
    step: step?.step,
    standing: {
      snapshot: () => after,
      origins,
      lead,
      seconds: new Map(compared.map((each) => [each.origin, each])),
    },
    seconds: compared,
  };
}

const secondOf = (
  origin: Origin,
  { entity, digest, loaded_at, ahead, ahead_at }: Heading,
  snapshot: Company | Unit,
  says: (part: string) => boolean,
): SecondReading => ({
  ...{ entity, origin, digest, loaded_at, ahead, ahead_at },
  body: secondBodyOf(snapshot, origin, says),
  differs: null,
  differs_since: null,
});

const compareWith = (after: Company | Unit, second: SecondReading, now: number): SecondReading => {
  const differs = differencesOf(after, second.body).join(' ') || null;
  return { ...second, differs, differs_since: differs === null ? null : (second.differs_since ?? now) };
};

function timed(look: PageLook, now: number, last: string | undefined): PageLook {
  const loadedAt = loadTime(look.row.loaded_at, now, last);
  if (loadedAt === look.row.loaded_at) return look;
  return { ...look, snapshot: { ...look.snapshot, loadedAt }, row: { ...look.row, loaded_at: loadedAt } };
}

interface StepPart extends PagePart {
  readonly origins: readonly Origin[];
  readonly heading: Heading;
}

/** Takes from the known snapshot what the document does not state, and what its source does not lead. */
function stepOf(
  last: Standing | undefined,
  look: PageLook,
  part: StepPart,
): { readonly step: DocumentStep; readonly after: Company | Unit } {
  const { unread, snapshot } = look;
  const before = last?.snapshot();
  const says = restricted(look.says, part.unspoken);
  const row = (after: Company | Unit): SnapshotRow => rowOf(part.heading, part.origins, after);
  if (snapshot.kind === 'unit') {
    const was = before?.kind === 'unit' ? before : undefined;
    const read = withPartsOf(snapshot, was, part.unspoken);
    const found = settled({ before: was, after: withKnownUnit(was, read, says) }, last, look, part);
    const compared = found.before && comparableUnit(found.before, found.after);
    const step = { kind: 'unit', before: compared, after: found.after, unread, row: row(found.after) } as const;
    return { step, after: found.after };
  }
  const was = before?.kind === 'company' ? before : undefined;
  const read = withPartsOf(snapshot, was && withLosses(was), part.unspoken.union(unreadBy(part.origin, look.says)));
  const found = settled({ before: was, after: withKnown(was, read, says) }, last, look, part);
  const compared = found.before && comparable(found.before, found.after);
  const step = { kind: 'company', before: compared, after: found.after, read, unread, row: row(found.after) } as const;
  return { step, after: found.after };
}

/** The snapshots to compare: a value that another source only words differently is not a change. */
function settled<S extends Company | Unit>(
  { before, after }: { readonly before: S | undefined; readonly after: S },
  last: Standing | undefined,
  look: PageLook,
  { origin, role }: StepPart,
): { readonly before: S | undefined; readonly after: S } {
  if (before === undefined || last === undefined) return { before, after };
  const isAlone = last.origins.length === 1 && last.origins[0] === origin && last.seconds.size === 0;
  if (isAlone) return { before, after };
  const taken = role === 'takes' ? takenFrom(last.origins, origin) : new Set<string>();
  const mine = partsFrom(origin).difference(role === 'follows' ? ledByOthers(last.origins, origin) : new Set());
  const inherited = new Set(before.inherited).intersection(mine).union(taken);
  const others = (before.inherited ?? []).filter((part) => !inherited.has(part));
  const over = beforeTakeOver({
    ...{ before, after, parts: inherited, history: look.history },
    loadedAt: last.lead.loaded_at,
  });
  const left = [...others, ...over.inherited];
  // Of two sources, one may load a later fact earlier: the stored time never goes back.
  const soonest = new Date(Date.parse(before.loadedAt) + 1).toISOString();
  const loadedAt = later(after.loadedAt, soonest);
  return { before: over.before, after: { ...after, loadedAt, ...(left.length > 0 && { inherited: left }) } };
}

/**
 * Parts that Datafordeler could not read: of these alone it leaves out the section. In a document of the CVR a missing
 * section is a loss.
 */
const unreadBy = (origin: Origin, says: DocumentStatement): ReadonlySet<string> =>
  origin === 'datafordeler' ? new Set([...partsFrom(origin)].filter((part) => says.of(part) === 'missing')) : new Set();

/** What a document states, without the parts that its source does not lead. */
const restricted = (says: DocumentStatement, unspoken: ReadonlySet<string>): DocumentStatement =>
  unspoken.size === 0
    ? says
    : {
        ...says,
        of: (part) => (unspoken.has(part) ? 'missing' : says.of(part)),
        traceOf: (body) => (unspoken.has(body) ? undefined : says.traceOf(body)),
      };

const rowOf = (heading: Heading, origins: readonly Origin[], snapshot: Company | Unit): SnapshotRow => ({
  ...heading,
  body: JSON.stringify(snapshot),
  origins: origins.join(' '),
  withheld: snapshot.kind === 'company' && snapshot.withheld !== undefined ? 1 : 0,
});

/** Parses a stored body only when needed: that is more expensive than recognising a known document. */
function standingOf(known: KnownSnapshot | undefined, beneficialOwners: boolean): Standing | undefined {
  if (known === undefined) return undefined;
  const { entity, digest, loadedAt, ahead, aheadAt, origins, seconds, body } = known;
  return {
    origins: readOrigins(origins),
    lead: { entity, digest, loaded_at: loadedAt, ahead, ahead_at: aheadAt },
    seconds: new Map(seconds.map((each) => [each.origin, each])),
    snapshot() {
      // The watcher wrote the body; an older form counts as unknown.
      const snapshot = JSON.parse(body) as Company | Unit;
      return snapshot.snapshotForm === SNAPSHOT_FORM ? allowedPart(snapshot, beneficialOwners) : undefined;
    },
  };
}
