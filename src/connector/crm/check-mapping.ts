/** Whether a mapping fits the properties of an account: the findings of `check` for each row. Writes nothing. */
import { FIELDS, type FieldKind, type FieldName, type FieldValue } from '../../../providers/fields.ts';
import type { PresetRow, Property } from '../../../providers/provider.ts';
import type { Finding } from '../../runtime/finding.ts';
import { currencyOf } from '../decide/currency.ts';
import { render, type ValueMap } from '../decide/render.ts';
import type { RecordFilter } from '../rules/rules.ts';
import { type AccountSchema, checkHold, checkMatch, checkMatchTexts, checkOnly, similar } from './check-match.ts';

export interface MappingToCheck {
  readonly name: string;
  readonly mapping: readonly PresetRow[];
  readonly values: Readonly<Partial<Record<FieldName, ValueMap>>>;
  readonly match?: string | undefined;
  readonly matchTexts?: Readonly<Partial<Record<FieldName, string>>> | undefined;
  readonly hold: string | undefined;
  readonly only?: RecordFilter | undefined;
  readonly currency?: string | undefined;
}

/** Checks the rows that apply to these properties; a row that fits has no finding. Pure. */
export function checkRows(provider: MappingToCheck, properties: readonly Property[]) {
  const schema = new Map(properties.map((property) => [property.name, property]));
  return provider.mapping
    .filter((row) => row.policy !== 'never' && !(row.unless !== undefined && schema.has(row.unless)))
    .map((row) => ({ row, findings: checkRow(provider, row, schema) }));
}

/**
 * Checks the mapping, the match and the hold property against the account's properties. `creatable` names those that
 * `check --create-properties` would create. Pure.
 */
export function checkMapping(
  provider: MappingToCheck,
  properties: readonly Property[],
  creatable: ReadonlySet<string> = new Set(),
): readonly Finding[] {
  const schema = new Map(properties.map((property) => [property.name, property]));
  const checked = checkRows(provider, properties);
  const inUse = checked.map(({ row }) => row);
  return [
    { level: 'ok', subject: `${provider.name} mapping`, found: describeRows(provider, checked, schema) },
    ...checkMatch(provider, schema),
    ...checkMatchTexts(provider, schema),
    ...checkHold(provider, schema),
    ...checkOnly(provider, schema),
    ...checked.flatMap(({ findings }) => findings),
    ...checkMapsInUse(provider, inUse),
    ...checkProtection(provider, inUse, schema, creatable),
  ];
}

function describeRows(provider: MappingToCheck, checked: ReturnType<typeof checkRows>, schema: AccountSchema): string {
  const counted = checked.filter(({ row }) => replacementOf(provider, row, schema) === undefined);
  const present = counted.filter(({ row }) => schema.has(row.property));
  const remarked = present.filter(({ findings }) => findings.some(({ level }) => level !== 'ok'));
  const names = [...new Set(remarked.map(({ row }) => row.property))];
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const how = names.length === 0 ? '' : `; see the remarks on ${names.slice(0, MOST_NAMED).join(', ')}${others}`;
  return `${present.length} of ${counted.length} mapped properties exist${how}`;
}

const MOST_NAMED = 5;

const replacementOf = ({ mapping }: MappingToCheck, row: PresetRow, schema: AccountSchema): string | undefined =>
  row.optional !== true || schema.has(row.property)
    ? undefined
    : mapping.find((each) => each.unless === row.property && schema.has(each.property))?.property;

const CONTACT: readonly FieldName[] = ['phone', 'email'];

/** Companies may forbid advertising in the register (CVR-loven § 19), so whoever calls them must see it. */
function checkProtection(
  { name }: MappingToCheck,
  inUse: readonly PresetRow[],
  schema: AccountSchema,
  creatable: ReadonlySet<string>,
): readonly Finding[] {
  const written = new Set(inUse.flatMap(({ field, property }) => (schema.has(property) ? field : [])));
  const contacts = CONTACT.filter((field) => written.has(field));
  if (contacts.length === 0 || written.has('advertisingProtected')) return [];
  const lacking = inUse.find(({ field }) => field === 'advertisingProtected')?.property;
  const how = lacking !== undefined && creatable.has(lacking) ? 'with cvrsync check --create-properties' : 'in the CRM';
  const create = lacking === undefined ? '' : `, or create ${lacking} ${how}`;
  return [
    {
      level: 'warn',
      subject: `${name} advertising protection`,
      found: `${contacts.join(' and ')} of companies are written, but not whether a company is protected against advertising`,
      advice: `map advertisingProtected to a property of the CRM${create}`,
    },
  ];
}

