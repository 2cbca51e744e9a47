/**
 * The Account fields that cvrsync asks a Salesforce org to have, which hold the register's values apart from what
 * people wrote. All are optional; cvrsync reads `CVR_Number__c` and `CVR_Hold__c` and never writes them.
 */
import type { FieldName } from '../../fields.ts';
import type { PropertyDefinition } from '../../provider.ts';

/** What Salesforce needs to create a field: its describe type, and its length or precision. */
export interface CustomField {
  readonly name: string;
  readonly label: string;
  readonly type: 'string' | 'textarea' | 'phone' | 'email' | 'url' | 'double' | 'boolean' | 'date' | 'datetime';
  readonly length?: number;
  readonly scale?: number;
  readonly unique?: true;
  readonly field?: FieldName;
}

/** The fields that the preset fills, in the order of display. */
export const REGISTER_FIELDS: readonly CustomField[] = [
  { name: 'CVR_Name__c', label: 'CVR Name', type: 'string', length: 255, field: 'name' },
  { name: 'CVR_Status__c', label: 'CVR Status', type: 'string', length: 80, field: 'status' },
  { name: 'CVR_Form__c', label: 'CVR Company Form', type: 'string', length: 80, field: 'form' },
  { name: 'CVR_Industry_Code__c', label: 'CVR Industry Code', type: 'string', length: 10, field: 'industryCode' },
  { name: 'CVR_Industry__c', label: 'CVR Industry', type: 'string', length: 255, field: 'industryText' },
  { name: 'CVR_Purpose__c', label: 'CVR Purpose', type: 'textarea', length: 32_000, field: 'purpose' },
  { name: 'CVR_Email__c', label: 'CVR Email', type: 'email', length: 80, field: 'email' },
  { name: 'CVR_Phone__c', label: 'CVR Phone', type: 'phone', length: 40, field: 'phone' },
  { name: 'CVR_Website__c', label: 'CVR Website', type: 'url', length: 255, field: 'website' },
  { name: 'CVR_Employees__c', label: 'CVR Employees', type: 'double', scale: 0, field: 'employees' },
  { name: 'CVR_Capital__c', label: 'CVR Capital', type: 'double', scale: 2, field: 'capital' },
  {
    name: 'CVR_Capital_Currency__c',
    label: 'CVR Capital Currency',
    type: 'string',
    length: 10,
    field: 'capitalCurrency',
  },
  { name: 'CVR_Start_Date__c', label: 'CVR Start Date', type: 'date', field: 'startDate' },
  { name: 'CVR_End_Date__c', label: 'CVR End Date', type: 'date', field: 'endDate' },
  {
    name: 'CVR_Advertising_Protected__c',
    label: 'CVR Advertising Protection',
    type: 'boolean',
    field: 'advertisingProtected',
  },
  { name: 'CVR_Report_Year__c', label: 'CVR Report Year', type: 'double', scale: 0, field: 'reportYear' },
  {
    name: 'CVR_Report_Currency__c',
    label: 'CVR Report Currency',
    type: 'string',
    length: 10,
    field: 'reportCurrency',
  },
  { name: 'CVR_Revenue__c', label: 'CVR Revenue', type: 'double', scale: 2, field: 'revenue' },
  { name: 'CVR_Gross_Result__c', label: 'CVR Gross Result', type: 'double', scale: 2, field: 'grossResult' },
  { name: 'CVR_Result__c', label: 'CVR Result', type: 'double', scale: 2, field: 'result' },
  { name: 'CVR_Equity__c', label: 'CVR Equity', type: 'double', scale: 2, field: 'equity' },
  { name: 'CVR_Changed_At__c', label: 'CVR Changed At', type: 'datetime', field: 'registerChangedAt' },
  { name: 'CVR_Sync_Url__c', label: 'cvrsync Page', type: 'url', length: 255, field: 'dashboardUrl' },
];

/** The CVR number, unique so that an account can be found by it and created only once. */
export const CVR_NUMBER: CustomField = {
  name: 'CVR_Number__c',
  label: 'CVR Number',
  type: 'string',
  length: 20,
  unique: true,
};

/** Set by a person: leave this account alone. */
export const CVR_HOLD: CustomField = { name: 'CVR_Hold__c', label: 'CVR Hold', type: 'boolean' };

/** Every field of cvrsync; those that it only reads come first. */
export const OWN_FIELDS: readonly CustomField[] = [CVR_NUMBER, CVR_HOLD, ...REGISTER_FIELDS];

const TYPES: Readonly<Record<CustomField['type'], PropertyDefinition['type']>> = {
  string: 'string',
  textarea: 'multiline',
  phone: 'string',
  email: 'string',
  url: 'url',
  double: 'number',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
};

export const definitions: readonly PropertyDefinition[] = OWN_FIELDS.map(({ name, label, type, unique }) => ({
  name,
  label,
  type: TYPES[type],
  unique,
}));
