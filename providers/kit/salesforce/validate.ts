/** Checks the values of one record before an emulated org stores them, and stores them as Salesforce does. */
import type { PropertyValue } from '../../provider.ts';
import type { StoredAccount } from './org/accounts.ts';
import type { FieldDefinition } from './org/definitions.ts';
import { type Org, rawValue, salesforceTime } from './org/org.ts';
import { type RecordError, recordError } from './org/refusal.ts';

const NUMBERS: ReadonlySet<string> = new Set(['int', 'double', 'currency', 'percent']);
const EMAIL = /^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/;

/** Whether the JSON itself does not fit the field: the parser refuses the whole call. */
export function misfit(field: FieldDefinition, value: unknown): boolean {
  if (value === null) return false;
  if (NUMBERS.has(field.type)) return typeof value !== 'number';
  if (field.type === 'boolean') return typeof value !== 'boolean';
  if (typeof value !== 'string') return true;
  if (field.type === 'date') return value !== '' && !/^\d{4}-\d\d-\d\d$/.test(value);
  if (field.type === 'datetime') return value !== '' && Number.isNaN(timeOf(value));
  return false;
}

/** The stored value: blanks are null, edges trimmed, numbers rounded to the scale of the field. */
export function stored(field: FieldDefinition, value: PropertyValue): PropertyValue {
  if (typeof value === 'number') return field.type === 'int' ? Math.round(value) : Number(value.toFixed(field.scale));
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text === '') return null;
  return field.type === 'datetime' ? salesforceTime(timeOf(text)) : text;
}

/** The errors of writing stored values to a record; none if it may be written. `api` adds the rules for calls. */
export function validate(
  org: Org,
  account: StoredAccount | undefined,
  values: Readonly<Record<string, PropertyValue>>,
  allowAlerts: boolean,
): readonly RecordError[] {
  const errors: RecordError[] = [];
  for (const [name, value] of Object.entries(values)) {
    const field = org.definitions.get(name);
    const fault = field === undefined ? unknownField(name) : fieldError(org, account, field, value);
    if (fault !== undefined) errors.push(fault);
  }
  if (errors.length === 0) errors.push(...stateErrors(org, account, values));
  if (errors.length > 0) return errors;
  const whole = { ...account?.values, ...values };
  const rule = org.options.validationRule?.(whole);
  if (rule !== undefined) return [recordError('FIELD_CUSTOM_VALIDATION_EXCEPTION', rule)];
  const found = org.options.duplicateRule?.(whole);
  if (found === undefined) return [];
  const { action, matches } = typeof found === 'string' ? { action: found, matches: [] } : found;
  if (action === 'alert' && allowAlerts) return [];
  const matchRecords = matches.map((Id) => ({ matchConfidence: 100, record: { attributes: { type: 'Account' }, Id } }));
  // Salesforce spells the member without its l.
  const duplicateResut = {
    allowSave: action === 'alert',
    duplicateRule: 'Standard_Account_Duplicate_Rule',
    duplicateRuleEntityType: 'Account',
    matchResults: matchRecords.length === 0 ? [] : [{ entityType: 'Account', matchRecords, success: true }],
  };
  return [{ ...recordError('DUPLICATES_DETECTED', 'Use one of these records?'), ...{ duplicateResut } }];
}

/** A country, a state and their codes follow one another if the picklists are on. */
export function withCodes(
  { options: { countries, states = {} } }: Org,
  values: Readonly<Record<string, PropertyValue>>,
): Record<string, PropertyValue> {
  const filled: Record<string, PropertyValue> = { ...values };
  if (countries === undefined) return filled;
  const lists = { Country: countries, State: Object.assign({}, ...Object.values(states)) };
  for (const part of ['Billing', 'Shipping'])
    for (const [what, names] of Object.entries<Readonly<Record<string, string>>>(lists)) {
      const code = filled[`${part}${what}Code`];
      const name = filled[`${part}${what}`];
      if (code !== undefined) filled[`${part}${what}`] = names[String(code)] ?? null;
      else if (name !== undefined)
        filled[`${part}${what}Code`] = Object.keys(names).find((key) => names[key] === name) ?? null;
    }
  return filled;
}

/** A state that the record's country does not have, whichever of the two is new. */
function stateErrors(
  org: Org,
  account: StoredAccount | undefined,
  values: Readonly<Record<string, PropertyValue>>,
): readonly RecordError[] {
  if (org.options.countries === undefined) return [];
  const written = withCodes(org, values);
  return ['Billing', 'Shipping'].flatMap((part) => {
    const name = `${part}StateCode`;
    const { [name]: state = null, [`${part}CountryCode`]: country = null } = { ...account?.values, ...written };
    const isNew = name in written || `${part}CountryCode` in written;
    const states = org.options.states?.[String(country)];
    return !isNew || state === null || states?.[String(state)] !== undefined
      ? []
      : [foreign('state', `${part} State/Province`, name)];
  });
}

