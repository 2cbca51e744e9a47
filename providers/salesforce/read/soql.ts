/** The SOQL queries of a connection. Field names must come from describe. */

const FIELD_NAME = /^[A-Za-z]\w*$/;

/** A text as a SOQL literal: backslashes first, because a value may end in one. */
export const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** A page of all accounts after an id, in the order of ids: it resumes anywhere and needs no cursor on the server. */
export function scanQuery(fields: readonly string[], after: string | undefined, limit: number): string {
  const where = after === undefined ? '' : ` WHERE Id > ${quote(after)}`;
  return `SELECT ${select(['Id', ...fields])} FROM Account${where} ORDER BY Id LIMIT ${limit}`;
}

export const whereaboutsQuery = (ids: readonly string[]): string =>
  `SELECT Id, IsDeleted, MasterRecordId FROM Account WHERE Id IN (${ids.map(quote).join(',')})`;

/** Who last changed these accounts, if they changed at a time or later. */
export const modifiedQuery = (ids: readonly string[], since: string): string =>
  `SELECT Id, LastModifiedDate, LastModifiedById, LastModifiedBy.Name FROM Account WHERE Id IN (${ids.map(quote).join(',')}) AND LastModifiedDate >= ${since}`;

/** Changes of tracked fields at a time or later, after an id, in their order. */
export const fieldHistoryQuery = (ids: readonly string[], since: string, after: string): string =>
  `SELECT Id, AccountId, Field, OldValue, NewValue, CreatedDate, CreatedById, CreatedBy.Name FROM AccountHistory WHERE AccountId IN (${ids.map(quote).join(',')}) AND CreatedDate >= ${since}${after === '' ? '' : ` AND Id > ${quote(after)}`} ORDER BY Id`;

/** Accounts stamped at a time or later; `queryAll` includes deleted ones. */
export const changedQuery = (fields: readonly string[], from: string, limit: number): string =>
  `SELECT ${select([...TRACE, ...fields])} FROM Account WHERE SystemModstamp >= ${from} ORDER BY SystemModstamp, Id LIMIT ${limit}`;

/** Accounts stamped between two times, after an id, in the order of ids. */
export function changedInSecondQuery(
  fields: readonly string[],
  { from, to, after }: { readonly from: string; readonly to: string; readonly after: string },
  limit: number,
): string {
  const rest = after === '' ? '' : ` AND Id > ${quote(after)}`;
  return `SELECT ${select([...TRACE, ...fields])} FROM Account WHERE SystemModstamp >= ${from} AND SystemModstamp < ${to}${rest} ORDER BY Id LIMIT ${limit}`;
}

const TRACE = ['Id', 'IsDeleted', 'MasterRecordId', 'SystemModstamp'];

/** Every answer has the time; this one is small. */
export const SERVER_TIME_QUERY = 'SELECT Id FROM Account LIMIT 1';

/** Live accounts that hold a value, given as a SOQL literal. */
export const holdersQuery = (fields: readonly string[], property: string, literal: string, limit: number): string =>
  `SELECT ${select(['Id', ...fields])} FROM Account WHERE ${select([property])} = ${literal} ORDER BY Id LIMIT ${limit}`;

export const tasksQuery = (accountId: string, since: string, after: string, limit: number): string =>
  `SELECT Id, Description FROM Task WHERE WhatId = ${quote(accountId)} AND CreatedDate >= ${since}${after === '' ? '' : ` AND Id > ${quote(after)}`} ORDER BY Id LIMIT ${limit}`;

export const CLOSED_STATUS_QUERY = 'SELECT MasterLabel FROM TaskStatus WHERE IsClosed = true ORDER BY SortOrder';

export const contentQuery = (accountId: string, since: string): string =>
  `SELECT ContentDocumentId, ContentDocument.Title FROM ContentDocumentLink WHERE LinkedEntityId = ${quote(accountId)} AND ContentDocument.CreatedDate >= ${since}`;

/** For the Tooling API. */
export const VALIDATION_RULES_QUERY =
  "SELECT ValidationName, ErrorMessage, Description FROM ValidationRule WHERE Active = true AND EntityDefinition.QualifiedApiName = 'Account' ORDER BY ValidationName";

export const DUPLICATE_RULES_QUERY =
  "SELECT DeveloperName, MasterLabel FROM DuplicateRule WHERE IsActive = true AND SobjectType = 'Account' ORDER BY DeveloperName";

/** For the Tooling API: custom fields of Account by their names without `__c`, those of packages too. */
export const customFieldsQuery = (names: readonly string[]): string =>
  `SELECT Id, DeveloperName, NamespacePrefix FROM CustomField WHERE TableEnumOrId = 'Account' AND DeveloperName IN (${names.map(quote).join(', ')})`;

export const permissionSetQuery = (name: string): string => `SELECT Id FROM PermissionSet WHERE Name = ${quote(name)}`;

export const assignmentQuery = (permissionSetId: string, userId: string): string =>
  `SELECT Id FROM PermissionSetAssignment WHERE PermissionSetId = ${quote(permissionSetId)} AND AssigneeId = ${quote(userId)}`;

export const ORGANIZATION_QUERY = 'SELECT Id, Name, OrganizationType, IsSandbox FROM Organization LIMIT 1';

function select(fields: readonly string[]): string {
  const bad = fields.find((field) => !FIELD_NAME.test(field));
  if (bad !== undefined) throw new Error('a field name that describe cannot have given');
  return [...new Set(fields)].join(', ');
}
