/** What HubSpot checks of written properties, and what it makes of the texts; pure. */
import { MAX_TEXT } from '../read/properties.ts';
import type { EmulatedProperty } from './definitions.ts';
import type { Companies, EmulatedCompany } from './records.ts';

/** One entry of the list inside a `VALIDATION_ERROR` message. */
export interface InvalidValue {
  readonly isValid: false;
  readonly message: string;
  readonly error: string;
  readonly name: string;
  readonly localizedErrorMessage: string;
  readonly portalId: number;
}

/** A rule of the account: who sets `when` must have `needs` set. Enforced on the API from 2026-09 on. */
export interface RequiredRule {
  readonly when: string;
  readonly needs: string;
}

export interface Rules {
  readonly definitions: ReadonlyMap<string, EmulatedProperty>;
  readonly required: readonly RequiredRule[];
  readonly portalId: number;
}

/** Every fault of the texts written to a company; an empty list means they may be stored. */
export function invalidValues(
  company: EmulatedCompany | undefined,
  texts: Readonly<Record<string, string>>,
  rules: Rules,
  companies: Companies,
  version: string,
): readonly InvalidValue[] {
  const faults: InvalidValue[] = [];
  const say = (name: string, error: string, message: string) =>
    faults.push({ isValid: false, message, error, name, localizedErrorMessage: message, portalId: rules.portalId });
  for (const [name, text] of Object.entries(texts)) {
    const definition = rules.definitions.get(name);
    if (definition === undefined) say(name, 'PROPERTY_DOESNT_EXIST', `Property "${name}" does not exist`);
    else if (definition.modificationMetadata.readOnlyValue) {
      say(name, 'READ_ONLY_VALUE', `"${name}" is a read only property; its value cannot be set.`);
    } else if (text !== '') {
      const wrong = wrongText(definition, text);
      if (wrong !== undefined) say(name, wrong.error, wrong.message);
      const holder = definition.hasUniqueValue ? companies.holder(name, text) : undefined;
      if (holder !== undefined && holder.id !== company?.id) {
        say(
          name,
          'CONFLICTING_UNIQUE_VALUE',
          `${text} is already used by another company for the unique property ${name}`,
        );
      }
    }
  }
  if (version !== 'v3' && version >= '2026-09') {
    const after = { ...company?.properties, ...texts };
    for (const { when, needs } of rules.required) {
      if (Object.hasOwn(texts, when) && (after[when] ?? '') !== '' && (after[needs] ?? '') === '') {
        say(needs, 'REQUIRED_PROPERTY_MISSING', `Property "${needs}" is required when "${when}" is set`);
      }
    }
  }
  return faults;
}

function wrongText(
  { type, fieldType, options, name }: EmulatedProperty,
  text: string,
): { error: string; message: string } | undefined {
  if ((type === 'string' || type === 'phone_number') && text.length > MAX_TEXT) {
    return { error: 'INVALID_STRING_LENGTH', message: `${name} is longer than ${MAX_TEXT} characters` };
  }
  if (type === 'number' && !/^-?(\d+(\.\d*)?|\.\d+)$/.test(text))
    return { error: 'INVALID_LONG', message: `${text} was not a valid number.` };
  if (type === 'date' || type === 'datetime') {
    const ms = instantOf(text);
    if (ms === undefined) return { error: 'INVALID_DATE', message: `${text} was not a valid ${type}.` };
    if (type === 'date' && ms % 86_400_000 !== 0)
      return { error: 'INVALID_DATE', message: `${text} is not at midnight UTC` };
  }
  if (type === 'enumeration' || type === 'bool') {
    const chosen = fieldType === 'checkbox' ? text.split(';').filter((value) => value !== '') : [text];
    const allowed = options.map((option) => option.value);
    if (!chosen.every((value) => allowed.includes(value))) {
      return {
        error: 'INVALID_OPTION',
        message: `${text} was not one of the allowed options: [${allowed.join(', ')}]`,
      };
    }
  }
  return undefined;
}

/** The text HubSpot keeps for one that was sent. */
export function storedText(definition: EmulatedProperty | undefined, text: string): string {
  if (text === '' || definition === undefined) return text;
  if (definition.name === 'domain')
    return (
      text
        .toLowerCase()
        .replace(/^https?:\/\//, '')
        .replace(/^www\./, '')
        .split('/', 1)[0] ?? ''
    );
  const ms = definition.type === 'date' || definition.type === 'datetime' ? instantOf(text) : undefined;
  if (ms === undefined) return text;
  return definition.type === 'date' ? new Date(ms).toISOString().slice(0, 10) : new Date(ms).toISOString();
}

function instantOf(text: string): number | undefined {
  if (/^-?\d{5,15}$/.test(text)) return Number(text);
  const ms = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(ms) ? ms : undefined;
}
