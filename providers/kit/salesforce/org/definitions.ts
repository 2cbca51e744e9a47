/** The Account fields of an emulated org: those of Salesforce that matter here, and cvrsync's own. */
import { type CustomField, CVR_HOLD, CVR_NUMBER, REGISTER_FIELDS } from '../../../salesforce/write/custom-fields.ts';

export interface FieldDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly length: number;
  readonly scale: number;
  /** Digits of an integer. */
  readonly digits: number;
  readonly updateable: boolean;
  readonly nillable: boolean;
  /** No record can be created without it, because nothing fills it. */
  readonly required: boolean;
  readonly filterable: boolean;
  readonly unique: boolean;
  /** A picklist's values; a restricted one takes no others. */
  readonly values: readonly string[];
  readonly restricted: boolean;
}

/** An extra field of a test or plugin author; it replaces one of the same name. */
export type FieldOptions = { readonly name: string } & Partial<FieldDefinition>;

/** Completes a definition. */
export const define = (options: FieldOptions): FieldDefinition => {
  const type = options.type ?? 'string';
  return {
    label: options.name,
    type,
    length: TEXT_LENGTHS[type] ?? 0,
    scale: 0,
    digits: type === 'int' ? 8 : 0,
    updateable: true,
    nillable: type !== 'boolean',
    required: false,
    filterable: true,
    unique: false,
    values: [],
    restricted: false,
    ...options,
  };
};

export function orgDefinitions(
  extra: readonly FieldOptions[],
  missing: readonly string[],
  on: SwitchedOn,
): Map<string, FieldDefinition> {
  const own = [CVR_NUMBER, CVR_HOLD, ...REGISTER_FIELDS].map(fromCustom);
  const all = [...STANDARD, ...switchedOn(on), ...own].map(define);
  const byName = new Map(all.map((definition) => [definition.name, definition]));
  for (const name of missing) byName.delete(name);
  for (const options of extra) byName.set(options.name, define(options));
  return byName;
}

/** The features of an org that add fields. */
export interface SwitchedOn {
  readonly countries?: Readonly<Record<string, string>>;
  readonly states?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly currencies?: readonly string[];
  readonly personAccounts?: boolean;
}

function switchedOn({ countries, states = {}, currencies, personAccounts }: SwitchedOn): readonly FieldOptions[] {
  const codes = (part: string, what: 'Country' | 'State', values: readonly string[]): FieldOptions => {
    const name = `${part}${what}Code`;
    return { name, label: `${part} ${what} Code`, type: 'picklist', length: 10, values, restricted: true };
  };
  const stateCodes = [...new Set(Object.values(states).flatMap((names) => Object.keys(names)))];
  const lists = ['Billing', 'Shipping'].flatMap((part) =>
    countries === undefined ? [] : [codes(part, 'Country', Object.keys(countries)), codes(part, 'State', stateCodes)],
  );
  const isoCode = { name: 'CurrencyIsoCode', label: 'Account Currency', type: 'picklist', length: 3, nillable: false };
  return [
    ...lists,
    ...(currencies === undefined ? [] : [{ ...isoCode, values: currencies, restricted: true }]),
    ...(personAccounts === true ? [{ name: 'IsPersonAccount', type: 'boolean', updateable: false }] : []),
  ];
}

function fromCustom({ name, label, type, length, scale, unique }: CustomField): FieldOptions {
  const filterable = !(type === 'textarea' && (length ?? 0) > 255);
  return { name, label, type, length: length ?? 0, scale: scale ?? 0, unique: unique ?? false, filterable };
}

const TEXT_LENGTHS: Readonly<Record<string, number>> = {
  string: 255,
  textarea: 255,
  phone: 40,
  email: 80,
  url: 255,
  picklist: 40,
};

const INDUSTRIES = [
  'Agriculture',
  'Banking',
  'Construction',
  'Consulting',
  'Food & Beverage',
  'Retail',
  'Technology',
  'Other',
];

const address = (part: 'Billing' | 'Shipping'): FieldOptions[] => [
  { name: `${part}Street`, label: `${part} Street`, type: 'textarea', length: 255 },
  { name: `${part}City`, label: `${part} City`, length: 40 },
  { name: `${part}State`, label: `${part} State/Province`, length: 80 },
  { name: `${part}PostalCode`, label: `${part} Zip/Postal Code`, length: 20 },
  { name: `${part}Country`, label: `${part} Country`, length: 80 },
  { name: `${part}Address`, label: `${part} Address`, type: 'address', updateable: false, filterable: false },
];

const STANDARD: readonly FieldOptions[] = [
  { name: 'Id', label: 'Account ID', type: 'id', length: 18, updateable: false, nillable: false },
  { name: 'IsDeleted', label: 'Deleted', type: 'boolean', updateable: false },
  { name: 'MasterRecordId', label: 'Master Record ID', type: 'reference', length: 18, updateable: false },
  { name: 'ParentId', label: 'Parent Account ID', type: 'reference', length: 18 },
  { name: 'Name', label: 'Account Name', length: 255, nillable: false, required: true },
  { name: 'Type', label: 'Account Type', type: 'picklist', values: ['Prospect', 'Customer', 'Partner', 'Other'] },
  ...address('Billing'),
  ...address('Shipping'),
  { name: 'Phone', label: 'Account Phone', type: 'phone' },
  { name: 'Fax', label: 'Account Fax', type: 'phone' },
  { name: 'AccountNumber', label: 'Account Number', length: 40 },
  { name: 'Website', label: 'Website', type: 'url' },
  { name: 'Sic', label: 'SIC Code', length: 20 },
  { name: 'SicDesc', label: 'SIC Description', length: 80 },
  { name: 'Industry', label: 'Industry', type: 'picklist', values: INDUSTRIES },
  { name: 'AnnualRevenue', label: 'Annual Revenue', type: 'currency' },
  { name: 'NumberOfEmployees', label: 'Employees', type: 'int' },
  { name: 'Description', label: 'Account Description', type: 'textarea', length: 32_000, filterable: false },
  { name: 'OwnerId', label: 'Owner ID', type: 'reference', length: 18, nillable: false },
  { name: 'CreatedDate', label: 'Created Date', type: 'datetime', updateable: false, nillable: false },
  { name: 'LastModifiedDate', label: 'Last Modified Date', type: 'datetime', updateable: false, nillable: false },
  { name: 'LastModifiedById', label: 'Last Modified By ID', type: 'reference', updateable: false, nillable: false },
  { name: 'SystemModstamp', label: 'System Modstamp', type: 'datetime', updateable: false, nillable: false },
];
