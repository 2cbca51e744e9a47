/** A connection to one Salesforce org: the contract's verbs over the fenced client. */
import { type Account, type Connection, type Lent, type Page, ProviderError } from '../provider.ts';
import { type Calls, loadClient } from './client.ts';
import { faultOf, RefusedAnswer } from './errors.ts';
import { type Schema, schemaOf, toProperty } from './fields.ts';
import { isAccountId, to18 } from './ids.ts';
import { textOf } from './json.ts';
import { readAccounts, valuesOf } from './read.ts';
import type { SalesforceSettings } from './settings.ts';
import { ORGANIZATION_QUERY, scanQuery } from './soql.ts';
import { updateAccounts } from './update.ts';

/** The largest page Salesforce gives; long texts may make it shorter. */
const SCAN_PAGE = 2_000;

/** Loads the client and builds a connection. It remembers the session and the types of the account's fields. */
export async function connectSalesforce(settings: SalesforceSettings, lent: Lent): Promise<Connection> {
  const bind = await loadClient(settings, lent);
  let schema: Schema | undefined;

  const verb = async <T>(signal: AbortSignal, work: (calls: Calls) => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    try {
      return await work(bind(signal));
    } catch (error) {
      throw error instanceof RefusedAnswer ? faultOf(error) : error;
    }
  };
  const describe = async (calls: Calls) => {
    const fields = await calls.describe();
    schema = schemaOf(fields);
    return fields;
  };
  const fresh = async (calls: Calls): Promise<Schema> => schemaOf(await describe(calls));
  const known = async (calls: Calls): Promise<Schema> => schema ?? fresh(calls);
  /** Asks for the fields the user may see; where one was removed or hidden since, once more without it. */
  const withFields = async <T>(
    calls: Calls,
    names: readonly string[],
    work: (names: readonly string[], schema: Schema) => Promise<T>,
  ) => {
    const before = await known(calls);
    const visible = names.filter((name) => before.has(name));
    try {
      return await work(visible, before);
    } catch (error) {
      if (!(error instanceof RefusedAnswer) || !error.errors.some(({ code }) => code === 'INVALID_FIELD')) throw error;
      const now = await fresh(calls);
      const left = visible.filter((name) => now.has(name));
      if (left.length === visible.length) throw error;
      return work(left, now);
    }
  };

  return {
    check: (signal) => verb(signal, checkAccount),
    properties: (signal) => verb(signal, async (calls) => (await describe(calls)).map(toProperty)),
    read: async (ids, names, signal) =>
      ids.length === 0
        ? []
        : verb(signal, (calls) =>
            withFields(calls, names, (visible, types) => readAccounts(calls, ids, visible, types)),
          ),
    update: async (patches, signal) =>
      patches.length === 0
        ? []
        : verb(signal, (calls) =>
            updateAccounts(calls, patches, { known: () => known(calls), fresh: () => fresh(calls) }),
          ),
    scan: (names, cursor, signal) =>
      verb(signal, (calls) =>
        withFields(calls, names, (visible, types) => scanAccounts(calls, visible, types, cursor)),
      ),
  };
}

async function scanAccounts(
  calls: Calls,
  names: readonly string[],
  schema: Schema,
  cursor: string | undefined,
): Promise<Page> {
  if (cursor !== undefined && !isAccountId(cursor)) {
    throw new ProviderError('refused', 'the cursor of the scan is not one of Salesforce; start the scan again');
  }
  const { rows, done } = await calls.query(scanQuery(names, cursor, SCAN_PAGE));
  const records = rows.flatMap((row) => {
    const id = textOf(row.Id);
    return id === undefined ? [] : [{ id: to18(id), properties: valuesOf(row, names, schema) }];
  });
  const last = records.at(-1);
  // A page that is not the last one may be short; only the id it ends with says where to go on.
  return last === undefined || (done && rows.length < SCAN_PAGE) ? { records } : { records, cursor: last.id };
}

/** Records hidden by sharing raise no error anywhere: a scan passes over them, a read calls them gone. */
const SHARING_NOTE =
  'accounts that sharing rules hide from this user are not seen and count as deleted: give it View All on Account';

async function checkAccount(calls: Calls): Promise<Account> {
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
    // A user for integrations alone may not see Organization; the refusal itself shows that the API answers.
    const hidden =
      error instanceof RefusedAnswer &&
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
