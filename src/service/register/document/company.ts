/** A company as the service stores it: the register's current facts in the wire's shapes. Plain JSON. */
import { companyEntityId } from '../../../protocol/entity-id.ts';
import type { Address, Capital, CompanyForm, Industry } from '../../../protocol/formats.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { type Employment, newestMonth, newestQuarter, newestYear } from './employment.ts';
import { addressOf, decimal, digits, flag, formOf, industryOf, midnight, text } from './fields.ts';
import { type Life, lifeOf } from './life.ts';
import { type RelationBodies, relationsOf, type Traces } from './relations.ts';
import { type Credit, creditOf, statusOf } from './status.ts';
import {
  current,
  type DatedValue,
  datedValue,
  dayOf,
  entriesOf,
  type Horizon,
  hasEntries,
  later,
  noteDay,
  noteUnread,
  type Picked,
  periodOf,
  touchedAt,
  type Unread,
  type View,
  walk,
} from './validity.ts';

/** A secondary industry and its position, 1 to 3. */
export interface AltIndustry {
  readonly place: number;
  readonly industry: Industry;
}

/** A merger by its organisation number, which the documents of all its parties contain. */
export interface Merger {
  readonly organisation: string;
  /** The register lists the company as one that comes out of the merger: it survives. */
  readonly comesOut: boolean;
  /**
   * The register lists the company as one that goes into the merger; one that only goes in ends. Absent in older
   * snapshots.
   */
  readonly goesIn?: boolean;
}

/** cvrsync ignores a snapshot of another form, as if it had never seen the company. */
export const SNAPSHOT_FORM = 1;

export interface Company {
  readonly kind: 'company';
  readonly snapshotForm: typeof SNAPSHOT_FORM;
  readonly entity: string;
  /** The current name, for people; never empty. */
  readonly name: string;
  /** The register's time of its last change, with offset. */
  readonly registeredAt: string | null;
  /** When the register loaded the document; for one read again for a later day, the start of that day. */
  readonly loadedAt: string;
  /** The day of these facts; documents also hold later ones. */
  readonly readOn: string;
  readonly names: DatedValue<string | null>;
  /** Sorted, like all lists here. */
  readonly altNames: DatedValue<readonly string[]>;
  readonly address: DatedValue<Address | null>;
  readonly industry: DatedValue<Industry | null>;
  readonly altIndustries: DatedValue<readonly AltIndustry[]>;
  readonly purpose: DatedValue<string | null>;
  readonly powerToBind: DatedValue<string | null>;
  readonly bylawsChangedDate: DatedValue<string | null>;
  readonly capital: DatedValue<Capital | null>;
  readonly form: DatedValue<CompanyForm | null>;
  readonly email: DatedValue<string | null>;
  readonly fax: DatedValue<string | null>;
  readonly phoneNumber: DatedValue<string | null>;
  readonly website: DatedValue<string | null>;
  readonly status: DatedValue<string | null>;
  /** An announcement of the gazette, such as bankruptcy, as the register has it. */
  readonly credit: DatedValue<Credit | null>;
  readonly life: DatedValue<Life>;
  readonly bodies: RelationBodies;
  readonly mergers: DatedValue<readonly Merger[]>;
  readonly units: DatedValue<readonly string[]>;
  readonly commercialProtection: DatedValue<boolean | null>;
  readonly monthly: Employment<number> | null;
  readonly quarterly: Employment<string> | null;
  readonly yearly: Employment<string> | null;
  /** Parts that no document has mentioned yet; their first values are not changes. See known.ts. */
  readonly unknown?: readonly string[];
  /** Parts that the register states as empty after they had a value. */
  readonly emptied?: readonly string[];
  /** Parts with a value of another source than the one that leads now: see watch/take-over.ts. */
  readonly inherited?: readonly string[];
  /** The register's latest values of withheld parts: see safety-limit.ts. */
  readonly withheld?: Withheld;
}

export interface Withheld extends Partial<Omit<Company, 'bodies' | 'withheld' | 'entity' | 'kind'>> {
  readonly bodies?: Partial<RelationBodies>;
}

const isSecret = ({ hemmelig }: JsonObject): boolean => flag(hemmelig) === true;

