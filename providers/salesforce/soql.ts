/** The few queries this connection asks, in SOQL. Field names must come from describe. */

const FIELD_NAME = /^[A-Za-z]\w*$/;

/** A text as a SOQL literal: backslashes first, for a value may end in one. */
export const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** A page of all accounts after an id, in the order of ids: resumes anywhere, needs no cursor on the server. */
export function scanQuery(fields: readonly string[], after: string | undefined, limit: number): string {
  const where = after === undefined ? '' : ` WHERE Id > ${quote(after)}`;
  return `SELECT ${select(['Id', ...fields])} FROM Account${where} ORDER BY Id LIMIT ${limit}`;
}

/** What became of records, the deleted and merged ones included. */
export const whereaboutsQuery = (ids: readonly string[]): string =>
  `SELECT Id, IsDeleted, MasterRecordId FROM Account WHERE Id IN (${ids.map(quote).join(',')})`;

export const ORGANIZATION_QUERY = 'SELECT Id, Name, OrganizationType, IsSandbox FROM Organization LIMIT 1';

function select(fields: readonly string[]): string {
  const bad = fields.find((field) => !FIELD_NAME.test(field));
  if (bad !== undefined) throw new Error('a field name that describe cannot have given');
  return [...new Set(fields)].join(', ');
}
