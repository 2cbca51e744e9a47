/** HubSpot's checks of written properties, and its changes to their texts; pure. */
import { MAX_TEXT } from '../../../hubspot/read/properties.ts';
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

/** A rule of the account: a write of `when` requires `needs`. HubSpot enforces it on the API from 2026-09 on. */
export interface RequiredRule {
  readonly when: string;
  readonly needs: string;
}

export interface Rules {
  readonly definitions: ReadonlyMap<string, EmulatedProperty>;
  readonly required: readonly RequiredRule[];
  readonly portalId: number;
}

interface Fault {
  readonly name: string;
  readonly error: string;
  readonly message: string;
}

/** Every fault of the texts written to a company; none if they may be stored. */
export function invalidValues(
  { rules, companies }: { readonly rules: Rules; readonly companies: Companies },
  company: EmulatedCompany | undefined,
  texts: Readonly<Record<string, string>>,
  version: string,
): readonly InvalidValue[] {
  const wrong = Object.entries(texts).flatMap(([name, text]): readonly Fault[] => {
    const definition = rules.definitions.get(name);
    if (definition === undefined)
      return [{ name, error: 'PROPERTY_DOESNT_EXIST', message: `Property "${name}" does not exist` }];
    const holder = definition.hasUniqueValue && text !== '' ? companies.holder(name, text) : undefined;
    return faultsOf(definition, text, holder !== undefined && holder.id !== company?.id);
  });
  const missing =
    version !== 'v3' && version >= '2026-09' ? missingTexts(rules.required, company?.properties ?? {}, texts) : [];
  return [...wrong, ...missing].map(({ name, error, message }) => ({
    isValid: false,
    message,
    error,
    name,
    localizedErrorMessage: message,
    portalId: rules.portalId,
  }));
}

function faultsOf(definition: EmulatedProperty, text: string, isTaken: boolean): readonly Fault[] {
  const { name } = definition;
  if (definition.modificationMetadata.readOnlyValue) {
    const message = `"${name}" is a read only property; its value cannot be set.`;
    return [{ name, error: 'READ_ONLY_VALUE', message }];
  }
  const wrong = text === '' ? undefined : wrongText(definition, text);
  const taken = `${text} is already used by another company for the unique property ${name}`;
  return [
    ...(wrong === undefined ? [] : [{ name, ...wrong }]),
    ...(isTaken ? [{ name, error: 'CONFLICTING_UNIQUE_VALUE', message: taken }] : []),
  ];
}

function missingTexts(
  required: readonly RequiredRule[],
  before: EmulatedCompany['properties'],
  texts: Readonly<Record<string, string>>,
): readonly Fault[] {
  const after = { ...before, ...texts };
  return required
    .filter(
      ({ when, needs }) => Object.hasOwn(texts, when) && (after[when] ?? '') !== '' && (after[needs] ?? '') === '',
    )
    .map(({ when, needs }) => ({
      name: needs,
      error: 'REQUIRED_PROPERTY_MISSING',
      message: `Property "${needs}" is required when "${when}" is set`,
    }));
}

function wrongText(
  definition: EmulatedProperty,
  text: string,
): { readonly error: string; readonly message: string } | undefined {
  const { type, name } = definition;
  if ((type === 'string' || type === 'phone_number') && text.length > MAX_TEXT) {
    return { error: 'INVALID_STRING_LENGTH', message: `${name} is longer than ${MAX_TEXT} characters` };
  }
  if (type === 'number' && !/^-?(\d+(\.\d*)?|\.\d+)$/.test(text))
    return { error: 'INVALID_LONG', message: `${text} was not a valid number.` };
  if (type === 'date' || type === 'datetime') {
    const message = wrongDate(type, text);
    return message === undefined ? undefined : { error: 'INVALID_DATE', message };
  }
  if (type === 'enumeration' || type === 'bool') {
    const message = wrongOption(definition, text);
    return message === undefined ? undefined : { error: 'INVALID_OPTION', message };
  }
  return undefined;
}

function wrongDate(type: 'date' | 'datetime', text: string): string | undefined {
  const ms = instantOf(text);
  if (ms === undefined) return `${text} was not a valid ${type}.`;
  return type === 'date' && ms % 86_400_000 !== 0 ? `${text} is not at midnight UTC` : undefined;
}

function wrongOption({ fieldType, options }: EmulatedProperty, text: string): string | undefined {
  const chosen = fieldType === 'checkbox' ? text.split(';').filter((value) => value !== '') : [text];
  const allowed = options.map((option) => option.value);
  if (chosen.every((value) => allowed.includes(value))) return undefined;
  return `${text} was not one of the allowed options: [${allowed.join(', ')}]`;
}

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
