/** What a batch answered, whatever its status said. */
import type {
  BatchResponseSimplePublicObject,
  BatchResponseSimplePublicObjectWithErrors,
} from '@hubspot/api-client/lib/codegen/crm/companies/index.js';
import type { RecordId } from '../../provider.ts';
import { type HubspotErrorBody, readErrorBody } from './error-body.ts';

/** One record as HubSpot sends it. */
export interface HubspotRecord {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null>>;
  readonly objectWriteTraceId?: string;
}

/** The records and the errors of one batch, in HubSpot's order, which is no order. */
export interface BatchAnswer {
  readonly records: readonly HubspotRecord[];
  readonly errors: readonly HubspotErrorBody[];
}

/** Reads a batch's answer; entries without an id are dropped. */
export function readBatch(
  answer: BatchResponseSimplePublicObject | BatchResponseSimplePublicObjectWithErrors,
): BatchAnswer {
  const errors = 'errors' in answer && Array.isArray(answer.errors) ? answer.errors : [];
  return {
    records: answer.results.filter((result) => typeof result?.id === 'string' && result.id !== '').map(withProperties),
    errors: errors.map(readErrorBody),
  };
}

/** The ids an error names: by id, or by the trace id, which is the record id too. */
export const namedIds = (error: HubspotErrorBody): readonly string[] =>
  ['ids', 'id', 'objectWriteTraceId', 'objectId'].flatMap((key) => error.context[key] ?? []);

/** The records merged into this one; asked for in every read. */
export const MERGED_IDS = 'hs_merged_object_ids';

/** The ids of the records this one has swallowed. */
export const mergedIds = (record: HubspotRecord): readonly string[] =>
  (record.properties[MERGED_IDS] ?? '').split(';').filter(isRecordId);

/** True where the record with that id was merged into this record. */
export const hasMerged = (record: HubspotRecord, id: string): boolean => mergedIds(record).includes(id);

/** Record ids are digits: anything else in an address would reach another endpoint. */
export const isRecordId = (id: string): boolean => /^\d{1,20}$/.test(id);

/** The id of the company that a text names: its digits. */
export const canonicalId = (text: string): RecordId =>
  isRecordId(text) && !text.startsWith('0')
    ? { kind: 'id', id: text }
    : { kind: 'none', reason: 'a HubSpot id is a number such as 12345678901' };

/** The company's id in an address such as `https://app.hubspot.com/contacts/PORTAL/record/0-2/ID`. */
export function idInAddress({ hostname, pathname }: URL): string | undefined {
  if (!/^app[\w-]*\.hubspot\.com$/u.test(hostname)) return undefined;
  return /^\/contacts\/\d+\/(?:record\/0-2|company)\/(\d+)(?:\/|$)/u.exec(pathname)?.[1];
}

/** The address of the company's page: HubSpot leads a browser from there to where the account's data is. */
export const recordAddress = (id: string, account: string): string =>
  `https://app.hubspot.com/contacts/${account}/record/0-2/${id}`;

const withProperties = (record: HubspotRecord): HubspotRecord => ({ ...record, properties: record.properties ?? {} });
