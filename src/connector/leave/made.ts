/** Decides which of the properties that cvrsync created may be removed. Reads the whole CRM, and changes nothing. */
import type { Crm } from '../crm/crm.ts';
import { NEW_SCHEMA_MS } from '../crm/crm.ts';
import { readAccount } from '../crm/guard.ts';
import { type MadeIn, readMade } from '../crm/made-properties.ts';
import { patiently } from '../crm/patience.ts';
import { type CountDeps, countValues, type ValueCount } from './count-values.ts';
import type { LeaveItem } from './leave-task.ts';

/** The account in use: the schema of another one than the known is refused. */
export async function madeIn(
  { store, now }: Pick<CountDeps, 'store' | 'now'>,
  crm: Crm,
  signal: AbortSignal,
): Promise<MadeIn> {
  const known = await readAccount(store.db, crm.name);
  const ask = () => crm.connection.check(signal);
  return { provider: crm.name, account: known ?? (await patiently({ crm, now }, ask, signal)).id };
}

/** What would become of each property that cvrsync created there; `property` may be removed. */
export async function decideMade(deps: CountDeps, crm: Crm, signal: AbortSignal): Promise<readonly LeaveItem[]> {
  const made = [...(await readMade(deps.store.db, await madeIn(deps, crm, signal)))].flatMap(([name, state]) =>
    state === 'made' ? [name] : [],
  );
  if (made.length === 0) return [];
  const schema = await patiently({ crm, now: deps.now }, () => crm.schema(signal, NEW_SCHEMA_MS), signal);
  const known = made.flatMap((name) => schema.get(name) ?? []);
  const readable = known.filter(({ unreadable }) => unreadable !== true);
  const counts = readable.length === 0 ? new Map() : await countValues(deps, crm, readable, signal);
  return made.map((property): LeaveItem => {
    const about = { provider: crm.name, property } as const;
    if (!schema.has(property))
      return { ...about, kind: 'absent', reason: 'the account has no such property, or does not show it' };
    return { ...about, ...decide(crm, counts.get(property)) };
  });
}

function decide({ connection }: Pick<Crm, 'connection'>, count: ValueCount | undefined): Omit<LeaveItem, 'provider'> {
  if (count === undefined)
    return { kind: 'by-hand', reason: 'the CRM does not say what it holds: look at it, and remove it in the CRM' };
  const { ours, others, example } = count;
  if (others > 0) {
    const reason =
      others === 1
        ? `1 record holds a value that cvrsync did not write, such as ${example}`
        : `${others} records hold values that cvrsync did not write, such as ${example}`;
    return { kind: 'in-use', ours, others, reason };
  }
  if (connection.removeProperties === undefined)
    return { kind: 'by-hand', ours, others, reason: 'this provider cannot remove properties: remove it in the CRM' };
  return { kind: 'property', ours, others };
}