const isOpen = (entry: JsonObject): boolean => {
  const { hemmelig } = entry;
  const isPublic = hemmelig === undefined || hemmelig === null || flag(hemmelig) === false;
  return isPublic && text(entry['kontaktoplysning']) !== null;
};

/** The register's own documents have one value without history; Datafordeler has a list with periods. */
export const protectionOf = ({ reklamebeskyttet, reklamebeskyttelse }: JsonObject, view: View): boolean | null => {
  const stated = Array.isArray(reklamebeskyttelse)
    ? current(reklamebeskyttelse, view).entry?.['vaerdi']
    : reklamebeskyttet;
  const isProtected = flag(stated);
  if (stated != null && isProtected === null) noteUnread(view.unread, 'commercialProtection', stated);
  return isProtected;
};

export const contactOf = (list: unknown, view: View, part: string): DatedValue<string | null> => {
  const { entry, at } = current(list, view, isOpen);
  if (entry !== undefined) return { value: text(entry['kontaktoplysning']), at };
  return datedValue(view, part, { ...current(list, view, (each) => !isSecret(each)), at }, () => null);
};

/** All values of attributes by type: a type can occur more than once. */
const attributesOf = (document: JsonObject): ReadonlyMap<string, readonly unknown[]> => {
  const values = new Map<string, readonly unknown[]>();
  for (const { type, vaerdier } of entriesOf(document['attributter'])) {
    if (typeof type !== 'string' || !Array.isArray(vaerdier)) continue;
    const known = values.get(type);
    values.set(type, known === undefined ? vaerdier : [...known, ...vaerdier]);
  }
  return values;
};

const capitalOf = (attributes: ReadonlyMap<string, readonly unknown[]>, view: View): DatedValue<Capital | null> => {
  const [amount, currency, hasClasses, isPartial] = [
    'KAPITAL',
    'KAPITALVALUTA',
    'KAPITALKLASSER',
    'KAPITAL_DELVIST',
  ].map((type) => current(attributes.get(type), view));
  const at = later(amount?.at ?? null, currency?.at ?? null);
  const term = <T>(part: string, picked: Picked = { entry: undefined, at: null }, of: (value: unknown) => T | null) =>
    datedValue(view, part, picked, (entry) => of(entry?.['vaerdi'])).value;
  const value = term('capital', amount, decimal);
  const terms = {
    currency: term('currency', currency, text),
    hasClasses: term('hasClasses', hasClasses, flag),
    isPartial: term('isPartial', isPartial, flag),
  };
  return { value: value === null ? null : { value, ...terms }, at };
};

/** The valid values of a list, each once, sorted. */
const all = (view: View, part: string, list: unknown, keyOf: (entry: JsonObject) => string | null) => {
  const keys = new Set<string>();
  const at = walk(list, view, (entry) => {
    const key = keyOf(entry);
    if (key === null) noteUnread(view.unread, part, entry);
    else keys.add(key);
  });
  return { value: [...keys].sort(), at };
};

export const altIndustriesOf = (document: JsonObject, view: View): DatedValue<readonly AltIndustry[]> => {
  const places = [1, 2, 3].map((place) => ({ place, picked: current(document[`bibranche${place}`], view) }));
  const value = places.flatMap(({ place, picked }): readonly AltIndustry[] => {
    const industry = datedValue(view, `altIndustry${place}`, picked, (entry) => industryOf(entry, view)).value;
    return industry === null ? [] : [{ place, industry }];
  });
  return { value, at: places.reduce<string | null>((at, { picked }) => later(at, picked.at), null) };
};

const valuesIn = (attributes: unknown): readonly JsonObject[] =>
  entriesOf(attributes).flatMap(({ vaerdier }) => entriesOf(vaerdier));

