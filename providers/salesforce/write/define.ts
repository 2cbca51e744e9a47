/**
 * Creates and removes fields of Account. Nobody sees a new field, so cvrsync's own permission set shows them to the user
 * of this connection; an administrator may give it to people too.
 */
import type { Defined, PropertyDefinition, PropertyRemoval } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isNotForUser, SalesforceRefusal } from '../client/errors.ts';
import { textOf } from '../client/json.ts';
import type { SalesforceSchema } from '../read/fields.ts';
import { assignmentQuery, customFieldsQuery, permissionSetQuery } from '../read/soql.ts';
import { type CustomField, OWN_FIELDS } from './custom-fields.ts';

const PERMISSION_SET = 'cvrsync_fields';
/** The suffix of custom field names. */
const SUFFIX = '__c';

/**
 * Makes two calls for each field that is not visible, and four for the permission set. It is safe to repeat from any
 * point, and counts a field that was only hidden as created.
 */
export async function defineFields(
  calls: Calls,
  definitions: readonly PropertyDefinition[],
  schema: SalesforceSchema,
): Promise<readonly Defined[]> {
  const defined: Defined[] = [];
  let refusal: string | undefined;
  for (const definition of definitions) {
    const { name } = definition;
    if (schema.has(name)) defined.push({ name, kind: 'exists' });
    else if (refusal !== undefined) defined.push({ name, kind: 'refused', reason: refusal });
    else {
      const made = await defineField(calls, definition);
      defined.push(made.defined);
      // Without the right to create one field, none can be created.
      if (made.lacksRight === true) refusal = made.defined.reason;
    }
  }
  const hidden = defined.filter(({ kind }) => kind === 'created').map(({ name }) => name);
  const unshown = hidden.length === 0 ? new Map<string, string>() : await show(calls, hidden);
  return defined.map((one): Defined => {
    const reason = unshown.get(one.name);
    return reason === undefined ? one : { name: one.name, kind: 'refused', reason };
  });
}

const EXISTS: ReadonlySet<string> = new Set(['DUPLICATE_DEVELOPER_NAME', 'DUPLICATE_VALUE']);
const NO_RIGHT: ReadonlySet<string> = new Set([
  'INSUFFICIENT_ACCESS',
  'INSUFFICIENT_ACCESS_OR_READONLY',
  'INVALID_TYPE',
  'NOT_FOUND',
  'API_CURRENTLY_DISABLED',
]);

async function defineField(
  calls: Calls,
  definition: PropertyDefinition,
): Promise<{ readonly defined: Defined; readonly lacksRight?: true }> {
  const { name } = definition;
  if (!name.endsWith(SUFFIX)) {
    const reason = 'the name of a custom field ends with __c in Salesforce';
    return { defined: { name, kind: 'refused', reason } };
  }
  try {
    await calls.create('/tooling/sobjects/CustomField', {
      FullName: `Account.${name}`,
      Metadata: metadataOf(definition),
    });
    return { defined: { name, kind: 'created' } };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isNotForUser(error)) throw error;
    // The field exists but is hidden: show it below.
    if (error.errors.some(({ code }) => EXISTS.has(code))) return { defined: { name, kind: 'created', hidden: true } };
    if (!error.errors.some(({ code }) => NO_RIGHT.has(code)))
      return { defined: { name, kind: 'refused', reason: error.message } };
    const reason = `${error.message}; give the user of this connection Customize Application, or let an administrator make the field in Setup and show it to that user`;
    return { defined: { name, kind: 'refused', reason }, lacksRight: true };
  }
}

const BY_HAND = 'or delete it in Setup, Object Manager, Account, Fields & Relationships';

/**
 * Deletes custom fields through the Tooling API, one call each and one for their ids. Salesforce keeps them and their
 * values for 15 days, and refuses one that is in use.
 */
export async function removeFields(calls: Calls, names: readonly string[]): Promise<readonly PropertyRemoval[]> {
  const own = names.filter((name) => name.endsWith(SUFFIX));
  const removed: PropertyRemoval[] = [];
  try {
    const ids = await idsOf(calls, own);
    for (const name of names) {
      const id = ids.get(name);
      removed.push(id === undefined ? { name, kind: 'absent' } : await removeField(calls, name, id));
    }
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isNotForUser(error)) throw error;
    const reason = `${error.message}; ${RIGHTS}, ${BY_HAND}`;
    const left = names.slice(removed.length);
    removed.push(...left.map((name): PropertyRemoval => ({ name, kind: 'refused', reason })));
  }
  return removed;
}

