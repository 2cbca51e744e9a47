import type { AccountRule } from '../../provider.ts';
import type { Calls, QueryScope } from '../client/client.ts';
import { isNotForUser, SalesforceRefusal } from '../client/errors.ts';
import { textOf } from '../client/json.ts';
import type { AccountRow } from '../client/update-call.ts';
import { DUPLICATE_RULES_QUERY, VALIDATION_RULES_QUERY } from '../read/soql.ts';

/** Reads the org's rules that may block a write. Validation rules need View Setup and Configuration. */
export async function rulesOf(calls: Calls, fields: readonly AccountRow[]): Promise<readonly AccountRule[]> {
  const validation = await rowsSeen(calls, VALIDATION_RULES_QUERY, 'tooling');
  const duplicate = await rowsSeen(calls, DUPLICATE_RULES_QUERY, 'live');
  return [
    ...fields.filter(isRequired).map(requiredRule),
    ...validation.map(
      (row): AccountRule => ({
        kind: 'validation',
        name: textOf(row.ValidationName) ?? 'without a name',
        about: textOf(row.ErrorMessage) ?? textOf(row.Description) ?? 'says nothing',
      }),
    ),
    ...duplicate.map(
      (row): AccountRule => ({
        kind: 'duplicate',
        name: textOf(row.DeveloperName) ?? 'without a name',
        about: textOf(row.MasterLabel) ?? 'accounts that look alike',
      }),
    ),
  ];
}

/** A company always has a name, and a field that Salesforce fills blocks nothing. */
const isRequired = (field: AccountRow): boolean =>
  field.nillable === false &&
  field.createable === true &&
  field.defaultedOnCreate !== true &&
  field.type !== 'boolean' &&
  field.name !== 'Name';

const requiredRule = (field: AccountRow): AccountRule => ({
  kind: 'required',
  name: String(field.name),
  about: `${textOf(field.label) ?? String(field.name)} may not be blank`,
});

async function rowsSeen(calls: Calls, soql: string, scope: QueryScope): Promise<readonly AccountRow[]> {
  try {
    return (await calls.query(soql, scope)).rows;
  } catch (error) {
    if (error instanceof SalesforceRefusal && isNotForUser(error)) return [];
    throw error;
  }
}
