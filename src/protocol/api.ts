/**
 * The monitoring service's endpoints as the connector calls them: paths, and tolerant readers of answers whose fields
 * the specification does not show.
 */
import Type, { type Static } from 'typebox';
import { canonicalEntityId } from './entity-id.ts';
import type { Issue } from './shape.ts';
import { findValue, isJsonObject, type JsonObject } from './text/json.ts';

export const errorBody = Type.Object({
  errorMessage: Type.String(),
  httpStatusCode: Type.Integer(),
  errorCode: Type.Integer(),
  errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
});
export type ErrorBody = Static<typeof errorBody>;

export interface WireJob {
  readonly id: string;
  readonly name: string | undefined;
  readonly provider?: string;
}

export interface WireItem {
  readonly entityId: string;
  readonly id: string;
  readonly provider?: string;
}

/** The list in an answer; `skipped` names unreadable entries. */
export type ListRead<T> =
  | {
      readonly ok: true;
      readonly entries: readonly T[];
      readonly skipped: readonly Issue[];
      /** Undefined on the last page. A token that comes twice would loop, so the caller stops. */
      readonly continuationToken: string | undefined;
      readonly total: number | undefined;
      readonly hasMore: boolean | undefined;
    }
  | { readonly ok: false; readonly reason: string };

export const JOBS_PATH = '/apps/monitoring/jobs';

/** `POST` (url, entityId) makes the service send an example payload to a webhook. */
export const TEST_WEBHOOK_PATH = '/apps/monitoring/testwebhook';

/** `GET` (take, continuationToken). */
export const jobItemsPath = (jobId: string): string => `${JOBS_PATH}/${encodeURIComponent(jobId)}/items`;

/** `POST` adds a company to monitoring, `DELETE` removes it. */
export const itemsPath = (provider: string): string => `${JOBS_PATH}/thirdparty/${encodeURIComponent(provider)}/items`;

/** An absent `sendUpdate` means no. */
export const addItemQuery = (item: Pick<WireItem, 'entityId' | 'id'>, sendUpdate: boolean): Record<string, string> => ({
  entityId: item.entityId,
  id: item.id,
  ...(sendUpdate && { sendUpdate: 'true' }),
});

export const removeItemQuery = (item: Pick<WireItem, 'entityId' | 'id'>): Record<string, string> =>
  addItemQuery(item, false);

export const pageQuery = (take: number, continuationToken: string | undefined): Record<string, string> => ({
  take: String(take),
  ...(continuationToken !== undefined && { continuationToken }),
});

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
};

const firstText = (object: JsonObject, ...names: readonly string[]): string | undefined =>
  names.map((name) => textOf(findValue(object, name))).find((text) => text !== undefined);

/** The list in an answer: the answer itself, `results`, `items`, one of the given names, or the only list in it. */
const listIn = (json: unknown, names: readonly string[]): readonly unknown[] | undefined => {
  if (Array.isArray(json)) return json;
  if (!isJsonObject(json)) return undefined;
  const named = ['results', 'items', ...names].map((name) => findValue(json, name)).find(Array.isArray);
  const lists = Object.values(json).filter(Array.isArray);
  return named ?? (lists.length === 1 ? lists[0] : undefined);
};

const readList = <T>(
  json: unknown,
  names: readonly string[],
  readEntry: (entry: JsonObject) => T | string,
): ListRead<T> => {
  const list = listIn(json, names);
  if (list === undefined)
    return { ok: false, reason: `the answer holds no list (looked for results, items, ${names.join(', ')})` };
  const entries: T[] = [];
  const skipped: Issue[] = [];
  list.forEach((entry, index) => {
    const read = isJsonObject(entry) ? readEntry(entry) : 'is not an object';
    if (typeof read === 'string') skipped.push({ path: String(index), message: read });
    else entries.push(read);
  });
  const said = (name: string): unknown => (isJsonObject(json) ? findValue(json, name) : undefined);
  const total = ['resultsFound', 'totalCount'].map(said).find((value) => Number.isSafeInteger(value));
  const hasMore = said('hasNextPage');
  return {
    ok: true,
    entries,
    skipped,
    continuationToken: textOf(said('continuationToken')),
    total: typeof total === 'number' ? total : undefined,
    hasMore: typeof hasMore === 'boolean' ? hasMore : undefined,
  };
};

const readJob = (entry: JsonObject): WireJob | string => {
  const id = firstText(entry, 'id', 'jobId');
  if (id === undefined) return 'has no id';
  const provider = firstText(entry, 'provider', 'providerName');
  const name = firstText(entry, 'name', 'jobName') ?? provider;
  return { id, name, ...(provider !== undefined && { provider }) };
};

const readItem = (entry: JsonObject): WireItem | string => {
  const entityId = canonicalEntityId(firstText(entry, 'entityId') ?? '');
  const id = firstText(entry, 'id', 'externalId', 'thirdPartyId', 'itemId');
  const provider = firstText(entry, 'provider', 'providerName');
  if (entityId === undefined) return 'has no entity id';
  if (id === undefined) return 'has no id of the external system';
  return { entityId, id, ...(provider !== undefined && { provider }) };
};

export const readJobs = (json: unknown): ListRead<WireJob> => readList(json, ['jobs'], readJob);

export const readItems = (json: unknown): ListRead<WireItem> => readList(json, ['entities', 'companies'], readItem);

/** The message of an error answer, in one line, if its body has one. Check the status first. */
export const readErrorMessage = (json: unknown): string | undefined =>
  isJsonObject(json) ? firstText(json, 'errorMessage', 'friendlyError', 'message') : undefined;
