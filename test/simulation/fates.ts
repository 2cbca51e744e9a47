/** The fate of a record: it is deleted and comes back, is merged with another, and its link ends. */
import { endLink } from '../../src/connector/links/links.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Tx } from '../../src/store/store.ts';
import { isLeft } from './leaving.ts';
import { type CrmRecord, followPolicies } from './people.ts';
import { isUnderWay } from './quiet.ts';
import type { World } from './world.ts';

const DAY_MS = 24 * 3_600_000;

const anyOf = <T>(list: readonly T[], random: Random): T | undefined =>
  list[random.int(0, Math.max(0, list.length - 1))];

export function remove(world: World, random: Random): void {
  const record = anyOf(world.records, random);
  if (record === undefined || world.records.length < 4 || isLeft(world, record)) return;
  world[record.crm].remove(record.id);
  world.gone.set(record, world.linked.has(record));
  world.forget(record);
}

/** Somebody takes a deleted record back. The daily comparison finds it at the latest, and links it again. */
export function restore(world: World, random: Random): void {
  const record = anyOf([...world.gone.keys()], random);
  if (record === undefined || isLeft(world, record)) return;
  world[record.crm].restore(record.id);
  if (world.gone.get(record) === true) world.linked.add(record);
  world.gone.delete(record);
  world.records.push(record);
  followPolicies(world, record);
  world.quietFrom = Math.max(world.quietFrom, world.time.now() + 1.1 * DAY_MS);
}

/** A person ends a link: what the record holds is theirs from then on. */
export async function unlink(world: World, random: Random): Promise<void> {
  const record = anyOf([...world.linked], random);
  if (record === undefined || isLeft(world, record)) return;
  const { crm: provider, id: recordId } = record;
  const end = { provider, recordId, state: 'removed', reason: 'by hand', now: world.time.now() } as const;
  await world.write((tx) => endLink(tx, end));
  world.linked.delete(record);
}

/** A person merges two records of a company while nothing is on its way to either. */
export async function merge(world: World, random: Random): Promise<void> {
  const primary = anyOf(
    [...world.linked].filter((each) => !isLeft(world, each)),
    random,
  );
  const other = [...world.linked].find(
    (each) => each !== primary && each.crm === primary?.crm && each.entity === primary.entity,
  );
  if (primary === undefined || other === undefined || world.network.inFlight > 0) return;
  const { crm } = primary;
  const queues = ['sync', 'edits', 'heal'].map((kind) => `${kind}:${crm}`);
  const isBusy = (tx: Tx): Promise<boolean> => isUnderWay(tx, queues, world.time.now(), [primary.id, other.id]);
  // What a person decided of a property stays with the record: whose it is after a merge is another matter.
  if (primary.held.size > 0 || other.held.size > 0 || (await world.write(isBusy)) !== false) return;
  const id = world[crm].merge(primary.id, other.id);
  world.note(`  ${crm} ${primary.id} and ${other.id} become ${id}`);
  const survivor: CrmRecord = { ...primary, id };
  for (const each of [primary, other]) world.forget(each);
  world.records.push(survivor);
  world.linked.add(survivor);
  followPolicies(world, survivor);
  world.quietFrom = Math.max(world.quietFrom, world.time.now() + 1.1 * DAY_MS);
}
