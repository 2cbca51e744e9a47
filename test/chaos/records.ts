/** The records of a chaos test: what is in the CRMs at first, what people write into them, what they must hold at last. */

import type { FieldName } from '../../providers/fields.ts';
import { hubspotPreset } from '../../providers/hubspot/preset.ts';
import { type Respell, respelled } from '../../providers/kit/emulator/emulator.ts';
import type { PresetRow, PropertyValue } from '../../providers/provider.ts';
import { salesforcePreset } from '../../providers/salesforce/preset.ts';
import { isAddressPart } from '../../src/connector/decide/group.ts';
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { CrmName, Crms } from '../support/fixture.ts';
import { expectedValue, type Last, plain } from './fold.ts';

export interface CrmRecord {
  readonly crm: CrmName;
  readonly id: string;
  readonly entity: string;
  /** What a person wrote, by property; with a part of an address, all of it is theirs. */
  readonly edits: Map<string, PropertyValue>;
  /** What stood there before, by the property that a person wrote into, where it was no person's. */
  readonly before: Map<string, PropertyValue>;
}

const PRESETS: Readonly<Record<CrmName, readonly PresetRow[]>> = {
  hubspot: hubspotPreset,
  salesforce: salesforcePreset,
};
const NAMES = { hubspot: 'name', salesforce: 'Name' } as const;
const CITIES = { hubspot: 'city', salesforce: 'BillingCity' } as const;

/** An amount that Salesforce shows in the currency of its record; mapped in place of the preset's own property. */
export const AMOUNT = { field: 'result', property: 'AnnualRevenue', policy: 'tracked' } as const satisfies PresetRow;

/** What a record is added with. */
type Added = (crm: CrmName) => Readonly<Record<string, PropertyValue>>;

/** Adds a record or two for each company to both CRMs: a third hold what the register said once, a fifth what a person wrote. */
export function addRecords(
  crms: Crms,
  companies: readonly SampleCompany[],
  random: Random,
  added: Added = () => ({}),
): readonly CrmRecord[] {
  const records: CrmRecord[] = [];
  for (const crm of ['hubspot', 'salesforce'] as const) {
    const twice = companies.filter(() => random.chance(0.15));
    for (const { entityId: entity, name } of [...companies, ...twice]) {
      const holdsRegister = random.chance(0.33) || crm === 'salesforce';
      const id = crms[crm].add({ ...(holdsRegister && { [NAMES[crm]]: name }), ...added(crm) });
      const record: CrmRecord = { crm, id, entity, edits: new Map(), before: new Map() };
      records.push(record);
      if (random.chance(0.2)) edit(crms, record, NAMES[crm], `Ida's own ${id}`);
    }
  }
  return records;
}

/**
 * A person writes into some records, or puts back what stood there before, which then is the register's again. Only while
 * no daemon is between its read and its write can that be told from a race.
 */
export function editSome(crms: Crms, records: readonly CrmRecord[], random: Random, round: number): void {
  for (const record of records) {
    for (const [property, value] of record.before) if (random.chance(0.4)) putBack(crms, record, property, value);
    const property = random.chance(0.5) ? NAMES[record.crm] : CITIES[record.crm];
    if (random.chance(0.08)) edit(crms, record, property, `Bo's ${round} ${record.id.slice(-6)}`);
  }
}

function putBack(crms: Crms, { crm, id, edits, before }: CrmRecord, property: string, value: PropertyValue): void {
  crms[crm].edit(id, { [property]: value });
  for (const name of togetherWith(crm, property)) edits.delete(name);
  before.delete(property);
}

function edit(crms: Crms, { crm, id, edits, before }: CrmRecord, property: string, value: PropertyValue): void {
  const held = crms[crm].get(id) ?? {};
  if (!edits.has(property)) before.set(property, held[property] ?? null);
  crms[crm].edit(id, { [property]: value });
  for (const name of togetherWith(crm, property)) edits.set(name, held[name] ?? null);
  edits.set(property, value);
}

/** The properties that are a person's with this one: all of a card's address, of which it is a part. */
export function togetherWith(crm: CrmName, property: string): readonly string[] {
  if (property !== CITIES[crm]) return [property];
  const parts = PRESETS[crm].filter(({ field, policy }) => policy === 'tracked' && ADDRESS.includes(field));
  return parts.map((row) => row.property);
}

const ADDRESS: readonly FieldName[] = ['street', 'coName', 'postalCode', 'city', 'region', 'countryCode', 'country'];

/** What a record holds in the property of a field; undefined if the CRM has none. */
export const heldIn = (crms: Crms, { crm, id }: CrmRecord, field: FieldName): PropertyValue | undefined =>
  crms[crm].get(id)?.[PRESETS[crm].find((row) => row.field === field)?.property ?? ''];

/** What the CRMs make of what they are sent: each of the common ways, in a property that people edit too, and in others. */
export const RESPELL: Readonly<Record<CrmName, Respell>> = {
  hubspot: {
    name: (text) => text.replaceAll('&', '&amp;').replace(/\.$/, ''),
    city: (text) => text.toUpperCase(),
    cvr_name: (text) => `<p>${text}</p>`,
  },
  salesforce: {
    Name: (text) => text.toUpperCase(),
    BillingCity: (text) => text.slice(0, 6).trim(),
    CVR_Name__c: (text) => text.replaceAll(/"([^"]*)"/g, '“$1”').replaceAll(/ +/g, ' '),
  },
};

interface DifferenceOptions {
  /** Fields that may hold anything. */
  readonly but?: readonly FieldName[];
  /** What a CRM makes of a value, and may hold. */
  readonly respell?: Partial<Record<CrmName, Respell>>;
  /** Mapped in Salesforce, in place of the preset's own; blank if its record shows another currency than the report's. */
  readonly amount?: PresetRow;
}

const rowsOf = (crm: CrmName, amount: PresetRow | undefined): readonly PresetRow[] =>
  crm === 'hubspot' || amount === undefined
    ? PRESETS[crm]
    : [...PRESETS[crm].filter(({ field }) => field !== amount.field), amount];

/**
 * Everything that a record holds and should not, as sentences: none when all is well.
 */
export function differences(
  crms: Crms,
  records: readonly CrmRecord[],
  last: ReadonlyMap<string, Last>,
  { but = [], respell = {}, amount }: DifferenceOptions = {},
): readonly string[] {
  return records.flatMap(({ crm, id, entity, edits }) => {
    const held = crms[crm].get(id);
    const said = last.get(entity);
    if (held === undefined || said === undefined) return [`${crm} ${id} is gone`];
    const rows = rowsOf(crm, amount).filter(
      ({ field, property, unless }) =>
        property in held && !(unless !== undefined && unless in held) && !but.includes(field),
    );
    // An address of which a person wrote a part stays as it was.
    const isOwnAddress = rows.some(({ field, property }) => isAddressPart(field) && edits.has(property));
    const decided = rows.filter(({ field, property }) => !isOwnAddress || !isAddressPart(field) || edits.has(property));
    return decided.flatMap(({ field, property }) => {
      const isOther =
        property === amount?.property && held['CurrencyIsoCode'] !== expectedValue('reportCurrency', said);
      const value = edits.has(property) ? edits.get(property) : isOther ? null : expectedValue(field, said);
      const wanted = plain(field, value);
      const made = plain(field, respelled({ [property]: value ?? null }, respell[crm])[property]);
      const found = plain(field, held[property]);
      return [wanted, made].includes(found)
        ? []
        : [`${crm} ${id} of ${entity}: ${property} is "${found}", not "${wanted}"`];
    });
  });
}