function checkRow(provider: MappingToCheck, row: PresetRow, schema: AccountSchema): readonly Finding[] {
  const subject = `${provider.name} ${row.field} → ${row.property}`;
  const property = schema.get(row.property);
  const key = `connector.providers.${provider.name}`;
  if ('partial' in FIELDS[row.field]) {
    const found = 'is never written: events name one member at a time, and no payload names them all';
    return [{ level: 'fail', subject, found, advice: `set ${without(provider, row)} under ${key}` }];
  }
  if (property === undefined) {
    const near = similar(row.property, schema);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    const instead = replacementOf(provider, row, schema);
    if (instead !== undefined)
      return [{ level: 'info', subject, found: `the CRM has no such property: ${instead} is used instead` }];
    const advice = `create it, or set ${without(provider, row)} under ${key}`;
    return [{ level: row.optional ? 'info' : 'fail', subject, found: `the CRM has no such property${hint}`, advice }];
  }
  if (!property.writable) {
    const leave = `set ${without(provider, row)} under ${key}`;
    return [{ level: row.optional ? 'warn' : 'fail', subject, ...unwritableRemark(property, leave) }];
  }
  return [
    ...checkCurrency(provider, row, schema),
    ...checkSite(property),
    ...checkType(row.field, property, provider.values[row.field]),
    ...checkValues(row.field, property, provider.values[row.field] ?? {}),
  ].map((each) => ({ subject, ...each }));
}

/** A right helps only if the CRM names no other reason. */
const unwritableRemark = ({ readOnly }: Property, leave: string) =>
  readOnly === undefined
    ? {
        found: 'cannot be written with these credentials',
        advice: `give the credentials the right to edit it, or ${leave}`,
      }
    : { found: `cannot be written: ${readOnly}`, advice: leave };

type Remark = Omit<Finding, 'subject'>;

/** cvrsync writes no amount if nothing in the CRM states its currency. */
function checkCurrency(provider: MappingToCheck, row: PresetRow, schema: AccountSchema): readonly Remark[] {
  const currency = currencyOf(row.field);
  const property = schema.get(row.property);
  if (currency !== undefined && property?.money === true) return checkMoney(provider, property, row);
  if (currency === undefined || provider.currency !== undefined) return [];
  const currencyRows = provider.mapping.filter(({ field, policy }) => field === currency && policy !== 'never');
  if (currencyRows.some(({ property }) => schema.has(property))) return [];
  const wanted = currencyRows[0]?.property;
  const advice = wanted === undefined ? `map ${currency} to a property` : `create ${wanted}`;
  const found = 'no amount is written: no property in the CRM says what currency it is in';
  const other = `set currency under connector.providers.${provider.name} if the CRM has one currency`;
  return [{ level: row.optional === true ? 'warn' : 'fail', found, advice: `${advice}, or ${other}` }];
}

function checkMoney({ name, currency }: MappingToCheck, property: Property, row: PresetRow): readonly Remark[] {
  if (property.currencyIn !== undefined)
    return [
      { level: 'info', found: `takes only amounts in the currency that ${property.currencyIn} of the record says` },
    ];
  const shown = property.currency ?? currency;
  if (shown === undefined) {
    const found = 'no amount is written: nothing says what currency the CRM shows it in';
    const advice = `set currency under connector.providers.${name}`;
    return [{ level: row.optional === true ? 'warn' : 'fail', found, advice }];
  }
  const found = `shows amounts in ${shown}: amounts in another currency are set aside`;
  if (currency === undefined || currency === shown) return [{ level: 'info', found }];
  return [{ level: 'warn', found, advice: `correct currency under connector.providers.${name}: it says ${currency}` }];
}

/** The CRM may derive other values from a website. */
const checkSite = ({ ownSite }: Property): readonly Remark[] => {
  const found =
    'the CRM derives a blank domain from it, and may fill other blanks from the domain: pages on social networks and shared hosts are set aside';
  return ownSite === true ? [{ level: 'info', found }] : [];
};

function checkType(field: FieldName, property: Property, values: ValueMap | undefined): readonly Remark[] {
  const remarks = [typeRemark(field, property, values) ?? []].flat();
  if (property.unique !== true) return remarks;
  const found = 'must be unique: two records of one company cannot both have it';
  return [...remarks, { level: 'warn', found, advice: 'use a property without that rule' }];
}

function typeRemark(field: FieldName, property: Property, values: ValueMap | undefined): Remark | undefined {
  const { kind } = FIELDS[field];
  const rendered = render(field, typical(field), property);
  if (property.type === 'enumeration')
    return values === undefined && property.open !== true && !rendered.ok ? optionsRemark(field, property) : undefined;
  if (!rendered.ok) {
    const advice = `choose a property that takes a ${kind}, or map the values: values: { ${field}: { … } }`;
    const found = values === undefined ? rendered.reason : `values that are not mapped: ${rendered.reason}`;
    return { level: values === undefined ? 'fail' : 'warn', found: shortened(found), advice };
  }
  return lossRemark(kind, property);
}

