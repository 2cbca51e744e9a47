/**
 * Updates records in one composite call: it reads their fields, updates them, and reads them again. It counts as one
 * call, and shows the values that the update replaced and those after the org's triggers and flows.
 * https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_composite_composite_post.htm
 */
import type { PropertyValue } from '../../provider.ts';
import { SalesforceRefusal, unexpectedAnswer } from './errors.ts';
import { objectsOf } from './json.ts';

/** A record as Salesforce sends it, of unknown shape. */
export type AccountRow = Readonly<Record<string, unknown>>;

export type WriteRow = { readonly Id: string } & Readonly<Record<string, PropertyValue>>;

export interface UpdateAnswer {
  /** One for each record, in their order, as Salesforce sent them. */
  readonly results: readonly unknown[];
  readonly before: readonly AccountRow[];
  readonly after: readonly AccountRow[];
}

interface UpdateTarget {
  readonly object: string;
  readonly base: string;
  /** An inner call of a composite call has its own headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The body of the call. Up to 200 records: three of the five collections that a composite call takes. */
export function updateCall(
  { object, base, headers }: UpdateTarget,
  rows: readonly WriteRow[],
  fields: readonly string[],
): object {
  const retrieve = (referenceId: string) => ({
    ...{ method: 'POST', url: `${base}/composite/sobjects/${object}`, referenceId },
    body: { ids: rows.map(({ Id }) => Id), fields: ['Id', ...fields] },
  });
  const records = rows.map(({ Id: id, ...values }) => ({ attributes: { type: object }, id, ...values }));
  const update = {
    ...{ method: 'PATCH', url: `${base}/composite/sobjects`, referenceId: 'update', httpHeaders: headers },
    body: { allOrNone: false, records },
  };
  // Without collation, which is on by default, the inner calls run in this order.
  return {
    ...{ allOrNone: false, collateSubrequests: false },
    compositeRequest: [retrieve('before'), update, retrieve('after')],
  };
}

/** Reads the answer. It throws a refused update like a separate call, and leaves out a refused read. */
export function readUpdate({ compositeResponse }: AccountRow): UpdateAnswer {
  const answers = new Map(objectsOf(compositeResponse).map((answer) => [answer.referenceId, answer]));
  const { body: results, httpStatusCode } = answers.get('update') ?? {};
  const status = Number(httpStatusCode);
  // An inner call has no Retry-After.
  const refusal =
    status >= 400 ? new SalesforceRefusal({ status, headers: {}, body: JSON.stringify(results) }, 0) : undefined;
  if (refusal !== undefined && refusal.errors.length > 0) throw refusal;
  if (refusal !== undefined || !Array.isArray(results)) throw unexpectedAnswer('an update');
  const read = (referenceId: string) => objectsOf(answers.get(referenceId)?.body).filter(({ Id }) => Id !== undefined);
  return { results, before: read('before'), after: read('after') };
}
