/** Reads the documents of a page. */
import { errorText } from '../../../protocol/text/error-text.ts';
import { isJsonObject } from '../../../protocol/text/json.ts';
import type { Company } from '../document/company.ts';
import { contentOf, type DocumentHistory, endsIn, later, readDocument } from '../document/document.ts';
import { ALL_FAMILIES, FAMILIES, type Family, unspokenBy } from '../document/families.ts';
import type { Traces } from '../document/relations.ts';
import { type DocumentStatement, statedBy } from '../document/stated.ts';
import { startOf } from '../document/today.ts';
import type { Unit } from '../document/unit.ts';
import { brokenText, digestOf, textOf, type UnreadableDocument } from '../source/source.ts';
import type { SnapshotRow } from './snapshots.ts';

export interface PageLook {
  readonly snapshot: Company | Unit;
  readonly says: DocumentStatement;
  /** Unreadable parts of a readable document. */
  readonly unread: readonly UnreadableDocument[];
  readonly row: Heading;
  /** Only of documents that may take the lead from another source. */
  readonly history?: DocumentHistory;
}

export type Heading = Pick<SnapshotRow, 'entity' | 'digest' | 'loaded_at' | 'ahead' | 'ahead_at'>;

export interface ReadOptions {
  readonly today: string;
  /** Yields the thread after some busy milliseconds. */
  readonly breathe: () => Promise<void>;
  /** Known documents, reread because a day in them has come. */
  readonly again?: true | undefined;
  readonly families?: readonly Family[];
  readonly beneficialOwners?: boolean;
  /** Keeps what {@link PageLook.history} needs: ten times the memory of a snapshot. */
  readonly keepsDocuments?: boolean;
}

const NO_TRACES: Traces = new Map();
const SHOWN = 200;

/** Reads every document; reports and skips unreadable ones. */
export async function readDocuments(
  documents: Iterable<unknown>,
  { today, breathe, again, families = ALL_FAMILIES, beneficialOwners = false, keepsDocuments = false }: ReadOptions,
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
    else looks.push(keepsDocuments ? { ...look, history: historyOf(document, beneficialOwners) } : look);
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

const historyOf = (document: unknown, beneficialOwners: boolean): DocumentHistory => ({
  on(day) {
    const reading = readDocument(document, day);
    if (reading.kind === 'company') return allowedPart(reading.company, beneficialOwners);
    return reading.kind === 'unit' ? reading.unit : undefined;
  },
  ends: () => endsIn(textOf(document)),
});

/** A snapshot without the parts that the configuration forbids. */
export const allowedPart = <S extends Company | Unit>(snapshot: S, beneficialOwners: boolean): S | Company =>
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
