/**
 * The company properties that cvrsync asks a HubSpot account to have, which hold the register's values apart from what
 * people wrote. All are optional; cvrsync reads `cvr_number` and `cvr_hold` and never writes them.
 */
import { FIELDS, type FieldName, KIND_TYPES } from '../../fields.ts';
import type { PropertyDefinition } from '../../provider.ts';

export interface CustomProperty extends PropertyDefinition {
  readonly field?: FieldName;
}

const custom = (name: string, field: FieldName, label: string): CustomProperty => {
  return { name, label, type: KIND_TYPES[FIELDS[field].kind], field, year: field === 'reportYear' || undefined };
};

export const REGISTER_PROPERTIES: readonly CustomProperty[] = [
  custom('cvr_name', 'name', 'CVR name'),
  custom('cvr_status', 'status', 'CVR status'),
  custom('cvr_form', 'form', 'CVR company form'),
  custom('cvr_street', 'street', 'CVR street'),
  custom('cvr_postal_code', 'postalCode', 'CVR postal code'),
  custom('cvr_city', 'city', 'CVR city'),
  custom('cvr_municipality', 'municipality', 'CVR municipality'),
  custom('cvr_country_code', 'countryCode', 'CVR country code'),
  custom('cvr_industry_code', 'industryCode', 'CVR industry code'),
  custom('cvr_industry', 'industryText', 'CVR industry'),
  custom('cvr_purpose', 'purpose', 'CVR purpose'),
  custom('cvr_email', 'email', 'CVR e-mail'),
  custom('cvr_phone', 'phone', 'CVR phone'),
  custom('cvr_website', 'website', 'CVR website'),
  custom('cvr_employees', 'employees', 'CVR employees'),
  custom('cvr_employees_interval', 'employeesQuarterly', 'CVR employees, interval'),
  custom('cvr_capital', 'capital', 'CVR capital'),
  custom('cvr_capital_currency', 'capitalCurrency', 'CVR capital currency'),
  custom('cvr_start_date', 'startDate', 'CVR start date'),
  custom('cvr_end_date', 'endDate', 'CVR end date'),
  custom('cvr_advertising_protected', 'advertisingProtected', 'CVR advertising protection'),
  custom('cvr_report_year', 'reportYear', 'CVR report year'),
  custom('cvr_report_url', 'reportUrl', 'CVR report'),
  custom('cvr_report_currency', 'reportCurrency', 'CVR report currency'),
  custom('cvr_revenue', 'revenue', 'CVR revenue'),
  custom('cvr_gross_result', 'grossResult', 'CVR gross result'),
  custom('cvr_result', 'result', 'CVR result'),
  custom('cvr_equity', 'equity', 'CVR equity'),
  custom('cvr_changed_at', 'registerChangedAt', 'CVR changed at'),
  custom('cvr_sync_url', 'dashboardUrl', 'cvrsync page'),
];

/** The CVR number, unique so that a company can be found by it and created only once. */
const CVR_NUMBER: CustomProperty = {
  name: 'cvr_number',
  label: 'CVR number',
  type: 'string',
  unique: true,
};

/** Set by a person: leave this company alone. */
const CVR_HOLD: CustomProperty = {
  name: 'cvr_hold',
  label: 'CVR hold',
  type: 'boolean',
};

export const HUBSPOT_DEFINITIONS: readonly PropertyDefinition[] = [CVR_NUMBER, ...REGISTER_PROPERTIES, CVR_HOLD].map(
  ({ field: _, ...definition }) => definition,
);
