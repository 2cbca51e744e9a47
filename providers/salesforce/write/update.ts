import type { Outcome, Patch, ProviderError } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { faultOf, isAboutRecords, isForeign, notSalesforce, SalesforceRefusal, say } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import type { AccountRow, UpdateAnswer } from '../client/update-call.ts';
import type { SalesforceSchema } from '../read/fields.ts';
import { valuesOf, whereaboutsOf } from '../read/read.ts';
import { takes, toSalesforce } from '../read/values.ts';
import type { Whereabouts } from '../read/whereabouts.ts';
import { decideByErrors, decideResults, type UpdateDecision } from './decide-update.ts';

export interface FieldSource {
  known(): Promise<SalesforceSchema>;
  fresh(): Promise<SalesforceSchema>;
}

/**
 * Writes up to 200 patches: one call, and one for every 60 records that Salesforce does not find. It throws a fault of
 * the connection only while no outcome is known; later the open patches come back as `retry`.
 */
export async function updateAccounts(
  calls: Calls,
  patches: readonly Patch[],
  schemas: FieldSource,
): Promise<readonly Outcome[]> {
  const valid = patches.filter((patch) => isAccountId(patch.id));
  const decisions = valid.length === 0 ? new Map<string, UpdateDecision>() : await write(calls, valid, schemas);
  const missing = [...decisions].flatMap(([id, decision]) => (decision === 'missing' ? [id] : []));
  const lookup = await whereaboutsOf(calls, missing, decisions.size > missing.length);
  return patches.map(({ id }) => {
    const decision = decisions.get(id);
    if (decision === undefined) return isAccountId(id) ? open(id, undefined) : { kind: 'gone', id };
    if (decision !== 'missing') return decision;
    return lookup.fault === undefined ? outcomeOf(id, lookup.found.get(toLongId(id))) : open(id, lookup.fault);
  });
}

type Decisions = ReadonlyMap<string, UpdateDecision>;

async function write(calls: Calls, group: readonly Patch[], schemas: FieldSource): Promise<Decisions> {
  const schema = await schemas.known();
  try {
    const fields = [...new Set(group.flatMap(({ properties }) => Object.keys(properties)))];
    const answer = await calls.update(
      group.map((patch) => rowOf(patch, schema)),
      fields,
    );
    const decisions = decideResults(group, answer.results).map(withValues(group, answer, schema));
    return new Map(group.map(({ id }, at) => [id, decisions[at] ?? 'missing']));
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    if (isForeign(error)) return forEach(group, ({ id }) => callRefused(id, notSalesforce(error.status)));
    if (!isAboutRecords(error)) throw faultOf(error);
    const isAboutFields = error.errors.some(({ code }) => ABOUT_FIELDS.has(code));
    return decideRefusal(group, error, isAboutFields ? await schemas.fresh() : schema);
  }
}

/** The call was refused because a field was removed, hidden, or given another type. */
const ABOUT_FIELDS: ReadonlySet<string> = new Set(['INVALID_FIELD', 'JSON_PARSER_ERROR']);

/** Decides a call refused as a whole: records with fields that contradict the schema are at fault. */
function decideRefusal(group: readonly Patch[], { errors }: SalesforceRefusal, schema: SalesforceSchema): Decisions {
  const reason = errors.map(say).join('; ');
  return forEach(group, (patch) => {
    const properties = misfits(patch, schema);
    if (Object.keys(properties).length > 0) return { kind: 'rejected', id: patch.id, reason, properties };
    return group.length === 1 ? decideByErrors(patch, errors) : callRefused(patch.id, reason);
  });
}

/** Adds what each written record held right before, and holds now. */
function withValues(group: readonly Patch[], { before, after }: UpdateAnswer, schema: SalesforceSchema) {
  const [old, now] = [before, after].map((rows) => new Map(rows.map((row) => [toLongId(textOf(row.Id) ?? ''), row])));
  return (decision: UpdateDecision, at: number): UpdateDecision => {
    const { id = '', properties = {} } = group[at] ?? {};
    if (decision === 'missing' || decision.kind !== 'written') return decision;
    const shown = (row: AccountRow | undefined) => row && valuesOf(row, Object.keys(properties), schema);
    const [replaced, stored] = [old, now].map((rows) => shown(rows?.get(toLongId(id))));
    return { ...decision, replaced, stored };
  };
}

const forEach = (group: readonly Patch[], decide: (patch: Patch) => UpdateDecision): Decisions =>
  new Map(group.map((patch) => [patch.id, decide(patch)]));

const callRefused = (id: string, reason: string): Outcome => ({ kind: 'call-refused', id, reason });

/** The properties that contradict the schema, with the reason. */
const misfits = ({ properties }: Patch, schema: SalesforceSchema): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, value]) => {
      const type = schema.get(name);
      if (type === undefined) return [[name, HIDDEN]];
      return takes(type, toSalesforce(value, type))
        ? []
        : [[name, `${name} is of type ${type} now, which does not take this value (JSON_PARSER_ERROR)`]];
    }),
  );

const HIDDEN = 'Account has no such field, or hides it from the user of this connection (INVALID_FIELD)';

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
  reason: fault?.message ?? 'Salesforce did not report an outcome for this account',
  retryAfterMs: fault?.retryAfterMs,
});
