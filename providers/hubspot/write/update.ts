import { type Outcome, type Patch, ProviderError } from '../../provider.ts';
import { type BatchAnswer, isRecordId, namedIds, readBatch } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';
import { findOne } from '../read/read.ts';
import type { HubspotSchema } from '../read/schema.ts';
import { toHubspot } from '../read/values.ts';
import { decideAnswer, decideForeign, decideRefusal, type PatchStep } from './decide-update.ts';

type ShownSchema = Pick<HubspotSchema, 'shownOf'>;

/**
 * Writes up to 100 patches: one call, and one for each record that HubSpot does not find. It throws a fault of the
 * connection only while no outcome is known; later the open patches come back as `retry`.
 */
export async function updateCompanies(
  apis: Apis,
  patches: readonly Patch[],
  schema: ShownSchema,
): Promise<readonly Outcome[]> {
  const settled = new Map<string, Outcome>();
  const valid = patches.filter((patch) => isRecordId(patch.id));
  let fault: ProviderError | undefined;
  try {
    const { outcomes, missing } = valid.length === 0 ? { outcomes: [], missing: [] } : await write(apis, valid, schema);
    for (const outcome of outcomes) settled.set(outcome.id, outcome);
    for (const id of missing) settled.set(id, await whereabouts(apis, id));
  } catch (error) {
    if (!(error instanceof ProviderError) || settled.size === 0) throw error;
    fault = error;
  }
  return patches.map(({ id }) => settled.get(id) ?? (isRecordId(id) ? openPatch(id, fault) : { kind: 'gone', id }));
}

async function write(apis: Apis, group: readonly Patch[], schema: ShownSchema): Promise<PatchStep> {
  try {
    const answer = readBatch(await apis.batch.update({ inputs: group.map(toInput) }));
    const step = decideAnswer(group, answer);
    return { ...step, outcomes: step.outcomes.map(withStored(group, answer, schema)) };
  } catch (error) {
    if (error instanceof HubspotRefusal && error.isForeign) return decideForeign(group, error.status);
    if (!(error instanceof HubspotRefusal) || !isAboutRecords(error)) throw error;
    return decideRefusal(group, { ...error.body, category: categoryOf(error) });
  }
}

/** HubSpot's answer holds the properties after the write. */
function withStored(group: readonly Patch[], { records }: BatchAnswer, { shownOf }: ShownSchema) {
  const names = new Map(group.map(({ id, properties }) => [id, Object.keys(properties)]));
  const texts = new Map(records.map(({ id, properties }) => [id, properties]));
  return (outcome: Outcome): Outcome => {
    if (outcome.kind !== 'written') return outcome;
    const stored = shownOf(texts.get(outcome.id) ?? {}, names.get(outcome.id) ?? []);
    return Object.keys(stored).length === 0 ? outcome : { ...outcome, stored };
  };
}

/** Without the trace id one bad input fails the whole batch; without `idProperty` the id is the record id. */
const toInput = ({ id, properties }: Patch) => ({
  id,
  objectWriteTraceId: id,
  properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, toHubspot(value)])),
});

/** A 404 may also mean a wrong address: only one that names objects counts. */
const isAboutRecords = ({ status, body }: HubspotRefusal): boolean =>
  status === 400 ||
  status === 409 ||
  status === 413 ||
  (status === 404 && (body.category === 'OBJECT_NOT_FOUND' || namedIds(body).length > 0));

/** A write that HubSpot answers with 400 or 409 is refused, with any category. */
const categoryOf = ({ status, body }: HubspotRefusal): string =>
  status === 404 || body.category === 'OBJECT_NOT_FOUND' ? 'OBJECT_NOT_FOUND' : 'VALIDATION_ERROR';

async function whereabouts(apis: Apis, id: string): Promise<Outcome> {
  const record = await findOne(apis, id, []);
  if (record === undefined) return { kind: 'gone', id };
  if (record.id !== id) return { kind: 'moved', id, to: record.id };
  return { kind: 'retry', id, reason: 'HubSpot did not find this record for writing, though it exists' };
}

const openPatch = (id: string, fault: ProviderError | undefined): Outcome => ({
  kind: 'retry',
  id,
  reason: fault?.message ?? 'HubSpot did not report an outcome for this record',
  retryAfterMs: fault?.retryAfterMs,
});
