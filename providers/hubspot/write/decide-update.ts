/** The outcome of a batch write for each patch; pure. */
import type { Outcome, Patch } from '../../provider.ts';
import { type BatchAnswer, namedIds } from '../client/batch.ts';
import { type HubspotErrorBody, type PropertyFault, VALUE_FREE_CODES } from '../client/error-body.ts';
import { notHubspot, reasonOf } from '../client/faults.ts';

export interface PatchStep {
  readonly outcomes: readonly Outcome[];
  readonly missing: readonly string[];
}

/** Decides an answer with results and errors in it. Silence about a patch is never success. */
export function decideAnswer(group: readonly Patch[], { records, errors }: BatchAnswer): PatchStep {
  const errorOf = new Map<string, HubspotErrorBody>();
  for (const error of errors) for (const id of namedIds(error)) errorOf.set(id, error);
  const known = new Set(group.map((patch) => patch.id));
  const nameless = errors.find((error) => !namedIds(error).some((id) => known.has(id)));
  const steps: PatchStep[] = [];
  const silent: Patch[] = [];
  for (const patch of group) {
    const { id } = patch;
    const record = records.find((r) => r.objectWriteTraceId === id) ?? records.find((r) => r.id === id);
    const error = errorOf.get(id);
    if (error !== undefined) steps.push(decideError(patch, error));
    // Another id may be the survivor of a merge: only a read of the record says so.
    else if (record !== undefined)
      steps.push(record.id === id ? one({ kind: 'written', id }) : { ...NOTHING, missing: [id] });
    else silent.push(patch);
  }
  return merge([...steps, decideSilence(silent, nameless)]);
}

/** Decides patches that the answer does not mention; an error without an id may belong to any of them. */
function decideSilence(silent: readonly Patch[], nameless: HubspotErrorBody | undefined): PatchStep {
  const [alone] = silent;
  if (nameless === undefined) {
    const reason = 'HubSpot answered neither a result nor an error for this record';
    return { ...NOTHING, outcomes: silent.map(({ id }) => ({ kind: 'retry', id, reason })) };
  }
  if (silent.length === 1 && alone !== undefined) return decideError(alone, nameless);
  return callRefused(silent, nameless);
}

/** Decides a batch that was refused as a whole (400, 404, 409): nothing was written. */
export function decideRefusal(group: readonly Patch[], body: HubspotErrorBody): PatchStep {
  const [alone] = group;
  if (group.length === 1 && alone !== undefined) return decideError(alone, body);
  const named = new Set(namedIds(body));
  const blamed = group.filter((patch) => named.has(patch.id) || holdsForSure(patch, body.properties, group));
  const rest = group.filter((patch) => !blamed.includes(patch));
  return merge([...blamed.map((patch) => decideError(patch, body)), callRefused(rest, body)]);
}

/** Decides a write that a firewall or proxy refused: any of the records may be the reason. */
export const decideForeign = (group: readonly Patch[], status: number): PatchStep => ({
  ...NOTHING,
  outcomes: group.map(({ id }) => ({ kind: 'call-refused', id, reason: notHubspot(status) })),
});

function callRefused(group: readonly Patch[], body: HubspotErrorBody): PatchStep {
  const reason = traced(body);
  return { ...NOTHING, outcomes: group.map(({ id }) => ({ kind: 'call-refused', id, reason })) };
}

function decideError(patch: Patch, error: HubspotErrorBody): PatchStep {
  const { id } = patch;
  if (error.category === 'OBJECT_NOT_FOUND') return { ...NOTHING, missing: [id] };
  const reason = traced(error);
  if (!REFUSALS.has(error.category)) return one({ kind: 'retry', id, reason });
  // A property that the patch does not hold cannot be set aside: then HubSpot refused the whole record.
  const own = error.properties.filter((fault) => Object.hasOwn(patch.properties, fault.name));
  return one({
    kind: 'rejected',
    id,
    reason,
    properties: Object.fromEntries(own.map((f) => [f.name, f.reason])),
  });
}

/** The reason, with the correlation id that HubSpot's support asks for. */
function traced(error: HubspotErrorBody): string {
  const reason = error.properties.map((fault) => `${fault.name}: ${fault.reason}`).join('; ') || reasonOf(error);
  return error.correlationId === undefined ? reason : `${reason} (correlation id ${error.correlationId})`;
}

/** Whether a fault must be this patch's: it does not depend on the value, or no other patch has the property. */
const holdsForSure = (patch: Patch, faults: readonly PropertyFault[], group: readonly Patch[]): boolean =>
  faults.some(
    ({ name, code }) =>
      Object.hasOwn(patch.properties, name) &&
      (VALUE_FREE_CODES.has(code ?? '') ||
        group.every((other) => other === patch || !Object.hasOwn(other.properties, name))),
  );

/** The same write would meet these again. */
const REFUSALS: ReadonlySet<string> = new Set([
  'VALIDATION_ERROR',
  'CONFLICT',
  'MISSING_SCOPES',
  'BANNED',
  'FORBIDDEN',
]);

const NOTHING: PatchStep = { outcomes: [], missing: [] };

const one = (outcome: Outcome): PatchStep => ({ ...NOTHING, outcomes: [outcome] });

const merge = (steps: readonly PatchStep[]): PatchStep => ({
  outcomes: steps.flatMap((step) => step.outcomes),
  missing: steps.flatMap((step) => step.missing),
});