const foreign = (what: 'state' | 'country', label: string, name: string): RecordError =>
  recordError(
    'FIELD_INTEGRITY_EXCEPTION',
    `There's a problem with this ${what}, even though it may appear correct. Please select a ${what}/territory from the list of valid ones.: ${label}`,
    [name],
  );

export const unknownField = (name: string): RecordError =>
  recordError('INVALID_FIELD', `No such column '${name}' on sobject of type Account`);

function fieldError(
  org: Org,
  account: StoredAccount | undefined,
  field: FieldDefinition,
  value: PropertyValue,
): RecordError | undefined {
  const { name } = field;
  if (account !== undefined && !isUpdateable(account, field)) {
    return recordError(
      'INVALID_FIELD_FOR_INSERT_UPDATE',
      `Unable to create/update fields: ${name}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`,
      [name],
    );
  }
  if (value === null) return blankError(field);
  if (typeof value === 'number') return numberError(field, value);
  return typeof value === 'string' ? textError(org, account, field, value) : undefined;
}

/** A person account takes its name from the person. */
const isUpdateable = (account: StoredAccount, { name, updateable }: FieldDefinition): boolean =>
  updateable && !(name === 'Name' && rawValue(account, 'IsPersonAccount') === true);

function blankError({ name, label, type, nillable }: FieldDefinition): RecordError | undefined {
  if (type === 'boolean')
    return recordError('INVALID_TYPE_ON_FIELD_IN_RECORD', `${label}: value not of required type: null`, [name]);
  return nillable ? undefined : recordError('REQUIRED_FIELD_MISSING', `Required fields are missing: [${name}]`, [name]);
}

function numberError({ name, label, digits, scale }: FieldDefinition, value: number): RecordError | undefined {
  if (Math.abs(value) < 10 ** (digits > 0 ? digits : 18 - scale)) return undefined;
  return recordError(
    'NUMBER_OUTSIDE_VALID_RANGE',
    `${label}: value outside of valid range on numeric field: ${value}`,
    [name],
  );
}

function textError(
  org: Org,
  account: StoredAccount | undefined,
  field: FieldDefinition,
  value: string,
): RecordError | undefined {
  const error = formError(org, field, value);
  if (error !== undefined) return error;
  if (field.name === 'ParentId') return parentError(org, account, value);
  return field.unique ? duplicateError(org, account, field, value) : undefined;
}

/** The error of a text alone, independent of other records. */
function formError(
  org: Org,
  { name, label, length, type, restricted, values }: FieldDefinition,
  value: string,
): RecordError | undefined {
  if (length > 0 && value.length > length) {
    return recordError(
      'STRING_TOO_LONG',
      `${label}: data value too large: ${value.slice(0, 40)} (max length=${length})`,
      [name],
    );
  }
  if (type === 'email' && !EMAIL.test(value)) {
    return recordError('INVALID_EMAIL_ADDRESS', `${label}: invalid email address: ${value}`, [name]);
  }
  if (/^(Billing|Shipping)(State|Country)(Code)?$/.test(name) && isForeign(org, name, value))
    return foreign(name.includes('State') ? 'state' : 'country', label, name);
  if (!restricted || values.includes(value)) return undefined;
  return recordError(
    'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
    `${label}: bad value for restricted picklist field: ${value}`,
    [name],
  );
}

function duplicateError(
  org: Org,
  account: StoredAccount | undefined,
  { name }: FieldDefinition,
  value: string,
): RecordError | undefined {
  const holder = org.accounts.holder(name, value);
  if (holder === undefined || holder === account) return undefined;
  return recordError(
    'DUPLICATE_VALUE',
    `duplicate value found: ${name} duplicates value on record with id: ${holder.id.slice(0, 15)}`,
  );
}

function parentError(org: Org, account: StoredAccount | undefined, parentId: string): RecordError | undefined {
  const parent = org.accounts.find(parentId);
  if (parent === undefined || parent.deleted)
    return recordError('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', ['ParentId']);
  const seen = new Set<StoredAccount>();
  for (let at: StoredAccount | undefined = parent; at !== undefined && !seen.has(at); ) {
    if (at === account)
      return recordError('CIRCULAR_DEPENDENCY', 'attempt to violate hierarchy constraints', ['ParentId']);
    seen.add(at);
    const above = rawValue(at, 'ParentId');
    at = typeof above === 'string' ? org.accounts.find(above) : undefined;
  }
  return undefined;
}

/** Danish states are not configured in any org. */
function isForeign({ options: { countries, states = {} } }: Org, name: string, value: string): boolean {
  if (countries === undefined) return false;
  const lists = name.includes('State') ? Object.values(states) : [countries];
  return !lists.some((names) =>
    name.endsWith('Code') ? names[value] !== undefined : Object.values(names).includes(value),
  );
}

const timeOf = (text: string): number =>
  /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) : Number.NaN;