function optionsRemark(field: FieldName, property: Property): Remark {
  const options = (property.options ?? []).map(({ value }) => value);
  const named = `${options.slice(0, 5).join(', ')}${options.length > 5 ? ', …' : ''}`;
  const found = `takes only its ${options.length} options (${named}); other values are set aside`;
  return { level: 'warn', found, advice: `map the register's values: values: { ${field}: { … } }` };
}

function lossRemark(kind: FieldKind, property: Property): Remark | undefined {
  const advice = 'use a text property';
  if (kind === 'code' && property.type === 'number')
    return { level: 'warn', found: 'is a number: leading zeros of a code are lost', advice };
  if (kind === 'number' && property.scale === 0)
    return { level: 'info', found: 'takes whole numbers: figures are rounded' };
  if (SPECIAL.includes(property.type) && property.type !== kind)
    return { level: 'warn', found: `is made for a ${property.type}, and may refuse or change a ${kind}`, advice };
  if ((kind === 'multiline' || kind === 'list') && (property.maxLength ?? LONG_TEXT) < LONG_TEXT)
    return { level: 'info', found: `holds ${property.maxLength} characters: longer texts are cut` };
  return undefined;
}

const SPECIAL: readonly string[] = ['phone', 'email', 'url', 'other'];

const LONG_TEXT = 1_000;

const shortened = (text: string): string => text.replace(/x{9,}/gu, 'xxx…');

/** Every target of a value map must be something the property takes. */
function checkValues(field: FieldName, property: Property, values: ValueMap): readonly Remark[] {
  return Object.keys(values).flatMap((key): readonly Remark[] => {
    const rendered = render(field, key.replace(/\*$/u, ''), property, { values });
    if (rendered.ok) return [];
    const found = `the value map for ${key} does not fit: ${rendered.reason}`;
    return [{ level: 'fail', found, advice: `correct values.${field}.${key}` }];
  });
}

/** A value map for a field that goes nowhere is a mistake somebody should hear of. */
function checkMapsInUse(provider: MappingToCheck, inUse: readonly PresetRow[]): readonly Finding[] {
  const mapped = new Set<string>(inUse.map(({ field }) => field));
  return Object.keys(provider.values)
    .filter((field) => !mapped.has(field))
    .map((field) => ({
      level: 'warn',
      subject: `${provider.name} ${field}`,
      found: 'has a value map but no property',
      advice: `name a property under connector.providers.${provider.name}.fields.${field}`,
    }));
}

/** The setting that leaves one row out and keeps the field's others. */
function without({ mapping }: MappingToCheck, row: PresetRow): string {
  const rest = mapping.filter((each) => each.field === row.field && each !== row).map(({ property }) => property);
  const [only] = rest;
  const target = only === undefined ? 'false' : rest.length === 1 ? only : `[${rest.join(', ')}]`;
  return `fields: { ${row.field}: ${target} }`;
}

const LENGTHS: Readonly<Partial<Record<FieldName, number>>> = {
  name: 120,
  street: 80,
  industryText: 100,
  newsHeadline: 100,
};

const KNOWN: Readonly<Partial<Record<FieldName, FieldValue>>> = {
  postalCode: '2100',
  countryCode: 'DK',
  country: 'Denmark',
  capitalCurrency: 'DKK',
  reportCurrency: 'DKK',
  formCode: '80',
  form: 'ApS',
  formText: 'Anpartsselskab',
  status: 'NORMAL',
  employeesMonth: '2026-08',
};

/** A value the register may well have for the field, as long as they get. */
function typical(field: FieldName): FieldValue {
  const known = KNOWN[field];
  if (known !== undefined) return known;
  const samples: Readonly<Record<(typeof FIELDS)[FieldName]['kind'], FieldValue>> = {
    text: 'x'.repeat(LENGTHS[field] ?? 40),
    multiline: 'x'.repeat(LONG_TEXT),
    phone: '10203040',
    email: `${'x'.repeat(30)}@company.example`,
    url: `https://www.company.example/${'x'.repeat(50)}`,
    code: '620100',
    integer: 12,
    number: 12.5,
    interval: '10-19',
    date: '2020-01-31',
    datetime: '2020-01-31T12:00:00.000Z',
    boolean: true,
    list: [{ id: 'CVR-3-4000000000', name: 'x'.repeat(20) }],
  };
  return samples[FIELDS[field].kind];
}
