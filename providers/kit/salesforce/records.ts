/** Reading and writing records of an emulated org: collections of 200, and one at a time. */

import type { PropertyValue } from '../../provider.ts';
import { toLongId } from '../../salesforce/client/ids.ts';
import { objectOf, textOf } from '../../salesforce/client/json.ts';
import { type EmulatorAnswer, type EmulatorRequest, respelled } from '../emulator/emulator.ts';
import { writeAs } from './field-history.ts';
import type { StoredAccount } from './org/accounts.ts';
import { type Org, rawValue } from './org/org.ts';
import { type RecordError, recordError, refusal } from './org/refusal.ts';
import { misfit, stored, unknownField, validate, withCodes } from './validate.ts';

const MAX_WRITES = 200;
const MAX_READS = 2_000;
const ID = /^[0-9A-Za-z]{15}(?:[0-9A-Za-z]{3})?$/;

/** Answers `POST /composite/sobjects/Account`: null for a missing record. */
export function retrieveMany(org: Org, json: unknown): EmulatorAnswer {
  const { ids, fields } = objectOf(json) ?? {};
  if (!Array.isArray(ids) || !Array.isArray(fields))
    return refusal(400, 'JSON_PARSER_ERROR', 'ids and fields are required');
  if (ids.length > MAX_READS)
    return refusal(
      400,
      'EXCEEDED_ID_LIMIT',
      `record limit reached. cannot submit more than ${MAX_READS} records into this call`,
    );
  const names = fields.map(String);
  const unknown = names.find((name) => org.field(name) === undefined);
  if (unknown !== undefined) return invalidField(unknown);
  const bad = ids.map(String).find((id) => !ID.test(id));
  if (bad !== undefined) return refusal(400, 'MALFORMED_ID', `bad id ${bad}`);
  const accounts = ids.map((id) => live(org, String(id)));
  const body = accounts.map((account) => (account === undefined ? null : render(org, account, names)));
  org.read(accounts.flatMap((account) => account?.id ?? []));
  return { status: 200, body };
}

/** Answers `PATCH /composite/sobjects`, each record on its own. */
export function updateMany(org: Org, json: unknown, headers: EmulatorRequest['headers']): EmulatorAnswer {
  const { records, allOrNone } = objectOf(json) ?? {};
  if (!Array.isArray(records)) return refusal(400, 'JSON_PARSER_ERROR', 'records is required');
  if (records.length > MAX_WRITES)
    return refusal(
      400,
      'EXCEEDED_ID_LIMIT',
      `record limit reached. cannot submit more than ${MAX_WRITES} records into this call`,
    );
  if (allOrNone === true) return refusal(400, 'INVALID_INPUT', 'the emulator writes each record for itself');
  const inputs = records.map((record) => readInput(org, record));
  const refused = inputs.find((input) => input.refused !== undefined)?.refused;
  if (refused !== undefined) return refused;
  return { status: 200, body: writeAll(org, inputs, headers).map((errors, at) => resultOf(inputs[at]?.id, errors)) };
}

export function createAccount(org: Org, json: unknown, headers: EmulatorRequest['headers']): EmulatorAnswer {
  const { refused, values } = readInput(org, { ...objectOf(json), attributes: { type: 'Account' } });
  if (refused !== undefined) return refused;
  const errors = creationErrors(org, values, headers);
  if (errors.length > 0) {
    const body = errors.map(({ statusCode, ...rest }) => ({ ...rest, errorCode: statusCode }));
    return { status: 400, body };
  }
  const account = org.accounts.create({ ...made(org, values), ...assigned(values, headers) });
  account.modifiedById = org.tokens.userId;
  org.written(account, Object.keys(values));
  return { status: 201, body: { id: account.id, success: true, errors: [] } };
}

function creationErrors(
  org: Org,
  values: Readonly<Record<string, PropertyValue>>,
  headers: EmulatorRequest['headers'],
): readonly RecordError[] {
  if (org.options.mayCreate === false) return [NO_ACCESS];
  if (org.storageFull) return [recordError('STORAGE_LIMIT_EXCEEDED', 'storage limit exceeded')];
  const hidden = Object.keys(values).find((name) => org.field(name) === undefined);
  if (hidden !== undefined) return [unknownField(hidden)];
  const fixed = Object.keys(values).filter((name) => org.field(name)?.updateable === false);
  if (fixed.length > 0) {
    const message = `Unable to create/update fields: ${fixed.join(', ')}. Please check the security settings of this field.`;
    return [recordError('INVALID_FIELD_FOR_INSERT_UPDATE', message, fixed)];
  }
  const required = [...org.definitions.values()].filter((field) => field.required && values[field.name] === undefined);
  const blanks = Object.fromEntries(required.map(({ name }) => [name, null]));
  const errors = validate(org, undefined, { ...blanks, ...values }, allowsAlerts(headers));
  const thrown = errors.length > 0 ? undefined : org.triggers.run([{ id: undefined, values }]);
  return thrown === undefined ? errors : [thrown];
}

export function retrieveOne(org: Org, id: string, fields: string | null): EmulatorAnswer {
  const account = live(org, id);
  if (account === undefined) return refusal(404, 'NOT_FOUND', 'The requested resource does not exist');
  const visible = [...org.definitions.keys()].filter((name) => org.field(name) !== undefined);
  const names = fields === null ? visible : ['Id', ...fields.split(',')];
  const unknown = names.find((name) => org.field(name) === undefined);
  if (unknown !== undefined) return invalidField(unknown);
  const body = render(org, account, names);
  org.read([account.id]);
  return { status: 200, body };
}

