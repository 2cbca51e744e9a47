/** The queues of records, and the keys of their lanes. */

/** Where a record is: its connection and its id there. */
export interface RecordRef {
  readonly provider: string;
  readonly recordId: string;
}

/** The lanes of links that the monitoring service may not know of yet; key: {@link linkKey}. */
export const MONITORING_QUEUE = 'monitoring';

/** The key of a record's monitoring lane. */
export const linkKey = (provider: string, recordId: string): string => `${provider}:${recordId}`;

/** The record of a monitoring lane. A connection's name holds no colon; a record's id may. */
export function readLinkKey(key: string): RecordRef {
  const end = key.indexOf(':');
  return { provider: key.slice(0, end), recordId: key.slice(end + 1) };
}

/** The lanes of a connection's records whose links may have to follow them; key: record id. */
export const healQueue = (provider: string): string => `heal:${provider}`;

/** The lanes of a connection's records without a link, for which a company may be suggested; key: record id. */
export const matchQueue = (provider: string): string => `match:${provider}`;

/** The lanes of records with notes to be left on them; key: record id. */
export const noteQueue = (provider: string): string => `note:${provider}`;

/** The lanes of records whose parent may be behind; key: record id. */
export const parentQueue = (provider: string): string => `parent:${provider}`;

/** The lanes of a connection's records that are to be checked for edits that were lost; key: record id. */
export const editsQueue = (provider: string): string => `edits:${provider}`;
