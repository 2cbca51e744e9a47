/** Reads the documents of a page and finds what is new in them. */
import { errorText } from '../../../protocol/text/error-text.ts';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { type Company, SNAPSHOT_FORM } from '../document/company.ts';
import { contentOf, later, loadTime, readDocument } from '../document/document.ts';
import { ALL_FAMILIES, FAMILIES, type Family, unspokenBy } from '../document/families.ts';
import { comparable, comparableUnit, withKnown, withKnownUnit } from '../document/known.ts';
import type { Traces } from '../document/relations.ts';
import { type DocumentStatement, statedBy } from '../document/stated.ts';
import { startOf } from '../document/today.ts';
import type { Unit } from '../document/unit.ts';
import { brokenText, digestOf, textOf, type UnreadableDocument } from '../source/source.ts';
import type { KnownSnapshot, SnapshotRow } from './snapshots.ts';

export interface PageLook {
  readonly snapshot: Company | Unit;
  readonly says: DocumentStatement;
  /** Unreadable parts of a document that is otherwise read. */
  readonly unread: readonly UnreadableDocument[];
  readonly row: Heading;
}

export type Heading = Pick<SnapshotRow, 'entity' | 'digest' | 'loaded_at' | 'ahead' | 'ahead_at'>;

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

/** The result for a document. `late`: a newer one is known. `same`: it has nothing new. */
export type PageResult = 'new' | 'changed' | 'same' | 'late' | 'person' | 'unreadable';
export type PageCounts = Record<PageResult, number>;

export interface ReadOptions {
  readonly today: string;
  /** Yields the thread if it was busy for some milliseconds. */
  readonly breathe: () => Promise<void>;
  /** Known documents, read again because a day that they name has come. */
  readonly again?: true | undefined;
  readonly families?: readonly Family[];
  readonly beneficialOwners?: boolean;
}

const NO_TRACES: Traces = new Map();
const SHOWN = 200;

/** Reads every document; reports and skips unreadable ones. */
export async function readDocuments(
  documents: Iterable<unknown>,
  { today, breathe, again, families = ALL_FAMILIES, beneficialOwners = false }: ReadOptions,
): Promise<{
  readonly looks: readonly PageLook[];
  readonly unreadable: readonly UnreadableDocument[];
  readonly persons: number;
}> {
  const looks: PageLook[] = [];
  const unreadable: UnreadableDocument[] = [];
  const unspoken = unspokenBy(beneficialOwners ? families : families.filter((each) => each !== 'beneficialOwners'));
  let persons = 0;
  for (const document of documents) {
    await breathe();
    const look = readOne(document, { today, unspoken, beneficialOwners, again });
    if (look === 'person') persons++;
    else if ('reason' in look) unreadable.push(look);
    else looks.push(look);
  }
  return { looks, unreadable, persons };
}

function readOne(
  document: unknown,
  {
    today,
    unspoken,
    beneficialOwners,
    again,
  }: { today: string; unspoken: ReadonlySet<string>; beneficialOwners: boolean; again: true | undefined },
): PageLook | UnreadableDocument | 'person' {
  const broken = (where: string, reason: string) => brokenText(where, reason, textOf(document));
  try {
    const reading = readDocument(document, today);
    if (reading.kind === 'person') return 'person';
    if (reading.kind === 'unreadable') return broken(reading.id ?? 'a document', reading.reason);
    const read = reading.kind === 'company' ? allowedPart(reading.company, beneficialOwners) : reading.unit;
    const { aheadOn, loadedAt } = reading;
    const snapshot = again ? { ...read, loadedAt: later(loadedAt, new Date(startOf(today)).toISOString()) } : read;
    const row = {
      entity: snapshot.entity,
      digest: digestOf(document),
      loaded_at: loadedAt,
      ahead: aheadOn === null ? null : textOf(document),
      ahead_at: aheadOn === null ? null : startOf(aheadOn),
    };
    const traces = reading.kind === 'company' ? reading.traces : NO_TRACES;
    const says = statedBy(contentOf(document) ?? {}, snapshot.kind, { unspoken, traces, unread: reading.unread });
    const unread = [...reading.unread]
      .filter(([part]) => !unspoken.has(part))
      .map(([part, text]) => {
        const where = snapshot.entity.slice('CVR-1-'.length);
        return brokenText(where, `its ${part} cannot be read: ${text.slice(0, SHOWN)}`, `${where} ${part}: ${text}`);
      });
    return { snapshot, says, unread, row };
  } catch (error) {
    return broken(numberIn(document), errorText(error));
  }
}

const allowedPart = <S extends Company | Unit>(snapshot: S, beneficialOwners: boolean): S | Company =>
  beneficialOwners || snapshot.kind !== 'company' ? snapshot : withoutBeneficialOwners(snapshot);

const NOBODY = { members: [], at: null };

/**
 * Removes beneficial owners as if no document had ever named them: once they are allowed, their first mention is not a
 * change.
 */
