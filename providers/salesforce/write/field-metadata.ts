/**
 * A field for the Tooling API. https://developer.salesforce.com/docs/atlas.en-us.api_meta.meta/api_meta/customfield.htm
 */
import type { PropertyDefinition } from '../../provider.ts';
import { type CustomField, OWN_FIELDS } from './custom-fields.ts';

const TEXT_LENGTH = 255;
const LONG_TEXT_LENGTH = 32_000;
const DIGITS = 18;

/** cvrsync's own fields have a length and precision; others get the widest of their type. */
export function metadataOf({ name, label, type, unique }: PropertyDefinition): Readonly<Record<string, unknown>> {
  const own = OWN_FIELDS.find((field) => field.name === name);
  const index = unique === true ? { unique: true, externalId: true, caseSensitive: false } : {};
  return { label, ...typed(own ?? { name, label, type: GENERAL[type] }), ...index };
}

const GENERAL: Readonly<Record<PropertyDefinition['type'], CustomField['type']>> = {
  string: 'string',
  multiline: 'textarea',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'datetime',
  url: 'url',
};

function typed({ type, length, scale }: CustomField): Readonly<Record<string, unknown>> {
  switch (type) {
    case 'string':
      return { type: 'Text', length: length ?? TEXT_LENGTH };
    case 'textarea':
      return { type: 'LongTextArea', length: length ?? LONG_TEXT_LENGTH, visibleLines: 5 };
    case 'double':
      return { type: 'Number', precision: DIGITS, scale: scale ?? 2 };
    case 'boolean':
      return { type: 'Checkbox', defaultValue: 'false' };
    case 'date':
      return { type: 'Date' };
    case 'datetime':
      return { type: 'DateTime' };
    case 'url':
      return { type: 'Url' };
    case 'email':
      return { type: 'Email' };
    case 'phone':
      return { type: 'Phone' };
  }
}
