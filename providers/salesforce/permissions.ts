import type { MissingRight, Right } from '../provider.ts';
import type { Calls } from './client/client.ts';
import { isNotForUser, SalesforceRefusal } from './client/errors.ts';
import { permissionSetsAddress } from './client/ids.ts';
import { objectsOf } from './client/json.ts';
import type { SalesforceSettings } from './client/salesforce-settings.ts';
import type { AccountRow } from './client/update-call.ts';

/**
 * Reads from describe which permissions the user lacks, one call for each object. Describe does not show the permission
 * to create fields (Customize Application).
 */
export async function missingPermissions(
  calls: Calls,
  rights: readonly Right[],
  { object, noteAs, loginUrl }: SalesforceSettings,
): Promise<readonly MissingRight[]> {
  const missing: MissingRight[] = [];
  const address = permissionSetsAddress({ loginUrl });
  const where = address === undefined ? '' : `: ${address}`;
  const account = await calls.describeObject(object);
  for (const right of rights) {
    const remedies = right === 'notes' ? await noteRemedies(calls, noteAs) : accountRemedies(account, object, right);
    for (const remedy of remedies)
      missing.push({ right, reason: `${remedy}, in a permission set or its profile${where}` });
  }
  return missing;
}

function accountRemedies(account: AccountRow, object: string, right: Exclude<Right, 'notes'>): readonly string[] {
  switch (right) {
    case 'update':
      return account.updateable === true ? [] : [`give the user Edit on ${object}`];
    case 'create':
      return account.createable === true ? [] : [`give the user Create on ${object}`];
    case 'parents':
      return mayEdit(account, 'ParentId') ? [] : [`give the user Edit on ${object} and on its field ParentId`];
    default:
      return [];
  }
}

async function noteRemedies(calls: Calls, noteAs: SalesforceSettings['noteAs']): Promise<readonly string[]> {
  const remedies: string[] = [];
  for (const name of noteAs === 'Task' ? ['Task'] : ['ContentNote', 'ContentDocumentLink'])
    if (!(await mayCreate(calls, name))) remedies.push(remedyOf(name));
  return remedies;
}

const remedyOf = (name: string): string =>
  name === 'Task'
    ? 'give the user the permission Edit Tasks'
    : `enable Notes in Setup, and let the user create ${name} records`;

const mayEdit = (account: AccountRow, name: string): boolean =>
  account.updateable === true &&
  objectsOf(account.fields).some((field) => field.name === name && field.updateable === true);

async function mayCreate(calls: Calls, name: string): Promise<boolean> {
  try {
    return (await calls.describeObject(name)).createable === true;
  } catch (error) {
    // Salesforce hides an object that the user may not see.
    if (error instanceof SalesforceRefusal && isNotForUser(error)) return false;
    throw error;
  }
}
