/** HubSpot's types for the kinds of property a preset asks for. */
import type { PropertyDefinition } from '../../provider.ts';

/**
 * `type` and `fieldType` by kind, under the names of the client's enumerations; in lower case they are HubSpot's own.
 * HubSpot refuses pairs that do not match.
 */
export const WIRE_TYPES = {
  string: { type: 'String', fieldType: 'Text' },
  multiline: { type: 'String', fieldType: 'Textarea' },
  url: { type: 'String', fieldType: 'Text' },
  number: { type: 'Number', fieldType: 'Number' },
  date: { type: 'Date', fieldType: 'Date' },
  datetime: { type: 'Datetime', fieldType: 'Date' },
  boolean: { type: 'Bool', fieldType: 'Booleancheckbox' },
} as const satisfies Record<PropertyDefinition['type'], { readonly type: string; readonly fieldType: string }>;
