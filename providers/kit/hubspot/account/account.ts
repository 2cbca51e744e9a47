/** One emulated HubSpot account: its options with defaults, and the state that all endpoints share. */

import { fromHubspot } from '../../../hubspot/read/values.ts';
import type { PropertyValue } from '../../../provider.ts';
import { type EmulatorAnswer, respelled } from '../../emulator/emulator.ts';
import { seeded } from '../../emulator/seeded.ts';
import { type Associations, openAssociations } from './associations.ts';
import { accountDefinitions, type EmulatedProperty } from './definitions.ts';
import { type AccountLimits, openLimits } from './limits.ts';
import { openNotes, type StoredNotes } from './notes.ts';
import type { HubspotEmulatorOptions } from './options.ts';
import { APP, openPeople, type People, type VersionSource } from './people.ts';
import { type Companies, type EmulatedCompany, openCompanies } from './records.ts';
import { type Rules, storedText } from './validate.ts';

export type Happening =
  | { readonly kind: 'created' | 'deleted' | 'restored'; readonly company: EmulatedCompany }
  | { readonly kind: 'edited'; readonly company: EmulatedCompany; readonly names: readonly string[] }
  | {
      readonly kind: 'merged';
      readonly company: EmulatedCompany;
      readonly primary: EmulatedCompany;
      readonly other: EmulatedCompany;
    };

/** State and rules; the account calls `written` after every change through the API. */
export interface HubspotAccount {
  readonly options: HubspotEmulatorOptions;
  readonly portalId: number;
  readonly timeZone: string;
  readonly definitions: Map<string, EmulatedProperty>;
  readonly groups: Set<string>;
  /** The names of archived properties, which are not free. */
  readonly archived: Set<string>;
  readonly rules: Rules;
  readonly companies: Companies;
  readonly people: People;
  readonly associations: Associations;
  readonly notes: StoredNotes;
  readonly limits: ReturnType<typeof openLimits>;
  /** The valid token; undefined once it was revoked. */
  token: string | undefined;
  readonly scopes: ReadonlySet<string>;
  readonly now: () => number;
  /** Outdated companies that search still shows after a write. */
  readonly stale: Map<string, { readonly until: number; readonly company: EmulatedCompany | undefined }>;
  /** Shuffles in place, by the seed. */
  shuffle<T>(items: T[]): T[];
  correlationId(): string;
  /** Writes texts without validation, by default as the app of the token. */
  write(company: EmulatedCompany, texts: Readonly<Record<string, string>>, source?: VersionSource): void;
  /** Creates a company without validation. */
  create(texts: Readonly<Record<string, string>>, source?: VersionSource): EmulatedCompany;
  merge(primary: EmulatedCompany, other: EmulatedCompany): EmulatedCompany;
  remove(company: EmulatedCompany): void;
  restore(id: string): boolean;
  /** The values for `CrmEmulator.get`: every defined property, blanks as null. */
  values(company: EmulatedCompany, names?: Iterable<string>): Record<string, PropertyValue>;
  written: (id: string, names: readonly string[]) => void;
  /** Called with the ids of a read whose answer is ready, and of an update before any check. */
  read: (ids: readonly string[]) => void;
  arrived: (ids: readonly string[]) => void;
  /** Called after every change of a company, by API or by a person. */
  happened: (happening: Happening) => void;
}

export const DEFAULT_TOKEN = 'pat-na1-emulator';
const DEFAULT_SCOPES = [
  ...['objects.companies', 'objects.contacts', 'schemas.companies'].flatMap((what) => [
    `crm.${what}.read`,
    `crm.${what}.write`,
  ]),
  'crm.objects.owners.read',
];

export function openAccount(options: HubspotEmulatorOptions): HubspotAccount {
  const now = options.now ?? Date.now;
  const portalId = options.portalId ?? 24_680_135;
  const timeZone = options.timeZone ?? 'Europe/Copenhagen';
  const definitions = accountDefinitions(options.properties ?? [], options.missingProperties ?? []);
  const random = seeded(options.seed ?? 1);
  let correlations = 0;
  const state = {
    ...openRecords(options, definitions, now),
    definitions,
    stale: new Map(),
    now,
    options,
  };
  const account: HubspotAccount = {
    ...state,
    ...changesOf(state, (happening) => account.happened(happening)),
    portalId,
    timeZone,
    people: openPeople(),
    rules: { definitions, required: options.required ?? [], portalId },
    groups: new Set(['companyinformation']),
    archived: new Set(options.deletedProperties),
    limits: openLimits(limitsOf(options, timeZone)),
    token: options.token ?? DEFAULT_TOKEN,
    scopes: new Set(options.scopes ?? DEFAULT_SCOPES),
    shuffle: (items) => shuffle(items, random),
    correlationId() {
      correlations += 1;
      return `00000000-0000-4000-8000-${String(correlations).padStart(12, '0')}`;
    },
    values: (company, names = definitions.keys()) =>
      Object.fromEntries(
        [...names].map((name) => [name, fromHubspot(textOf(company, name), definitions.get(name)?.type)]),
      ),
    written: () => {},
    read: () => {},
    arrived: () => {},
    happened: () => {},
  };
  return account;
}

