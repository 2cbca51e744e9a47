/** Deletes wrong facts at a person's request. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each, eachRow } from '../../store/each.ts';
import type { Tx } from '../../store/store.ts';
import { addressOf, type Fact, factValue, visible, WHOLE_ADDRESS, type Whole } from '../facts/fact.ts';
import { readFacts } from '../facts/facts.ts';
import { writeHistory } from '../history/history.ts';
import { recordsOf, updateLink } from '../links/links.ts';
import { linkKey, MONITORING_QUEUE } from '../names/queues.ts';

export interface WrittenTo {
  readonly provider: string;
  readonly field: FieldName;
  readonly property: string;
}

export interface Forgotten {
  readonly facts: readonly Fact[];
  readonly records: readonly string[];
  readonly asked: boolean;
}

/**
 * Deletes one or all facts of a company, and asks the service for a full update through one of its links. Written
 * values stay in the CRM and count as ours, so the next register value replaces them. The deleted value no longer
 * counts as a register value: a person who wrote the same keeps it. Differences and refusals based on the fact end.
 */
export async function forgetFacts(
  tx: Tx,
  { entity, field }: { readonly entity: string; readonly field: FieldName | undefined },
  written: readonly WrittenTo[],
  now: number,
): Promise<Forgotten> {
  // An apply that has read the fact would write it again, so wait for its lane.
  await mark(tx, 'apply', [entity], now);
  const all = await readFacts(tx, [entity]);
  const facts = all.filter((fact) => field === undefined || fact.field === field);
  const links = await recordsOf(tx, [entity]);
  const records = links.map(({ provider, record_id }) => linkKey(provider, record_id));
  if (facts.length === 0) return { facts, records, asked: false };
  for (const [provider, own] of Map.groupBy(links, (link) => link.provider)) {
    const ids = own.map((link) => link.record_id);
    await mark(tx, `sync:${provider}`, ids, now);
  }
  const linkToAsk = links.find(({ desired, observed }) => desired === 'on' && observed !== 'refused');
  if (linkToAsk !== undefined) {
    const ref = { provider: linkToAsk.provider, recordId: linkToAsk.record_id };
    await mark(tx, MONITORING_QUEUE, [linkKey(ref.provider, ref.recordId)], now);
    await updateLink(tx, ref, { send_update: 1 });
  }
  const names = facts.map((fact) => fact.field);
  await tx.deleteFrom('fact').where('entity', '=', entity).where('field', 'in', each(tx, names)).execute();
  for (const fact of facts) await forgetKnown(tx, entity, fact.field, factValue(fact) ?? null);
  const parts = new Map(all.map((fact) => [fact.field, factValue(fact)]));
  const address = addressOf((name) => parts.get(name));
  if (names.some((name) => Object.hasOwn(address, name))) await forgetKnown(tx, entity, WHOLE_ADDRESS, address);
  const cleared = links.flatMap(({ provider, record_id: id }) =>
    written
      .filter((each) => each.provider === provider && names.includes(each.field))
      .map(({ property }) => ({ provider, id, property })),
  );
  await sql`update property_state set refused = null, refused_reason = null, refused_schema = null, refused_until = null,
      kept = null, offered = null, kept_at = null
    where (provider, record_id, property) in (select each.provider, each.id, each.property
      from ${eachRow(tx, ['provider', 'id', 'property'], cleared)})`.execute(tx);
  const lines = facts.map(
    (fact) => ({ provider: '', id: '', entity, rule: 'forgotten', detail: describeFact(fact) }) as const,
  );
  await writeHistory(tx, [], lines, now);
  return { facts, records, asked: linkToAsk !== undefined };
}

async function forgetKnown(tx: Tx, entity: string, field: string, value: FieldValue | Whole): Promise<void> {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('base64url');
  await tx
    .deleteFrom('known_value')
    .where('entity', '=', entity)
    .where('field', '=', field)
    .where('digest', '=', digest)
    .execute();
}

/** The deleted fact for history; lists only by their size, because members may be persons. */
function describeFact({ field, value, clock, seq }: Fact): string {
  const shown = 'scalar' in value ? JSON.stringify(value.scalar) : `${visible(value.list).members.length} members`;
  return `${field} = ${shown} of ${clock}, event ${seq}`;
}