function withoutBeneficialOwners(company: Company): Company {
  const parts = FAMILIES.beneficialOwners;
  const unknown = company.unknown === undefined ? parts : [...new Set([...company.unknown, ...parts])];
  const bodies = { ...company.bodies, trueOwnership: NOBODY, trueVoteRights: NOBODY };
  const without: Company = { ...company, bodies, unknown };
  if (without.emptied === undefined) return without;
  const { emptied, ...rest } = without;
  const others = emptied.filter((part) => !parts.some((each) => each === part));
  return others.length === 0 ? rest : { ...rest, emptied: others };
}

/** A number that helps a person to find a document. */
export const numberIn = (document: unknown): string => {
  const [inner] = isJsonObject(document) ? Object.values(document) : [];
  const { cvrNummer, pNummer, enhedsNummer } = isJsonObject(inner) ? inner : {};
  return String(cvrNummer ?? pNummer ?? enhedsNummer ?? 'a document').slice(0, 40);
};

/**
 * What is new, in the order of the page; a company that occurs twice makes two steps. `again`: known documents, read
 * for another day.
 */
export async function findSteps(
  looks: readonly PageLook[],
  known: ReadonlyMap<string, KnownSnapshot>,
  {
    now,
    breathe,
    again = false,
    beneficialOwners = false,
  }: Pick<ReadOptions, 'breathe' | 'beneficialOwners'> & { readonly now: number; readonly again?: boolean | undefined },
): Promise<{ readonly steps: readonly DocumentStep[]; readonly counts: PageCounts }> {
  const counts: PageCounts = { new: 0, changed: 0, same: 0, late: 0, person: 0, unreadable: 0 };
  const steps: DocumentStep[] = [];
  const latest = new Map<
    string,
    { readonly snapshot: Company | Unit | undefined; readonly row: Pick<SnapshotRow, 'digest' | 'loaded_at'> }
  >();
  for (const look of looks) {
    await breathe();
    const { entity } = look.row;
    const stored = known.get(entity);
    const timely = timed(look, now, latest.get(entity)?.row.loaded_at ?? stored?.loadedAt);
    const { row } = timely;
    const last = latest.get(entity) ?? lastKnown(stored, isNeeded(stored, row, again), beneficialOwners);
    const isKnown = row.digest === last?.row.digest;
    const isLate = last !== undefined && row.loaded_at < last.row.loaded_at;
    if (again ? !isKnown : isKnown || isLate) {
      counts[isKnown ? 'same' : 'late']++;
      continue;
    }
    const step = stepOf(last?.snapshot, timely);
    latest.set(entity, { snapshot: step.after, row });
    counts[last === undefined ? 'new' : 'changed']++;
    steps.push(step);
  }
  return { steps, counts };
}

function timed(look: PageLook, now: number, last: string | undefined): PageLook {
  const loadedAt = loadTime(look.row.loaded_at, now, last);
  if (loadedAt === look.row.loaded_at) return look;
  return { ...look, snapshot: { ...look.snapshot, loadedAt }, row: { ...look.row, loaded_at: loadedAt } };
}

/** Takes from the known snapshot what the document does not state. */
function stepOf(before: Company | Unit | undefined, { snapshot: read, says, unread, row }: PageLook): DocumentStep {
  if (read.kind === 'unit') {
    const was = before?.kind === 'unit' ? before : undefined;
    const after = withKnownUnit(was, read, says);
    return { kind: 'unit', before: was && comparableUnit(was, after), after, unread, row: rowOf(row, after) };
  }
  const was = before?.kind === 'company' ? before : undefined;
  const after = withKnown(was, read, says);
  return { kind: 'company', before: was && comparable(was, after), after, read, unread, row: rowOf(row, after) };
}

const rowOf = (heading: Heading, snapshot: Company | Unit): SnapshotRow => ({
  ...heading,
  body: JSON.stringify(snapshot),
  withheld: snapshot.kind === 'company' && snapshot.withheld !== undefined ? 1 : 0,
});

/** Whether the stored body is needed: reading it is more expensive than recognising a known document. */
const isNeeded = (last: KnownSnapshot | undefined, row: Heading, again: boolean): boolean =>
  last !== undefined && (again || (last.digest !== row.digest && last.loadedAt <= row.loaded_at));

function lastKnown(known: KnownSnapshot | undefined, readsBody: boolean, beneficialOwners: boolean) {
  if (known === undefined) return undefined;
  const row = { digest: known.digest, loaded_at: known.loadedAt };
  if (!readsBody) return { snapshot: undefined, row };
  // The watcher wrote the body; an older form counts as unknown.
  const snapshot = JSON.parse(known.body) as Company | Unit;
  return {
    snapshot: snapshot.snapshotForm === SNAPSHOT_FORM ? allowedPart(snapshot, beneficialOwners) : undefined,
    row,
  };
}
