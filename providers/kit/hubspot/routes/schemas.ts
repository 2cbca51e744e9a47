/** The endpoints of property definitions, their groups and the account's rules, in an emulated account. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from '../account/account.ts';
import { define } from '../account/definitions.ts';

const MAX_UNIQUE = 10;
const FIELD_TYPES: Readonly<Record<string, readonly string[]>> = {
  string: ['text', 'textarea', 'phonenumber', 'html', 'file'],
  number: ['number'],
  date: ['date'],
  datetime: ['date'],
  enumeration: ['select', 'radio', 'checkbox'],
  bool: ['booleancheckbox'],
};

export function readDefinitions(account: HubspotAccount, name: string): EmulatorAnswer {
  if (name === '') return { status: 200, body: { results: [...account.definitions.values()] } };
  const definition = account.definitions.get(decodeURIComponent(name));
  return definition === undefined
    ? refusal(account, 404, 'OBJECT_NOT_FOUND', 'Property does not exist')
    : { status: 200, body: definition };
}

/** Creates a property; the name of a deleted one is not free. */
export function createDefinition(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const refuse = (message: string) => refusal(account, 400, 'VALIDATION_ERROR', message);
  const [name, label, type, fieldType, group] = [body.name, body.label, body.type, body.fieldType, body.groupName].map(
    (value) => (typeof value === 'string' ? value : ''),
  );
  if (name === undefined || !/^[a-z][a-z0-9_]{0,99}$/.test(name)) return refuse(`${name} is no name for a property`);
  if (label === undefined || label === '') return refuse('Some required fields were not set: [label]');
  if (type === undefined || fieldType === undefined || FIELD_TYPES[type]?.includes(fieldType) !== true)
    return refuse(`fieldType ${fieldType} does not go with type ${type}`);
  if (group === undefined || !account.groups.has(group)) return refuse(`Property group ${group} does not exist`);
  if (account.definitions.has(name) || account.archived.has(name))
    return refusal(account, 409, 'OBJECT_ALREADY_EXISTS', `A property named '${name}' already exists.`);
  const options = valuesOf(body.options);
  if (type === 'bool' && options.join() !== 'true,false') return refuse('a bool needs the options true and false');
  const hasUniqueValue = body.hasUniqueValue === true;
  const unique = [...account.definitions.values()].filter((definition) => definition.hasUniqueValue);
  if (hasUniqueValue && unique.length >= MAX_UNIQUE) return refuse(`at most ${MAX_UNIQUE} properties may be unique`);
  const own = define({ name, label, type, fieldType, options, hasUniqueValue, ...displayOf(body) });
  const definition = { ...own, groupName: group };
  account.definitions.set(name, definition);
  if (hasUniqueValue) account.companies.addUnique(name);
  return { status: 201, body: definition };
}

/** Archives a property with its values; its name is not free for a time. */
export function archiveDefinition(account: HubspotAccount, name: string): EmulatorAnswer {
  const definition = account.definitions.get(name);
  if (definition === undefined) return refusal(account, 404, 'OBJECT_NOT_FOUND', 'Property does not exist');
  if (!definition.modificationMetadata.archivable)
    return refusal(account, 400, 'VALIDATION_ERROR', `Property ${name} cannot be archived.`);
  account.definitions.delete(name);
  account.archived.add(name);
  return { status: 204 };
}

const displayOf = ({ numberDisplayHint, showCurrencySymbol }: Record<string, unknown>) => ({
  ...(typeof numberDisplayHint === 'string' && { numberDisplayHint }),
  ...(typeof showCurrencySymbol === 'boolean' && { showCurrencySymbol }),
});

const valuesOf = (options: unknown): readonly string[] =>
  Array.isArray(options) ? options.map((option: { value?: unknown }) => String(option.value)) : [];

/** Answers an empty batch; the connection never sends more. */
export const createDefinitions = (account: HubspotAccount, { inputs }: Record<string, unknown>): EmulatorAnswer => {
  const isEmpty = Array.isArray(inputs) && inputs.length === 0;
  return refusal(account, 400, 'VALIDATION_ERROR', isEmpty ? 'inputs is empty' : 'the emulator makes one at a time');
};

export const readGroups = (account: HubspotAccount): EmulatorAnswer => ({
  status: 200,
  body: { results: [...account.groups].map(groupOf) },
});

export function createGroup(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const { name } = body;
  if (typeof name !== 'string' || typeof body.label !== 'string')
    return refusal(account, 400, 'VALIDATION_ERROR', 'Some required fields were not set: [name, label]');
  if (account.groups.has(name))
    return refusal(account, 409, 'OBJECT_ALREADY_EXISTS', `The group ${name} already exists`);
  account.groups.add(name);
  return { status: 201, body: groupOf(name) };
}

const groupOf = (name: string) => ({ name, label: name, displayOrder: -1, archived: false });

/** The company's schema, as far as rules need it. */
export const readSchema = (account: HubspotAccount): EmulatorAnswer => ({
  status: 200,
  body: { id: '0-2', name: 'COMPANY', requiredProperties: account.options.requiredProperties ?? [], properties: [] },
});

export function readValidations(account: HubspotAccount): EmulatorAnswer {
  const { validations = [] } = account.options;
  if (validations === 'hidden') return refusal(account, 403, 'MISSING_SCOPES', 'not granted');
  const results = validations.map(({ property, ruleType, ruleArguments }) => ({
    propertyName: property,
    propertyValidationRules: [{ ruleType, ruleArguments, shouldApplyNormalization: false }],
  }));
  return { status: 200, body: { results } };
}