/** The rights by which a person may delete a field in Setup, too. */
const RIGHTS = 'give the user of this connection Customize Application and View All Data';

/** The Tooling API's ids of custom fields, without those of packages. */
async function idsOf(calls: Calls, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const { rows } = await calls.query(customFieldsQuery(names.map((name) => name.slice(0, -SUFFIX.length))), 'tooling');
  const own = rows.filter(({ NamespacePrefix }) => NamespacePrefix === null || NamespacePrefix === undefined);
  return new Map(
    own.flatMap(({ Id, DeveloperName }) => {
      const [id, name] = [textOf(Id), textOf(DeveloperName)];
      return id === undefined || name === undefined ? [] : [[`${name}${SUFFIX}`, id]];
    }),
  );
}

async function removeField(calls: Calls, name: string, id: string): Promise<PropertyRemoval> {
  try {
    await calls.remove(`/tooling/sobjects/CustomField/${id}`);
    return { name, kind: 'removed' };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isNotForUser(error)) throw error;
    const codes = error.errors.map(({ code }) => code);
    if (codes.some((code) => GONE.has(code)) && !(await idsOf(calls, [name])).has(name))
      return { name, kind: 'absent' };
    const advice = codes.some((code) => NO_RIGHT.has(code)) ? `${RIGHTS}, ${BY_HAND}` : BY_HAND;
    return { name, kind: 'refused', reason: `${error.message}; ${advice}` };
  }
}

const GONE: ReadonlySet<string> = new Set(['NOT_FOUND', 'ENTITY_IS_DELETED', 'INVALID_CROSS_REFERENCE_KEY']);

/** Shows fields through the permission set; returns the reason for each field that it could not show. */
async function show(calls: Calls, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const failed = new Map<string, string>();
  try {
    const set = await permissionSet(calls);
    for (const name of names) {
      const permission = { ParentId: set, SobjectType: 'Account', Field: `Account.${name}` };
      const reason = await once(calls, '/sobjects/FieldPermissions', {
        ...permission,
        PermissionsRead: true,
        PermissionsEdit: true,
      });
      if (reason !== undefined) failed.set(name, unseen(reason));
    }
    const { userId } = await calls.session();
    if ((await calls.query(assignmentQuery(set, userId))).rows.length > 0) return failed;
    const reason = await once(calls, '/sobjects/PermissionSetAssignment', { PermissionSetId: set, AssigneeId: userId });
    return reason === undefined ? failed : new Map(names.map((name) => [name, unseen(reason)]));
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isNotForUser(error)) throw error;
    return new Map(names.map((name) => [name, unseen(error.message)]));
  }
}

async function permissionSet(calls: Calls): Promise<string> {
  const find = async () => textOf((await calls.query(permissionSetQuery(PERMISSION_SET))).rows[0]?.Id);
  const found = await find();
  if (found !== undefined) return found;
  const set = {
    Name: PERMISSION_SET,
    Label: 'cvrsync fields',
    Description: 'Read and edit the fields that cvrsync keeps on accounts.',
  };
  return calls.create('/sobjects/PermissionSet', set);
}

/** Creates a record unless it exists; returns the refusal, if any. */
async function once(calls: Calls, path: string, body: object): Promise<string | undefined> {
  try {
    await calls.create(path, body);
    return undefined;
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !isNotForUser(error)) throw error;
    return error.errors.some(({ code }) => EXISTS.has(code)) ? undefined : error.message;
  }
}

const unseen = (reason: string): string =>
  `the field exists, but the user of this connection cannot see it: ${reason}; give the user Manage Profiles and Permission Sets and Assign Permission Sets, or let an administrator show the field to it`;

const TEXT_LENGTH = 255;
const LONG_TEXT_LENGTH = 32_000;
const DIGITS = 18;

/** cvrsync's own fields have a length and precision; others get the widest of their type. */
function metadataOf({ name, label, type, unique }: PropertyDefinition): Readonly<Record<string, unknown>> {
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
