/** The company properties of an emulated account: those of HubSpot that matter here, and cvrsync's own. */
import { HUBSPOT_DEFINITIONS } from '../../../hubspot/write/custom-properties.ts';
import { WIRE_TYPES } from '../../../hubspot/write/wire-types.ts';

export interface EmulatedProperty {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly fieldType: string;
  readonly groupName: string;
  readonly description: string;
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly hidden: boolean;
    readonly displayOrder: number;
  }[];
  readonly hasUniqueValue: boolean;
  readonly hidden: boolean;
  readonly calculated: boolean;
  readonly externalOptions: boolean;
  readonly hubspotDefined: boolean;
  readonly formField: boolean;
  /** How HubSpot shows the number: `unformatted` prevents 2,024 for 2024, `percentage` shows 0.333 as 33.3 %. */
  readonly numberDisplayHint?: string;
  /** The number is an amount in the account's currency. */
  readonly showCurrencySymbol?: boolean;
  readonly modificationMetadata: {
    readonly archivable: boolean;
    readonly readOnlyDefinition: boolean;
    readonly readOnlyValue: boolean;
  };
}

/** An extra property of a test or plugin author; it replaces one of the same name. */
export interface PropertyOptions {
  readonly name: string;
  readonly type?: string;
  readonly fieldType?: string;
  readonly label?: string;
  readonly options?: readonly string[];
  readonly hasUniqueValue?: boolean;
  readonly readOnly?: boolean;
  readonly calculated?: boolean;
  readonly hidden?: boolean;
  readonly numberDisplayHint?: string;
  readonly showCurrencySymbol?: boolean;
}

export function define(options: PropertyOptions, hubspotDefined = false): EmulatedProperty {
  const type = options.type ?? 'string';
  return {
    name: options.name,
    label: options.label ?? options.name,
    type,
    fieldType: options.fieldType ?? FIELD_TYPES[type] ?? 'text',
    groupName: 'companyinformation',
    description: '',
    options: (options.options ?? (type === 'bool' ? ['true', 'false'] : [])).map((value, displayOrder) => {
      return { value, label: value, hidden: false, displayOrder };
    }),
    hasUniqueValue: options.hasUniqueValue ?? false,
    hidden: options.hidden ?? false,
    calculated: options.calculated ?? false,
    externalOptions: false,
    hubspotDefined,
    formField: true,
    ...(options.numberDisplayHint !== undefined && { numberDisplayHint: options.numberDisplayHint }),
    ...(options.showCurrencySymbol !== undefined && { showCurrencySymbol: options.showCurrencySymbol }),
    modificationMetadata: {
      archivable: !hubspotDefined,
      readOnlyDefinition: hubspotDefined,
      readOnlyValue: (options.readOnly ?? false) || (options.calculated ?? false),
    },
  };
}

export function accountDefinitions(
  extra: readonly PropertyOptions[],
  missing: readonly string[],
): Map<string, EmulatedProperty> {
  const all = [
    ...STANDARD.map((options) => define(options, true)),
    ...HUBSPOT_DEFINITIONS.map(({ name, label, type, unique = false, year = false }) =>
      define({
        name,
        label,
        ...WIRE_TYPES[type],
        hasUniqueValue: unique,
        ...(year && { numberDisplayHint: 'unformatted' }),
      }),
    ),
  ];
  const byName = new Map(all.map((definition) => [definition.name, definition]));
  for (const name of missing) byName.delete(name);
  for (const options of extra) byName.set(options.name, define(options));
  return byName;
}

const FIELD_TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  date: 'date',
  datetime: 'date',
  enumeration: 'select',
  bool: 'booleancheckbox',
  phone_number: 'phonenumber',
};

/** Some of HubSpot's industries; an account has about 150. */
const INDUSTRIES = [
  'ACCOUNTING',
  'COMPUTER_SOFTWARE',
  'CONSTRUCTION',
  'FARMING',
  'FOOD_BEVERAGES',
  'INFORMATION_TECHNOLOGY_AND_SERVICES',
  'RETAIL',
  'TEXTILES',
];

const STANDARD: readonly PropertyOptions[] = [
  { name: 'name', label: 'Company name' },
  { name: 'domain', label: 'Company Domain Name' },
  { name: 'phone', label: 'Phone Number', fieldType: 'phonenumber' },
  { name: 'website', label: 'Website URL' },
  { name: 'address', label: 'Street Address' },
  { name: 'address2', label: 'Street Address 2' },
  { name: 'zip', label: 'Postal Code' },
  { name: 'city', label: 'City' },
  { name: 'state', label: 'State/Region' },
  { name: 'country', label: 'Country/Region' },
  { name: 'description', label: 'Description', fieldType: 'textarea' },
  { name: 'about_us', label: 'About Us', fieldType: 'textarea' },
  { name: 'industry', label: 'Industry', type: 'enumeration', options: INDUSTRIES },
  { name: 'type', label: 'Type', type: 'enumeration', options: ['PROSPECT', 'PARTNER', 'RESELLER', 'VENDOR', 'OTHER'] },
  {
    name: 'lifecyclestage',
    label: 'Lifecycle Stage',
    type: 'enumeration',
    options: ['subscriber', 'lead', 'opportunity', 'customer', 'other'],
  },
  { name: 'numberofemployees', label: 'Number of Employees', type: 'number' },
  { name: 'annualrevenue', label: 'Annual Revenue', type: 'number', showCurrencySymbol: true },
  { name: 'founded_year', label: 'Year Founded' },
  { name: 'hs_object_id', label: 'Record ID', type: 'number', readOnly: true },
  {
    name: 'hs_merged_object_ids',
    label: 'Merged record IDs',
    type: 'enumeration',
    fieldType: 'checkbox',
    readOnly: true,
  },
  { name: 'hs_parent_company_id', label: 'Parent Company', type: 'number', readOnly: true },
  { name: 'hs_num_child_companies', label: 'Number of child companies', type: 'number', calculated: true },
  { name: 'createdate', label: 'Create Date', type: 'datetime', readOnly: true },
  { name: 'hs_lastmodifieddate', label: 'Last Modified Date', type: 'datetime', readOnly: true },
];
