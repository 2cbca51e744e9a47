/**
 * Detects mapped properties that appeared in the account or changed their type, and marks the records that waited for
 * them.
 */
import type { Property } from '../../../providers/provider.ts';
import { held, mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { fingerprint } from '../decide/plan.ts';
import { continueMarking, markAll } from '../links/mark-all.ts';
import type { PollTask } from './poll-task.ts';

const EVERY_MS = 15 * 60_000;
const FRESH_MS = 60_000;

/** Mapped property → fingerprint of its description; null if the account lacks it. */
type Fingerprints = Readonly<Record<string, string | null>>;

const describedKey = (provider: string): string => `schema:${provider}`;

/** One call every 15 minutes; none if the schema was just read. The first run only remembers. */
export const SCHEMA: PollTask = {
  everyMs: () => EVERY_MS,
  first: 'now',
  async run({ store, now, wakeUp, log }, crm, claim, signal) {
    const described = describe(crm, await crm.schema(signal, FRESH_MS));
    const appeared = await store.write(async (tx) => {
      if (!(await held(tx, [claim])).has(claim.key)) return [];
      const key = describedKey(crm.name);
      const text = await readValue(tx, key);
      const before: Fingerprints = text === undefined ? {} : JSON.parse(text);
      // Merged, because a daemon may run another mapping: a property new in the mapping is not new in the account.
      await writeValue(tx, key, JSON.stringify({ ...before, ...described }), now());
      return markWaiting(tx, crm.name, { before, after: described }, now());
    });
    if (appeared.length > 0) {
      log.info({ provider: crm.name, properties: appeared }, 'mapped properties appeared in the CRM: they are filled');
      await continueMarking(store, now, signal);
    }
    wakeUp.ring(`sync:${crm.name}`);
    return { kind: 'done' };
  },
};

const describe = ({ mapping }: Crm, schema: ReadonlyMap<string, Property>): Fingerprints =>
  Object.fromEntries(
    mapping.map(({ property: name }) => {
      const property = schema.get(name);
      return [name, property === undefined ? null : fingerprint(property)];
    }),
  );

/**
 * Marks every record if a property appeared, or the records that wait for a changed property. Returns the properties
 * that appeared.
 */
async function markWaiting(
  tx: Tx,
  provider: string,
  { before, after }: { readonly before: Fingerprints; readonly after: Fingerprints },
  now: number,
): Promise<readonly string[]> {
  const queue = `sync:${provider}`;
  const appeared = Object.keys(after).filter((name) => before[name] === null && after[name] !== null);
  if (appeared.length > 0) await markAll(tx, provider, queue, now);
  const changed = Object.keys(after).filter((name) => typeof before[name] === 'string' && before[name] !== after[name]);
  if (changed.length === 0) return appeared;
  const waiting = await tx
    .selectFrom('property_state')
    .select('record_id')
    .distinct()
    .where('provider', '=', provider)
    .where('property', 'in', each(tx, changed))
    .where('refused', 'is not', null)
    .execute();
  if (waiting.length > 0)
    await mark(
      tx,
      queue,
      waiting.map(({ record_id }) => record_id),
      now,
    );
  return appeared;
}
