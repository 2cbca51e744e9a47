/** Fields created and deleted through the Tooling API, and their visibility: at first nobody sees a new field. */

import { objectOf, textOf } from '../../../salesforce/client/json.ts';
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { created } from './activities.ts';
import { define, type FieldOptions } from './definitions.ts';
import type { Org } from './org.ts';
import { refusal } from './refusal.ts';
import { listField } from './tables.ts';

const TYPES: Readonly<Record<string, string>> = {
  Text: 'string',
  LongTextArea: 'textarea',
  Number: 'double',
  Checkbox: 'boolean',
  Date: 'date',
  DateTime: 'datetime',
  Url: 'url',
  Email: 'email',
  Phone: 'phone',
};

export function createCustomField(org: Org, json: unknown): EmulatorAnswer {
  if (org.options.mayCustomize === false) return NO_RIGHT;
  const { FullName, Metadata } = objectOf(json) ?? {};
  const name = /^Account\.([A-Za-z]\w*__c)$/.exec(textOf(FullName) ?? '')?.[1];
  const meta = objectOf(Metadata) ?? {};
  const type = TYPES[String(meta.type)];
  if (name === undefined || type === undefined || textOf(meta.label) === undefined)
    return refusal(400, 'FIELD_INTEGRITY_EXCEPTION', 'FullName, label and type are required', { fields: [] });
  if (org.definitions.has(name)) {
    const message = `There is already a field named ${name.replace('__c', '')} on Account.`;
    return refusal(400, 'DUPLICATE_DEVELOPER_NAME', message, { fields: ['DeveloperName'] });
  }
  const fault = misfit(meta);
  if (fault !== undefined) return refusal(400, 'FIELD_INTEGRITY_EXCEPTION', fault, { fields: [] });
  const options: FieldOptions = {
    name,
    label: String(meta.label),
    type,
    ...(typeof meta.length === 'number' ? { length: meta.length } : {}),
    scale: typeof meta.scale === 'number' ? meta.scale : 0,
    unique: meta.unique === true,
    filterable: meta.type !== 'LongTextArea',
  };
  org.definitions.set(name, define(options));
  org.hidden.add(name);
  if (meta.unique === true) org.accounts.makeUnique(name);
  return created(listField(org.tables, name));
}

/** Deletes a custom field with its values; the name is free at once. */
export function deleteCustomField(org: Org, id: string): EmulatorAnswer {
  if (org.options.mayCustomize === false) return NO_RIGHT;
  const row = org.tables.rows('CustomField').find((each) => each.id === id);
  if (row === undefined) return refusal(404, 'NOT_FOUND', 'The requested resource does not exist');
  const name = `${row.values.DeveloperName}__c`;
  org.definitions.delete(name);
  org.hidden.delete(name);
  const grants = org.tables.rows('FieldPermissions').filter(({ values }) => values.Field === `Account.${name}`);
  org.tables.remove([row, ...grants]);
  return { status: 204 };
}

/** Answers `POST /sobjects/PermissionSet`, `PermissionSetAssignment` and `FieldPermissions`. */
export function createPermission(org: Org, object: string, json: unknown): EmulatorAnswer {
  if (org.options.mayGrant === false) return NO_RIGHT;
  const values = Object.fromEntries(
    Object.entries(objectOf(json) ?? {}).map(([name, value]) => [
      name,
      typeof value === 'boolean' ? value : String(value),
    ]),
  );
  const keys = KEYS[object] ?? [];
  const missing = keys.find((key) => values[key] === undefined);
  if (missing !== undefined) return refusal(400, 'REQUIRED_FIELD_MISSING', `Required fields are missing: [${missing}]`);
  if (object === 'FieldPermissions' && !org.definitions.has(String(values.Field).replace(/^Account\./, '')))
    return refusal(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'Field Name: bad value', { fields: ['Field'] });
  const same = org.tables.rows(object).some((row) => keys.every((key) => row.values[key] === values[key]));
  if (same)
    return refusal(
      400,
      'DUPLICATE_VALUE',
      'duplicate value found: unknown duplicates value on record with id: unknown',
    );
  const row = org.tables.insert(object, values);
  show(org);
  return created(row);
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  PermissionSet: ['Name', 'Label'],
  PermissionSetAssignment: ['PermissionSetId', 'AssigneeId'],
  FieldPermissions: ['ParentId', 'Field', 'SobjectType'],
};

/** Shows the fields that a permission set of the user lets it read. */
function show(org: Org): void {
  const assigned = new Set(
    org.tables
      .rows('PermissionSetAssignment')
      .filter(({ values }) => values.AssigneeId === org.tokens.userId)
      .map(({ values }) => values.PermissionSetId),
  );
  for (const { values } of org.tables.rows('FieldPermissions')) {
    if (assigned.has(values.ParentId ?? null) && values.PermissionsRead === true)
      org.hidden.delete(String(values.Field).replace(/^Account\./, ''));
  }
}

/**
 * The metadata that a type requires and this lacks.
 * https://developer.salesforce.com/docs/atlas.en-us.api_meta.meta/api_meta/customfield.htm
 */
function misfit(meta: Readonly<Record<string, unknown>>): string | undefined {
  const has = (name: string) => typeof meta[name] === 'number';
  if (meta.type === 'Text' && !(has('length') && Number(meta.length) <= 255)) return 'Text needs a length up to 255';
  if (meta.type === 'LongTextArea' && !(has('length') && has('visibleLines')))
    return 'LongTextArea needs length and visibleLines';
  if (meta.type === 'Number' && !(has('precision') && has('scale'))) return 'Number needs precision and scale';
  if (meta.type === 'Checkbox' && meta.defaultValue === undefined) return 'Checkbox needs a default value';
  return undefined;
}

const NO_RIGHT = refusal(403, 'INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id', {
  fields: [],
});
