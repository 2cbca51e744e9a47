import type { Account } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { SalesforceRefusal } from '../client/errors.ts';
import { textOf } from '../client/json.ts';
import { ORGANIZATION_QUERY } from './soql.ts';

/** Sharing hides records without an error: a scan omits them, a read calls them gone. */
const SHARING_NOTE =
  'accounts that sharing rules hide from this user are not seen and count as deleted: give it View All on Account';

/**
 * Reads the account of the credentials and what is left of the org's allowance, in at most two calls: the session, and
 * the org if the user may see it.
 */
export async function checkAccount(calls: Calls): Promise<Account> {
  const { organizationId: id } = await calls.session();
  try {
    const [organization = {}] = (await calls.query(ORGANIZATION_QUERY)).rows;
    const notes = [
      note('edition', textOf(organization.OrganizationType)),
      organization.IsSandbox === true ? 'a sandbox' : undefined,
      ...usageNotes(calls),
      SHARING_NOTE,
    ];
    return {
      id,
      name: textOf(organization.Name) ?? `Salesforce org ${id}`,
      notes: notes.filter((line) => line !== undefined),
    };
  } catch (error) {
    // A user for integrations alone may not see Organization; the refusal shows that the API answers.
    const hidden =
      error instanceof SalesforceRefusal &&
      error.errors.some(({ code }) => code === 'INVALID_TYPE' || code === 'INVALID_FIELD');
    if (!hidden) throw error;
    return { id, name: `Salesforce org ${id}`, notes: [...usageNotes(calls), SHARING_NOTE] };
  }
}

function usageNotes(calls: Calls): string[] {
  const usage = calls.usage();
  return usage === undefined ? [] : [`API calls used in 24 hours, by all software: ${usage.used} of ${usage.limit}`];
}

const note = (what: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${what}: ${value}`;
