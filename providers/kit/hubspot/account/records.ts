/** The companies of an emulated account, as texts; about half a kilobyte each with ten short properties. */

import type { VersionSource } from './people.ts';

export interface EmulatedVersion {
  readonly property: string;
  readonly text: string;
  readonly at: number;
  readonly source: VersionSource;
}

export interface EmulatedCompany {
  readonly id: string;
  readonly createdAt: number;
  updatedAt: number;
  /** Replaced as a whole by every write, so that a search index may keep the old one. Blank properties are absent. */
  properties: Readonly<Record<string, string>>;
  /** The source of the creation. */
  readonly source: VersionSource;
  /** Later writes, oldest first; writing the same value again adds no version. */
  versions: readonly EmulatedVersion[];
  merged: readonly string[];
  /** When it was deleted; absent on live ones. */
  archivedAt?: number | undefined;
  /** The parent's id, HubSpot's own copy of the association. */
  parent?: string | undefined;
}

export interface Companies {
  create(texts: Readonly<Record<string, string>>, source: VersionSource): EmulatedCompany;
  /** The live company with exactly this id. */
  find(id: string): EmulatedCompany | undefined;
  /** The live company with this id, or the survivor of its merges. */
  follow(id: string): EmulatedCompany | undefined;
  /** `''` clears. */
  write(company: EmulatedCompany, texts: Readonly<Record<string, string>>, source: VersionSource): void;
  remove(id: string): boolean;
  /** The deleted company with this id; a company that was merged away is not deleted. */
  archived(id: string): EmulatedCompany | undefined;
  /** Restores a deleted company; false if it is not deleted, or another one holds one of its unique values. */
  restore(id: string): boolean;
  /** Creates a NEW company under a new id, as HubSpot does; both old ids lead to it. */
  merge(primary: EmulatedCompany, other: EmulatedCompany): EmulatedCompany;
  page(from: number, limit: number, archived?: boolean): CompanyPage;
  all(): Iterable<EmulatedCompany>;
  holder(property: string, value: string): EmulatedCompany | undefined;
  addUnique(property: string): void;
}

export interface CompanyPage {
  readonly companies: readonly EmulatedCompany[];
  readonly next: number | undefined;
}

const NOBODY: readonly string[] = [];
const NONE: readonly EmulatedVersion[] = [];
const MERGE: VersionSource = { sourceType: 'MERGE_COMPANIES' };

/** An empty account; ids count up from `firstId`. */
export function openCompanies(firstId: number, unique: readonly string[], now: () => number): Companies {
  const live = new Map<string, EmulatedCompany>();
  const archived = new Map<string, EmulatedCompany>();
  const order: string[] = [];
  const survivors = new Map<string, string>();
  const { hold, release, idOf, addUnique, values } = openHolders(unique);
  let nextId = firstId;

  const make = (made: Pick<EmulatedCompany, 'properties' | 'merged' | 'source'>): EmulatedCompany => {
    const at = now();
    const company = { ...made, id: String(nextId), createdAt: at, updatedAt: at, versions: NONE };
    nextId += 1;
    live.set(company.id, company);
    order.push(company.id);
    hold(company);
    return company;
  };
  const drop = (company: EmulatedCompany) => {
    release(company);
    return live.delete(company.id);
  };

  return {
    create: (texts, source) => make({ properties: withoutBlanks(texts), merged: NOBODY, source }),
    find: (id) => live.get(id),
    follow(id) {
      let at: string | undefined = id;
      while (at !== undefined && !live.has(at)) at = survivors.get(at);
      return at === undefined ? undefined : live.get(at);
    },
    write(company, texts, source) {
      release(company);
      company.versions = [...company.versions, ...versionsOf(company, texts, { at: now(), source })];
      company.properties = withoutBlanks({ ...company.properties, ...texts });
      company.updatedAt = now();
      hold(company);
    },
    remove(id) {
      const company = live.get(id);
      if (company === undefined) return false;
      company.archivedAt = now();
      archived.set(id, company);
      return drop(company);
    },
    archived: (id) => archived.get(id),
    restore(id) {
      const company = archived.get(id);
      if (company === undefined || values(company).some((each) => live.has(idOf(...each) ?? ''))) return false;
      archived.delete(id);
      company.archivedAt = undefined;
      company.updatedAt = now();
      live.set(id, company);
      hold(company);
      return true;
    },
    merge(primary, other) {
      drop(primary);
      drop(other);
      const merged = [...primary.merged, ...other.merged, primary.id, other.id];
      const survivor = make({ properties: { ...other.properties, ...primary.properties }, merged, source: MERGE });
      survivors.set(primary.id, survivor.id);
      survivors.set(other.id, survivor.id);
      return survivor;
    },
    page: (from, limit, isArchived = false) => pageOf(isArchived ? archived : live, order, from, limit),
    all: () => live.values(),
    addUnique,
    holder: (property, value) => live.get(idOf(property, value) ?? ''),
  };
}

/** The versions that a write adds; the value at creation becomes one once it is replaced. */
function versionsOf(
  { properties, versions, createdAt, source: maker }: EmulatedCompany,
  texts: Readonly<Record<string, string>>,
  { at, source }: Pick<EmulatedVersion, 'at' | 'source'>,
): readonly EmulatedVersion[] {
  return Object.entries(texts).flatMap(([property, text]) => {
    const before = properties[property] ?? '';
    if (before === text) return [];
    const isFirst = before !== '' && !versions.some((version) => version.property === property);
    const made = isFirst ? [{ property, text: before, at: createdAt, source: maker }] : [];
    return [...made, { property, text, at, source }];
  });
}

function pageOf(
  held: ReadonlyMap<string, EmulatedCompany>,
  order: readonly string[],
  from: number,
  limit: number,
): CompanyPage {
  const companies: EmulatedCompany[] = [];
  let at = from;
  for (; at < order.length && companies.length < limit; at += 1) {
    const company = held.get(order[at] ?? '');
    if (company !== undefined) companies.push(company);
  }
  return { companies, next: at < order.length ? at : undefined };
}

function openHolders(unique: readonly string[]) {
  const holders = new Map(unique.map((property) => [property, new Map<string, string>()]));
  const idOf = (property: string, value: string): string | undefined => holders.get(property)?.get(value);
  const values = ({ properties }: EmulatedCompany): readonly (readonly [property: string, value: string])[] =>
    [...holders.keys()].flatMap((property) => {
      const value = properties[property];
      return value === undefined ? [] : [[property, value] as const];
    });
  return {
    values,
    idOf,
    addUnique: (property: string) => void holders.set(property, new Map()),
    hold(company: EmulatedCompany) {
      for (const [property, value] of values(company)) holders.get(property)?.set(value, company.id);
    },
    release(company: EmulatedCompany) {
      for (const [property, value] of values(company))
        if (idOf(property, value) === company.id) holders.get(property)?.delete(value);
    },
  };
}

function withoutBlanks(texts: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) if (text !== '') kept[name] = text;
  return kept;
}
