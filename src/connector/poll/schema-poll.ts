/** Looks whether mapped properties appeared in the account, or take other values than before: what waited for that is written. */
import type { Property } from '../../../providers/provider.ts';
import { held, mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Tx } from '../../store/open.ts';
import type { Crm } from '../crm/crm.ts';
import { fingerprint } from '../decide/plan.ts';
import { continueMarking, markAll } from '../links/mark-all.ts';
import type { PollTask } from './poll-task.ts';

const EVERY_MS = 15 * 60_000;
const FRESH_MS = 60_000;

/** Mapped property → how the account describes it; null if it lacks it. */
type Described = Readonly<Record<string, string | null>>;

/** Where what a connection saw last is kept. */
const describedKey = (provider: string): string => `schema:${provider}`;

/** One call every quarter of an hour, and none if the schema was just read. The first look only remembers. */
export const SCHEMA: PollTask = {
  everyMs: () => EVERY_MS,
  first: 'now',
  async run({ store, now, wakeUp, log }, crm, claim, signal) {
    const described = describe(crm, await crm.schema(signal, FRESH_MS));
    const appeared = await store.write(async (tx) => {
      if (!(await held(tx, [claim])).has(claim.key)) return [];
      const key = describedKey(crm.name);
      const text = await readValue(tx, key);
      // We wrote it.
      const before: Described = text === undefined ? {} : JSON.parse(text);
      // Beside what a daemon with another mapping saw: what is new in a mapping did not appear in the account.
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

const describe = ({ mapping }: Crm, schema: ReadonlyMap<string, Property>): Described =>
  Object.fromEntries(
    mapping.map(({ property: name }) => {
      const property = schema.get(name);
      return [name, property === undefined ? null : fingerprint(property)];
    }),
  );

/** Marks every record if a property appeared; if one is described otherwise, those that wait for it. Returns what appeared. */
async function markWaiting(
  tx: Tx,
  provider: string,
  { before, after }: { readonly before: Described; readonly after: Described },
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