/** Mergers that have begun. Each lasts a day and stays in the document. */
const mergersOf = (document: JsonObject, { today, horizon }: View): DatedValue<readonly Merger[]> => {
  const mergers = new Map<string, Merger>();
  let at: string | null = null;
  for (const { enhedsNummerOrganisation, indgaaende, udgaaende, organisationsNavn } of entriesOf(
    document['fusioner'],
  )) {
    const organisation = text(enhedsNummerOrganisation);
    if (organisation === null) continue;
    const entries = [...entriesOf(organisationsNavn), ...valuesIn(indgaaende), ...valuesIn(udgaaende)];
    for (const entry of entries) {
      at = later(at, touchedAt(entry));
      noteDay(horizon, periodOf(entry).from, today);
    }
    const hasBegun = entries.length === 0 || entries.some((entry) => (periodOf(entry).from ?? '') <= today);
    if (!hasBegun) continue;
    const known = mergers.get(organisation);
    const comesOut = hasEntries(udgaaende) || known?.comesOut === true;
    const goesIn = hasEntries(indgaaende) || known?.goesIn === true;
    mergers.set(organisation, { organisation, comesOut, goesIn });
  }
  return { value: [...mergers.values()].sort((a, b) => (a.organisation < b.organisation ? -1 : 1)), at };
};

export const cvrOf = (document: JsonObject): string | null => digits(document['cvrNummer'], 8);

/** Reads a company document for a day, with the people in it; fills the horizon. */
export const companyOf = (
  document: JsonObject,
  { cvr, loadedAt, today, horizon }: { cvr: string; loadedAt: string; today: string; horizon: Horizon },
): { readonly company: Company; readonly traces: Traces; readonly unread: Unread } => {
  const unread: Unread = new Map();
  const { life, on } = lifeOf(document, today, { horizon, unread });
  // Facts that ended with the company keep their last value: the company did not move out or give up its name.
  const view: View = { today, on, horizon, unread };
  const now: View = { ...view, on: today };
  const registeredAt = touchedAt(document);
  const attributes = attributesOf(document);
  const attribute = <T>(part: string, type: string, of: (value: unknown) => T | null) =>
    datedValue(view, part, current(attributes.get(type), view), (entry) => of(entry?.['vaerdi']));
  const names = datedValue(view, 'names', current(document['navne'], view), (entry) => text(entry?.['navn']));
  const metadata = document['virksomhedMetadata'];
  const latest = isJsonObject(metadata) ? metadata['nyesteNavn'] : undefined;
  const entity = companyEntityId(cvr);
  const credit = creditOf(document, now);
  const { bodies, traces } = relationsOf(document, now);
  const company: Company = {
    kind: 'company',
    snapshotForm: SNAPSHOT_FORM,
    entity,
    name: names.value ?? text(isJsonObject(latest) ? latest['navn'] : undefined) ?? entity,
    registeredAt,
    loadedAt,
    readOn: today,
    names,
    altNames: all(view, 'altNames', document['binavne'], (entry) => text(entry['navn'])),
    address: datedValue(view, 'address', current(document['beliggenhedsadresse'], view), (entry) =>
      addressOf(entry, view),
    ),
    industry: datedValue(view, 'industry', current(document['hovedbranche'], view), (entry) => industryOf(entry, view)),
    altIndustries: altIndustriesOf(document, view),
    purpose: attribute('purpose', 'FORMÅL', text),
    powerToBind: attribute('powerToBind', 'TEGNINGSREGEL', text),
    bylawsChangedDate: attribute('bylawsChangedDate', 'VEDTÆGT_SENESTE', (value) => midnight(dayOf(value))),
    capital: capitalOf(attributes, view),
    form: datedValue(view, 'form', current(document['virksomhedsform'], view), (entry) => formOf(entry, view)),
    email: contactOf(document['elektroniskPost'], view, 'email'),
    fax: contactOf(document['telefaxNummer'], view, 'fax'),
    phoneNumber: contactOf(document['telefonNummer'], view, 'phoneNumber'),
    website: contactOf(document['hjemmeside'], view, 'website'),
    status: statusOf(document, { now, asLast: view, credit: credit.value, registeredAt }),
    credit,
    life,
    bodies,
    mergers: mergersOf(document, now),
    units: all(now, 'units', document['penheder'], ({ pNummer }) => {
      const number = digits(pNummer, 10);
      return number === null ? null : `CVR-2-${number}`;
    }),
    commercialProtection: { value: protectionOf(document, view), at: registeredAt },
    monthly: newestMonth(document, now),
    quarterly: newestQuarter(document, now),
    yearly: newestYear(document, now),
  };
  return { company, traces, unread };
};
