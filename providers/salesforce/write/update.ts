/** Writes patches to accounts by id, 200 in a call; never creates one. */
import { inHalves } from '../../in-halves.ts';
import { type Outcome, type Patch, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { faultOf, isAboutRecords, SalesforceRefusal } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import type { SalesforceSchema } from '../read/fields.ts';
import { whereaboutsOf } from '../read/read.ts';
import { toSalesforce } from '../read/values.ts';
import type { Whereabouts } from '../read/whereabouts.ts';
import { judgeErrors, judgeResults, type UpdateVerdict } from './judge.ts';

/** The account's fields: as known, or read anew. */
export interface FieldSource {
  known(): Promise<SalesforceSchema>;
  fresh(): Promise<SalesforceSchema>;
}

/**
 * Writes up to 200 patches: one call, more where Salesforce refuses the call as a whole, and one for every 60 records it does
 * not find. A fault of the connection is thrown only while nothing is known; later the patches still open come back as `retry`.
 */
export async function updateAccounts(
  calls: Calls,
  patches: readonly Patch[],
  schemas: FieldSource,
): Promise<readonly Outcome[]> {
  const verdicts = new Map<string, UpdateVerdict>();
  const valid = patches.filter((patch) => isAccountId(patch.id));
  const groups: (readonly Patch[])[] = valid.length === 0 ? [] : [valid];
  let fault: ProviderError | undefined;
  try {
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      const step = await write(calls, group, schemas);
      for (const [id, verdict] of step.verdicts) verdicts.set(id, verdict);
      groups.push(...step.again);
    }
  } catch (error) {
    if (!(error instanceof ProviderError) || verdicts.size === 0) throw error;
    fault = error;
  }
  const missing = [...verdicts].flatMap(([id, verdict]) => (verdict === 'missing' ? [id] : []));
  const lookup = await whereaboutsOf(calls, missing, verdicts.size > missing.length);
  return patches.map(({ id }) => {
    const verdict = verdicts.get(id);
    if (verdict === undefined) return isAccountId(id) ? open(id, fault) : { kind: 'gone', id };
    if (verdict !== 'missing') return verdict;
    return lookup.fault === undefined ? outcomeOf(id, lookup.found.get(toLongId(id))) : open(id, lookup.fault);
  });
}

interface Step {
  readonly verdicts: readonly (readonly [string, UpdateVerdict])[];
  /** Groups to write in calls of their own. */
  readonly again: readonly (readonly Patch[])[];
}

async function write(calls: Calls, group: readonly Patch[], schemas: FieldSource): Promise<Step> {
  const schema = await schemas.known();
  try {
    const verdicts = judgeResults(group, await calls.update(group.map((patch) => rowOf(patch, schema))));
    return { verdicts: group.map(({ id }, at) => [id, verdicts[at] ?? 'missing']), again: [] };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    if (!isAboutRecords(error)) throw faultOf(error);
    return divide(
      group,
      error,
      error.errors.some(({ code }) => code === 'INVALID_FIELD') ? await schemas.fresh() : schema,
    );
  }
}

/** Salesforce refused a call as a whole: finds the record to blame, by the fields that are not there or by halves. */
function divide(group: readonly Patch[], refusal: SalesforceRefusal, schema: SalesforceSchema): Step {
  const unknown = group.filter((patch) => unknownFields(patch, schema).length > 0);
  if (unknown.length > 0) {
    const known = group.filter((patch) => !unknown.includes(patch));
    return {
      verdicts: unknown.map((patch) => [patch.id, withoutFields(patch, schema)]),
      again: known.length > 0 ? [known] : [],
    };
  }
  const [only] = group;
  if (only !== undefined && group.length === 1)
    return { verdicts: [[only.id, judgeErrors(only, refusal.errors)]], again: [] };
  return { verdicts: [], again: inHalves(group) };
}

const unknownFields = ({ properties }: Patch, schema: SalesforceSchema): readonly string[] =>
  Object.keys(properties).filter((name) => !schema.has(name));

function withoutFields(patch: Patch, schema: SalesforceSchema): Outcome {
  const reason = 'Account has no such field, or hides it from the user of this connection (INVALID_FIELD)';
  const properties = Object.fromEntries(unknownFields(patch, schema).map((name) => [name, reason]));
  return { kind: 'rejected', id: patch.id, reason, properties };
}

const rowOf = ({ id, properties }: Patch, schema: SalesforceSchema) => ({
  ...Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, toSalesforce(value, schema.get(name))]),
  ),
  Id: toLongId(id),
});

function outcomeOf(id: string, at: Whereabouts | undefined): Outcome {
  if (at?.kind === 'moved') return { kind: 'moved', id, to: at.to };
  if (at?.kind === 'there')
    return { kind: 'retry', id, reason: 'Salesforce did not find this account for writing, though it exists' };
  return { kind: 'gone', id };
}

const open = (id: string, fault: ProviderError | undefined): Outcome => ({
  kind: 'retry',
  id,
  reason: fault?.message ?? 'Salesforce did not say what became of this account',
  ...(fault?.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }),
});
