import type { PropertyDefinition } from '../../provider.ts';

/** HubSpot's `type` and `fieldType` for each kind of property. HubSpot refuses pairs that do not match. */
export const WIRE_TYPES = {
  string: { type: 'string', fieldType: 'text' },
  multiline: { type: 'string', fieldType: 'textarea' },
  url: { type: 'string', fieldType: 'text' },
  number: { type: 'number', fieldType: 'number' },
  date: { type: 'date', fieldType: 'date' },
  datetime: { type: 'datetime', fieldType: 'date' },
  boolean: { type: 'bool', fieldType: 'booleancheckbox' },
} as const satisfies Record<PropertyDefinition['type'], { readonly type: string; readonly fieldType: string }>;
