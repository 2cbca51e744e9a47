/** Reads HubSpot's records, their ids, and the answers to batches. */
import type {
  BatchResponseSimplePublicObject,
  BatchResponseSimplePublicObjectWithErrors,
} from '@hubspot/api-client/lib/codegen/crm/companies/index.js';
import type { RecordId } from '../../provider.ts';
import { type HubspotErrorBody, readErrorBody } from './error-body.ts';

export interface HubspotRecord {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null>>;
  readonly objectWriteTraceId?: string;
}

export interface BatchAnswer {
  readonly records: readonly HubspotRecord[];
  readonly errors: readonly HubspotErrorBody[];
}

/** Drops entries without an id. */
export function readBatch(
  answer: BatchResponseSimplePublicObject | BatchResponseSimplePublicObjectWithErrors,
): BatchAnswer {
  const errors = 'errors' in answer && Array.isArray(answer.errors) ? answer.errors : [];
  return {
    records: answer.results.filter((result) => typeof result?.id === 'string' && result.id !== '').map(withProperties),
    errors: errors.map(readErrorBody),
  };
}

/** The ids that an error names: by id, or by the trace id, which equals the record id. */
export const namedIds = (error: HubspotErrorBody): readonly string[] =>
  ['ids', 'id', 'objectWriteTraceId', 'objectId'].flatMap((key) => error.context[key] ?? []);

/** The property that lists the records merged into this one; every read asks for it. */
export const MERGED_IDS = 'hs_merged_object_ids';

export const mergedIds = (record: HubspotRecord): readonly string[] =>
  (record.properties[MERGED_IDS] ?? '').split(';').filter(isRecordId);

export const hasMerged = (record: HubspotRecord, id: string): boolean => mergedIds(record).includes(id);

/** Record ids are digits: anything else in a path would reach another endpoint. */
export const isRecordId = (id: string): boolean => /^\d{1,20}$/.test(id);

export const canonicalId = (text: string): RecordId =>
  isRecordId(text) && !text.startsWith('0')
    ? { kind: 'id', id: text }
    : { kind: 'none', reason: 'a HubSpot id is a number such as 12345678901' };

/** Reads the company's id in an address such as `https://app.hubspot.com/contacts/PORTAL/record/0-2/ID`. */
export function idInAddress({ hostname, pathname }: URL): string | undefined {
  if (!/^app[\w-]*\.hubspot\.com$/u.test(hostname)) return undefined;
  return /^\/contacts\/\d+\/(?:record\/0-2|company)\/(\d+)(?:\/|$)/u.exec(pathname)?.[1];
}

/** The company's page; HubSpot redirects the browser to the data centre of the account. */
export const recordAddress = (id: string, account: string): string =>
  `https://app.hubspot.com/contacts/${account}/record/0-2/${id}`;

const withProperties = (record: HubspotRecord): HubspotRecord => ({ ...record, properties: record.properties ?? {} });
