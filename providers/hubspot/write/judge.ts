/** What a batch write's answer means for each patch; pure. */
import { inHalves } from '../../in-halves.ts';
import type { Outcome, Patch } from '../../provider.ts';
import { type BatchAnswer, namedIds } from '../client/batch.ts';
import { type HubspotErrorBody, type PropertyFault, VALUE_FREE_CODES } from '../client/error-body.ts';
import { reasonOf } from '../client/faults.ts';

/** What is known after one call: outcomes, ids to look up one by one, and groups to send again, each smaller than before. */
export interface PatchStep {
  readonly outcomes: readonly Outcome[];
  readonly missing: readonly string[];
  readonly again: readonly (readonly Patch[])[];
}

/** Judges an answer with results and errors in it. Silence about a patch is never success. */
export function judgeAnswer(group: readonly Patch[], { records, errors }: BatchAnswer): PatchStep {
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
    if (error !== undefined) steps.push(judgeError(patch, error));
    // Another id may be the survivor of a merge: only a read of the record says so.
    else if (record !== undefined)
      steps.push(record.id === id ? one({ kind: 'written', id }) : { ...NOTHING, missing: [id] });
    else silent.push(patch);
  }
  return merge([...steps, judgeSilence(silent, nameless)]);
}

/** Judges those of whom nothing was said; an error that names nobody may be about any of them. */
function judgeSilence(silent: readonly Patch[], nameless: HubspotErrorBody | undefined): PatchStep {
  const [alone] = silent;
  if (nameless === undefined) {
    const reason = 'HubSpot answered neither a result nor an error for this record';
    return { ...NOTHING, outcomes: silent.map(({ id }) => ({ kind: 'retry', id, reason })) };
  }
  if (silent.length === 1 && alone !== undefined) return judgeError(alone, nameless);
  return { ...NOTHING, again: inHalves(silent) };
}

/**
 * Judges a whole batch refused (400, 404, 409), of which nothing was written: the patches to blame are
 * picked out where the body allows it, otherwise the batch is halved until each stands alone.
 */
export function judgeRefusal(group: readonly Patch[], body: HubspotErrorBody): PatchStep {
  const [alone] = group;
  if (group.length === 1 && alone !== undefined) return judgeError(alone, body);
  const named = new Set(namedIds(body));
  const blamed = group.filter((patch) => named.has(patch.id) || holdsForSure(patch, body.properties, group));
  if (blamed.length === 0) return { ...NOTHING, again: inHalves(group) };
  const rest = group.filter((patch) => !blamed.includes(patch));
  return merge([
    ...blamed.map((patch) => judgeError(patch, body)),
    { ...NOTHING, again: rest.length === 0 ? [] : [rest] },
  ]);
}

function judgeError(patch: Patch, error: HubspotErrorBody): PatchStep {
  const { id } = patch;
  if (error.category === 'OBJECT_NOT_FOUND') return { ...NOTHING, missing: [id] };
  const reason = error.properties.map((fault) => `${fault.name}: ${fault.reason}`).join('; ') || reasonOf(error);
  const traced = error.correlationId === undefined ? reason : `${reason} (correlation id ${error.correlationId})`;
  if (!REFUSALS.has(error.category)) return one({ kind: 'retry', id, reason: traced });
  // A property the patch does not hold cannot be set aside: then the record as a whole is refused.
  const own = error.properties.filter((fault) => Object.hasOwn(patch.properties, fault.name));
  return one({
    kind: 'rejected',
    id,
    reason: traced,
    properties: Object.fromEntries(own.map((f) => [f.name, f.reason])),
  });
}

/** True where a fault must be this patch's: it does not depend on the value, or no other patch has the property. */
const holdsForSure = (patch: Patch, faults: readonly PropertyFault[], group: readonly Patch[]): boolean =>
  faults.some(
    ({ name, code }) =>
      Object.hasOwn(patch.properties, name) &&
      (VALUE_FREE_CODES.has(code ?? '') ||
        group.every((other) => other === patch || !Object.hasOwn(other.properties, name))),
  );

/** Categories a repetition of the same write would meet again. */
const REFUSALS: ReadonlySet<string> = new Set([
  'VALIDATION_ERROR',
  'CONFLICT',
  'MISSING_SCOPES',
  'BANNED',
  'FORBIDDEN',
]);

const NOTHING: PatchStep = { outcomes: [], missing: [], again: [] };

const one = (outcome: Outcome): PatchStep => ({ ...NOTHING, outcomes: [outcome] });

const merge = (steps: readonly PatchStep[]): PatchStep => ({
  outcomes: steps.flatMap((step) => step.outcomes),
  missing: steps.flatMap((step) => step.missing),
  again: steps.flatMap((step) => step.again),
});
