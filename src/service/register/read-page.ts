/** Reads the documents of a page and says what is new in them, against what was known. */
import { hash } from 'node:crypto';
import { isJsonObject } from '../../protocol/json.ts';
import { type Company, SNAPSHOT_FORM } from './company.ts';
import { readDocument } from './document.ts';
import type { Known, Row } from './snapshots.ts';
import { type Broken, brokenText } from './source.ts';
import { startOf } from './today.ts';
import type { Unit } from './unit.ts';

/** A document that could be read. */
export interface Look {
  readonly snapshot: Company | Unit;
  readonly row: Row;
}

/** One company or unit as it was and as it is. */
export type Step = { readonly row: Row } & (
  | { readonly kind: 'company'; readonly before: Company | undefined; readonly after: Company }
  | { readonly kind: 'unit'; readonly before: Unit | undefined; readonly after: Unit }
);

/** What became of the documents of a page. `late`: a newer one is known. `same`: nothing in it is new. */
export type Result = 'new' | 'changed' | 'same' | 'late' | 'person' | 'unreadable';
export type Counts = Record<Result, number>;

export interface ReadOptions {
  /** YYYY-MM-DD in Copenhagen. */
  readonly today: string;
  /** Lets others have the thread where it was held for some milliseconds. */
  readonly breathe: () => Promise<void>;
  /** The documents are known ones, read again because a day has come that they name. */
  readonly again?: true;
}

/** Reads every document; one that cannot be read is told of and passed over. */
export async function readDocuments(
  documents: readonly unknown[],
  { today, breathe, again }: ReadOptions,
): Promise<{ readonly looks: readonly Look[]; readonly unreadable: readonly Broken[]; readonly persons: number }> {
  const looks: Look[] = [];
  const unreadable: Broken[] = [];
  let persons = 0;
  for (const document of documents) {
    await breathe();
    const look = readOne(document, today, again);
    if (look === 'person') persons++;
    else if ('reason' in look) unreadable.push(look);
    else looks.push(look);
  }
  return { looks, unreadable, persons };
}

function readOne(document: unknown, today: string, again?: true): Look | Broken | 'person' {
  const text = JSON.stringify(document) ?? '';
  try {
    const reading = readDocument(document, today);
    if (reading.kind === 'person') return 'person';
    if (reading.kind === 'unreadable') return brokenText(reading.id ?? 'a document', reading.reason, text);
    const read = reading.kind === 'company' ? reading.company : reading.unit;
    const { aheadOn, loadedAt } = reading;
    const snapshot = again ? { ...read, loadedAt: later(loadedAt, new Date(startOf(today)).toISOString()) } : read;
    const row = {
      entity: snapshot.entity,
      body: JSON.stringify(snapshot),
      digest: hash('sha256', text, 'base64url'),
      loaded_at: loadedAt,
      ahead: aheadOn === null ? null : text,
      ahead_at: aheadOn === null ? null : startOf(aheadOn),
    };
    return { snapshot, row };
  } catch (error) {
    return brokenText(numberIn(document), error instanceof Error ? error.message : String(error), text);
  }
}

const later = (a: string, b: string): string => (a > b ? a : b);

/** Any number that helps a person to find a document. */
export const numberIn = (document: unknown): string => {
  const [inner] = isJsonObject(document) ? Object.values(document) : [];
  const { cvrNummer, pNummer, enhedsNummer } = isJsonObject(inner) ? inner : {};
  return String(cvrNummer ?? pNummer ?? enhedsNummer ?? 'a document').slice(0, 40);
};

/**
 * What is new, in the order of the page; a company that comes twice makes two steps. `again`: the documents are the
 * known ones, to be read for another day.
 */
export async function findSteps(
  looks: readonly Look[],
  known: ReadonlyMap<string, Known>,
  { breathe, again = false }: Pick<ReadOptions, 'breathe'> & { readonly again?: boolean },
): Promise<{ readonly steps: readonly Step[]; readonly counts: Counts }> {
  const counts: Counts = { new: 0, changed: 0, same: 0, late: 0, person: 0, unreadable: 0 };
  const steps: Step[] = [];
  const latest = new Map<
    string,
    { readonly snapshot: Company | Unit | undefined; readonly row: Pick<Row, 'digest' | 'loaded_at'> }
  >();
  for (const { snapshot, row } of looks) {
    await breathe();
    const last =
      latest.get(row.entity) ?? lastKnown(known.get(row.entity), again || isNews(known.get(row.entity), row));
    const isKnown = row.digest === last?.row.digest;
    const isLate = last !== undefined && row.loaded_at < last.row.loaded_at;
    if (again ? !isKnown : isKnown || isLate) {
      counts[isKnown ? 'same' : 'late']++;
      continue;
    }
    latest.set(row.entity, { snapshot, row });
    counts[last === undefined ? 'new' : 'changed']++;
    const before = last?.snapshot;
    if (snapshot.kind === 'unit')
      steps.push({ kind: 'unit', before: before?.kind === 'unit' ? before : undefined, after: snapshot, row });
    else steps.push({ kind: 'company', before: before?.kind === 'company' ? before : undefined, after: snapshot, row });
  }
  return { steps, counts };
}

/** Whether the stored body is needed: reading it costs more than to see that a document is known. */
const isNews = (last: Known | undefined, row: Row): boolean =>
  last !== undefined && last.digest !== row.digest && last.loadedAt <= row.loaded_at;

function lastKnown(known: Known | undefined, isNeeded: boolean) {
  if (known === undefined) return undefined;
  const row = { digest: known.digest, loaded_at: known.loadedAt };
  if (!isNeeded) return { snapshot: undefined, row };
  // The body is what this watcher wrote; of an earlier form it is as if nothing had been known.
  const snapshot = JSON.parse(known.body) as Company | Unit;
  return { snapshot: snapshot.snapshotForm === SNAPSHOT_FORM ? snapshot : undefined, row };
}