type Definitions = HubspotAccount['definitions'];

/** The empty records of an account: companies with their parents and notes. */
function openRecords(
  { seed = 0 }: HubspotEmulatorOptions,
  definitions: Definitions,
  now: () => number,
): Pick<HubspotAccount, 'companies' | 'associations' | 'notes'> {
  const unique = [...definitions.values()].filter(({ hasUniqueValue }) => hasUniqueValue).map(({ name }) => name);
  const companies = openCompanies(9_000_000_001 + seed * 1_000_000, unique, now);
  const associations = openAssociations((child, parent) => {
    const company = companies.find(child);
    if (company !== undefined) company.parent = parent;
  });
  return { companies, associations, notes: openNotes(5_000_000_001 + seed * 1_000_000, now) };
}

const limitsOf = ({ searchRate, rate, daily }: HubspotEmulatorOptions, timeZone: string): AccountLimits => ({
  searchRate,
  rate: rate === 'none' ? undefined : (rate ?? { calls: 190, perMs: 10_000 }),
  daily,
  timeZone,
});

/** The changes of a company, without validation; `happened` gets each. */
function changesOf(
  state: Pick<HubspotAccount, 'companies' | 'associations' | 'notes' | 'definitions' | 'stale' | 'now' | 'options'>,
  happened: (happening: Happening) => void,
): Pick<HubspotAccount, 'write' | 'create' | 'merge' | 'remove' | 'restore'> {
  const { companies, associations, notes, definitions, stale, now } = state;
  /** Search shows the old state until the index is renewed. */
  const lag = (id: string, company: EmulatedCompany | undefined) => {
    const ms = state.options.searchLagMs ?? 0;
    if (ms === 0) return;
    const old = stale.get(id);
    const known = old !== undefined && old.until > now() ? old.company : company;
    stale.set(id, { until: now() + ms, company: known });
  };
  const stored = (
    texts: Readonly<Record<string, string>>,
    source: VersionSource,
    before: Readonly<Record<string, string>> = {},
  ) => {
    const made = source === APP ? respelled(texts, state.options.respell) : texts;
    const own = Object.fromEntries(
      Object.entries(made).map(([name, text]) => [name, storedText(definitions.get(name), text)]),
    );
    return { ...blanksFilled(before, own, state), ...own };
  };
  return {
    write(company, texts, source = APP) {
      lag(company.id, { ...company });
      companies.write(company, stored(texts, source, company.properties), source);
      happened({ kind: 'edited', company, names: Object.keys(texts) });
    },
    create(texts, source = APP) {
      const company = companies.create(stored(texts, source), source);
      lag(company.id, undefined);
      happened({ kind: 'created', company });
      return company;
    },
    merge(primary, other) {
      const survivor = companies.merge(primary, other);
      associations.merge(primary.id, other.id, survivor.id);
      notes.merge([primary.id, other.id], survivor.id);
      lag(survivor.id, undefined);
      happened({ kind: 'merged', company: survivor, primary, other });
      return survivor;
    },
    remove(company) {
      companies.remove(company.id);
      happened({ kind: 'deleted', company });
    },
    restore(id) {
      if (!companies.restore(id)) return false;
      const company = companies.find(id);
      if (company !== undefined) happened({ kind: 'restored', company });
      lag(id, undefined);
      return true;
    },
  };
}

/** A website fills a blank domain, and HubSpot's enrichment of a new domain fills other blanks. */
function blanksFilled(
  before: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  { definitions, options }: Pick<HubspotAccount, 'definitions' | 'options'>,
): Record<string, string> {
  const after = { ...before, ...own };
  const domain = after.domain || storedText(definitions.get('domain'), own.website ?? '');
  if (domain === (before.domain ?? '')) return {};
  const known = Object.entries(options.enrichment?.(domain) ?? {}).filter(([name]) => (after[name] ?? '') === '');
  return { ...Object.fromEntries(known), domain };
}

/** The text of one property, including those that HubSpot maintains. */
export function textOf(company: EmulatedCompany, name: string): string | null {
  switch (name) {
    case 'hs_object_id':
      return company.id;
    case 'hs_merged_object_ids':
      return company.merged.length === 0 ? null : company.merged.join(';');
    case 'hs_parent_company_id':
      return company.parent ?? null;
    case 'createdate':
      return new Date(company.createdAt).toISOString();
    case 'hs_lastmodifieddate':
      return new Date(company.updatedAt).toISOString();
    default:
      return company.properties[name] ?? null;
  }
}

export function refusal(
  account: HubspotAccount,
  status: number,
  category: string,
  message: string,
): EmulatorAnswer & { readonly body: object } {
  return { status, body: { status: 'error', message, correlationId: account.correlationId(), category } };
}

function shuffle<T>(items: T[], random: () => number): T[] {
  for (let at = items.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const [a, b] = [items[at], items[other]];
    if (a !== undefined && b !== undefined) {
      items[at] = b;
      items[other] = a;
    }
  }
  return items;
}