export function updateOne(org: Org, id: string, json: unknown, headers: EmulatorRequest['headers']): EmulatorAnswer {
  const input = readInput(org, { ...objectOf(json), id, attributes: { type: 'Account' } });
  if (input.refused !== undefined) return input.refused;
  const [[error] = []] = writeAll(org, [input], headers);
  if (error === undefined) return { status: 204 };
  const { statusCode, message, fields } = error;
  return refusal(statusCode === 'ENTITY_IS_DELETED' ? 404 : 400, statusCode, message, { fields });
}

/** One record as JSON: the requested fields, blanks as null, checkboxes never blank. */
export function render(org: Org, account: StoredAccount, names: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {
    attributes: { type: 'Account', url: `/services/data/v67.0/sobjects/Account/${account.id}` },
  };
  for (const name of names) {
    const value = rawValue(account, name);
    row[name] = value === null && org.definitions.get(name)?.type === 'boolean' ? false : value;
  }
  return row;
}

const NO_ACCESS = recordError('INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id');

interface Input {
  readonly id: string;
  readonly values: Readonly<Record<string, PropertyValue>>;
  readonly refused?: EmulatorAnswer;
}

function readInput(org: Org, json: unknown): Input {
  const { attributes, id, Id, ...rest } = objectOf(json) ?? {};
  const values: Record<string, PropertyValue> = {};
  const input = { id: textOf(id ?? Id) ?? '', values };
  if (objectOf(attributes)?.type !== 'Account')
    return { ...input, refused: refusal(400, 'INVALID_INPUT', 'attributes.type is required') };
  for (const [name, value] of Object.entries(rest)) {
    const field = org.field(name);
    if (field === undefined && org.options.unknownField === 'record') values[name] = null;
    else if (field === undefined) return { ...input, refused: invalidField(name) };
    else if (misfit(field, value)) {
      const message = `Cannot deserialize instance of ${field.type} from VALUE_${(typeof value).toUpperCase()}`;
      return { ...input, refused: refusal(400, 'JSON_PARSER_ERROR', message) };
    } else if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      values[name] = stored(field, value);
    }
  }
  return input;
}

function writeAll(
  org: Org,
  inputs: readonly Input[],
  headers: EmulatorRequest['headers'],
): readonly (readonly RecordError[])[] {
  org.arrived(inputs.map(({ id }) => (ID.test(id) ? toLongId(id) : id)));
  const found = inputs.map(({ id }) => live(org, id));
  const thrown = org.triggers.run(
    found.flatMap((account, at) =>
      account === undefined ? [] : [{ id: account.id, values: { ...account.values, ...inputs[at]?.values } }],
    ),
  );
  return inputs.map(({ id, values }, at) =>
    thrown === undefined || found[at] === undefined ? write(org, id, values, headers) : [thrown],
  );
}

function write(
  org: Org,
  id: string,
  values: Readonly<Record<string, PropertyValue>>,
  headers: EmulatorRequest['headers'],
): readonly RecordError[] {
  if (id === '') return [recordError('MISSING_ARGUMENT', 'Id not specified in an update call')];
  if (!ID.test(id)) return [recordError('MALFORMED_ID', `Account ID: id value of incorrect type: ${id}`, ['Id'])];
  if (org.options.mayEdit === false) return [NO_ACCESS];
  const account = org.accounts.find(id);
  if (account === undefined) return [recordError('INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id')];
  if (account.deleted) return [recordError('ENTITY_IS_DELETED', 'entity is deleted')];
  if (org.approvals.has(account.id)) return [recordError('ENTITY_IS_LOCKED', 'entity is locked for editing')];
  const locked = org.locks.get(account.id) ?? 0;
  if (locked > 0) {
    org.locks.set(account.id, locked - 1);
    return [
      recordError('UNABLE_TO_LOCK_ROW', `unable to obtain exclusive access to this record or 1 records: ${account.id}`),
    ];
  }
  const hidden = Object.keys(values).find((name) => org.field(name) === undefined);
  if (hidden !== undefined) return [unknownField(hidden)];
  const errors = validate(org, account, values, allowsAlerts(headers));
  if (errors.length > 0) return errors;
  writeAs(org, account, { ...made(org, values), ...assigned(values, headers) }, org.tokens.userId);
  org.written(account, Object.keys(values));
  return [];
}

const made = (org: Org, values: Readonly<Record<string, PropertyValue>>): Record<string, PropertyValue> =>
  withCodes(org, respelled(values, org.options.respell));

const allowsAlerts = (headers: EmulatorRequest['headers']): boolean =>
  /allowSave=true/i.test(String(headers['sforce-duplicate-rule-header'] ?? ''));

/** Territory and assignment rules run on an address change unless the call forbids it: they may change the owner. */
function assigned(
  values: Readonly<Record<string, PropertyValue>>,
  headers: EmulatorRequest['headers'],
): Record<string, PropertyValue> {
  const moves = Object.keys(values).some((name) => name.startsWith('Billing'));
  return moves && String(headers['sforce-auto-assign']).toUpperCase() !== 'FALSE'
    ? { OwnerId: '005Qy000000Au1AIAS' }
    : {};
}

const resultOf = (id: string | undefined, errors: readonly RecordError[]): object =>
  errors.length === 0 ? { id, success: true, errors: [] } : { success: false, errors };

function live(org: Org, id: string): StoredAccount | undefined {
  const account = org.accounts.find(id);
  return account === undefined || account.deleted ? undefined : account;
}

const invalidField = (name: string): EmulatorAnswer => {
  const { statusCode, message } = unknownField(name);
  return refusal(400, statusCode, message);
};
