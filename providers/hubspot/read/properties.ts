import type { Property } from '../../provider.ts';

export interface Definition {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly fieldType: string;
  readonly options?: readonly { readonly value: string; readonly label?: string | null }[];
  readonly calculated?: boolean;
  readonly externalOptions?: boolean;
  readonly hasUniqueValue?: boolean;
  readonly showCurrencySymbol?: boolean;
  readonly numberDisplayHint?: string;
  readonly archived?: boolean;
  readonly modificationMetadata?: { readonly readOnlyValue: boolean };
}

/** The longest text of a property. https://developers.hubspot.com/docs/api-reference/crm-properties-v3/guide */
export const MAX_TEXT = 65_536;

/** HubSpot's definition as a property of the contract; `currency` is the account's. */
export function toProperty(definition: Definition, currency?: string): Property {
  const type = typeOf(definition);
  const options = definition.options ?? [];
  return {
    name: definition.name,
    label: definition.label || definition.name,
    type,
    writable: definition.modificationMetadata?.readOnlyValue !== true && definition.calculated !== true,
    ...readOnlyBy(definition),
    maxLength: definition.type === 'string' || definition.type === 'phone_number' ? MAX_TEXT : undefined,
    // An option without a label must not stop all writes to an account.
    options: type === 'enumeration' ? options.map(({ value, label }) => ({ value, label: label || value })) : undefined,
    // The definition does not list options that come from elsewhere, such as owners.
    open: (type === 'enumeration' && definition.externalOptions === true) || undefined,
    money: isMoney(definition) || undefined,
    currency: isMoney(definition) ? currency : undefined,
    ownSite: SITES.includes(definition.name) || undefined,
    fraction: (type === 'number' && definition.numberDisplayHint === 'percentage') || undefined,
    unique: definition.hasUniqueValue || undefined,
  };
}

/** HubSpot shows its own revenue in the account's currency, even if the definition does not say so. */
const isMoney = ({ type, name, showCurrencySymbol }: Definition): boolean =>
  type === 'number' && (showCurrencySymbol === true || name === 'annualrevenue');

/** HubSpot fills a blank `domain` from `website`, and enriches the company by its domain. */
const SITES: readonly string[] = ['website', 'domain'];

/** Why a property is read-only for all users: HubSpot's definitions do not mention rights. */
function readOnlyBy({ calculated, modificationMetadata }: Definition): Pick<Property, 'readOnly'> {
  if (calculated === true) return { readOnly: 'HubSpot calculates it' };
  return modificationMetadata?.readOnlyValue === true ? { readOnly: 'HubSpot sets it by itself' } : {};
}

function typeOf({ type, fieldType }: Definition): Property['type'] {
  switch (type) {
    case 'string':
      if (fieldType === 'textarea') return 'multiline';
      return fieldType === 'phonenumber' ? 'phone' : fieldType === 'html' ? 'other' : 'string';
    case 'phone_number':
      return 'phone';
    case 'bool':
      return 'boolean';
    case 'number':
    case 'date':
    case 'datetime':
    case 'enumeration':
      return type;
    default:
      return 'other';
  }
}
