/** Names of the queues of records, and keys of their lanes. */

export interface RecordRef {
  readonly provider: string;
  readonly recordId: string;
}

/** Links that the monitoring service may not know of yet; key: {@link linkKey}. */
export const MONITORING_QUEUE = 'monitoring';

export const linkKey = (provider: string, recordId: string): string => `${provider}:${recordId}`;

/** A connection's name holds no colon; a record's id may. */
export function readLinkKey(key: string): RecordRef {
  const end = key.indexOf(':');
  return { provider: key.slice(0, end), recordId: key.slice(end + 1) };
}

/** Records whose links may have to change; key: record id. */
export const healQueue = (provider: string): string => `heal:${provider}`;

/** Records without a link, which may get a suggestion; key: record id. */
export const matchQueue = (provider: string): string => `match:${provider}`;

/** Records that wait for notes; key: record id. */
export const noteQueue = (provider: string): string => `note:${provider}`;

/** Records whose parent may be behind; key: record id. */
export const parentQueue = (provider: string): string => `parent:${provider}`;

/** Records to check for overwritten edits; key: record id. */
export const editsQueue = (provider: string): string => `edits:${provider}`;
