/** Reads the register's documents: companies, production units, persons. Never throws on parsed JSON. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { normaliseTime } from '../../../protocol/text/time.ts';
import { type Company, companyOf, cvrOf, SNAPSHOT_FORM } from './company.ts';
import { digits, text } from './fields.ts';
import { nameIn, participantId, type Traces } from './relations.ts';
import { type Unit, unitOf } from './unit.ts';
import { dayAfter, dayOf, type Horizon, isDay, noteDay, touchedAt } from './validity.ts';

/** A person or another participant. Company documents contain its relations, so it has little of its own. */
export interface Person {
  readonly kind: 'person';
  readonly snapshotForm: typeof SNAPSHOT_FORM;
  readonly entity: string;
  readonly name: string;
  readonly registeredAt: string | null;
}

interface Read {
  /** The loading time in the document, ISO 8601 UTC; see {@link loadTime}. */
  readonly loadedAt: string;
  readonly unread: ReadonlyMap<string, string>;
  /** The next day on which something in it begins or ends. */
  readonly aheadOn: string | null;
}

export type Reading =
  | (Read & { readonly kind: 'company'; readonly company: Company; readonly cvr: string; readonly traces: Traces })
  | (Read & { readonly kind: 'unit'; readonly unit: Unit })
  | (Read & { readonly kind: 'person'; readonly person: Person })
  | { readonly kind: 'unreadable'; readonly id: string | undefined; readonly reason: string };

/** The loading time of a document without one. */
const NEVER = '1970-01-01T00:00:00.000Z';

const timeOf = (value: unknown): string | undefined => (typeof value === 'string' ? normaliseTime(value) : undefined);

/** The loading time. `sidstOpdateret` does not move with every change; this one also moves without a change. */
const loadedAtOf = (document: JsonObject): string => timeOf(document['sidstIndlaest']) ?? NEVER;

/** How far the register's clock may be ahead. */
const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * The loading time to use for a document. Without one the document would count as older than all others; with a future
 * one all later documents would count as older. Such a document counts as loaded now, and not before the previous one.
 */
export function loadTime(stated: string, now: number, last = NEVER): string {
  if (stated !== NEVER && stated <= new Date(now + CLOCKS_DIFFER_MS).toISOString()) return stated;
  return later(last, new Date(now).toISOString());
}

/** The later of two times in ISO 8601 UTC, which sorts as times do. */
export const later = (a: string, b: string): string => (a > b ? a : b);

const idOf = (document: unknown): string | undefined => {
  if (!isJsonObject(document)) return undefined;
  const [id] = ['cvrNummer', 'pNummer', 'enhedsNummer'].flatMap((key) => text(document[key]) ?? []);
  return id?.slice(0, 40);
};

const unreadable = (document: unknown, reason: string): Reading => ({ kind: 'unreadable', id: idOf(document), reason });

const personOf = (document: JsonObject): Person | null => {
  const id = participantId({ ...document, enhedstype: 'PERSON' });
  if (id === null) return null;
  return {
    kind: 'person',
    snapshotForm: SNAPSHOT_FORM,
    entity: id,
    name: nameIn(document) ?? id,
    registeredAt: touchedAt(document),
  };
};

/** The content of a document's envelope; undefined if it is not a document. */
export const contentOf = (json: unknown): JsonObject | undefined => {
  const { Vrvirksomhed: company, VrproduktionsEnhed: unit, Vrdeltagerperson: person } = isJsonObject(json) ? json : {};
  const content = company ?? unit ?? person;
  return isJsonObject(content) ? content : undefined;
};

export interface DocumentHistory {
  readonly on: (day: string) => Company | Unit | undefined;
  /** The last days of ended entries and the days before the first days of others, each once, the latest first. */
  readonly ends: () => readonly string[];
}

/** A first or last day in a document. */
const PERIOD_DAY = /"gyldig(Fra|Til)"\s*:\s*"(\d{4}-\d\d-\d\d)/gu;

export function endsIn(text: string): readonly string[] {
  const days = [...text.matchAll(PERIOD_DAY)].filter(([, , day = '']) => isDay(day));
  const ends = days.map(([, end, day = '']) => (end === 'Fra' ? dayAfter(day, -1) : day));
  return [...new Set(ends)].sort().reverse();
}

/**
 * Reads one document: the `_source` of a search hit, or the object inside. `today` is YYYY-MM-DD in Copenhagen: the
 * result has the facts of that day, and `aheadOn` says when to read the document again.
 */
export const readDocument = (json: unknown, today: string): Reading => {
  if (!isJsonObject(json)) return unreadable(json, 'it is not a JSON object');
  const { Vrvirksomhed: company, VrproduktionsEnhed: unit, Vrdeltagerperson: person } = json;
  const document = company ?? unit ?? person;
  if (document === undefined) return unreadable(json, 'it is no company, production unit or person');
  if (!isJsonObject(document)) return unreadable(undefined, 'what it holds is not a JSON object');
  const loadedAt = loadedAtOf(document);
  const horizon: Horizon = { aheadOn: null };
  noteDay(horizon, dayOf(document['naermesteFremtidigeDato']), today);
  if (company !== undefined) {
    const cvr = cvrOf(document);
    if (cvr === null) return unreadable(document, 'it has no CVR number of eight digits');
    const read = companyOf(document, { cvr, loadedAt, today, horizon });
    return { kind: 'company', ...read, cvr, loadedAt, aheadOn: horizon.aheadOn };
  }
  if (unit !== undefined) {
    const number = digits(document['pNummer'], 10);
    if (number === null) return unreadable(document, 'it has no P-number of ten digits');
    const read = unitOf(document, { number, loadedAt, today, horizon });
    return { kind: 'unit', ...read, loadedAt, aheadOn: horizon.aheadOn };
  }
  const read = personOf(document);
  if (read === null) return unreadable(document, 'it has no unit number');
  return { kind: 'person', person: read, unread: new Map(), loadedAt, aheadOn: null };
};
