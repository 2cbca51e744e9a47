/** Acts during work under way: rare by chance, and where faults were found before. */
import { setOverride } from '../../src/connector/overrides/override.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { type CrmRecord, keepAsItIs, PROPERTIES, writeByHand } from './people.ts';
import type { MeetingKind, Step } from './plan.ts';
import type { World } from './world.ts';

/** What a step does. */
export type Act = (world: World, random: Random, step: Step) => Promise<void> | void;

export const MEETINGS: Readonly<Record<MeetingKind, Act>> = {
  /** Another sender tells once more what is no longer so, under an id of its own. */
  async stray(world, random, { place }) {
    const { time, receiver } = world;
    const newest = new Map(receiver.posts.map((post) => [post.entity, post]));
    const post = anyOf(
      receiver.posts.filter((each) => newest.get(each.entity) !== each),
      random,
    );
    const daemon = anyOf(world.machines.running(), random)?.daemon;
    if (post === undefined || daemon === undefined) return;
    const headers = { 'content-type': 'application/json', 'webhook-id': `stray-${place}` };
    const url = new URL('http://daemon.sim/webhook');
    const request = { method: 'POST', path: url.pathname, url, headers, body: post.body };
    const answer = await time.until(
      Promise.race([time.as(daemon.owner, () => daemon.handle(request)), daemon.owner.died]),
    );
    world.note(`  ${post.id} once more: ${answer?.status}`);
  },
  /** Somebody holds a property right after its record was read, and before what was read comes back. */
  holdAmid(world, random) {
    const record = anyOf([...world.linked], random);
    if (record === undefined) return;
    const property = PROPERTIES[record.crm][random.pick(['name', 'phone'] as const)];
    world.afterRead.set(record.id, () => void hold(world, record, property));
  },
  /** Somebody writes their words once more where the register won. */
  insist(world, random) {
    // Before the register's value is there, nobody can tell that they were written again.
    const lost = world.records.flatMap((record) =>
      [...record.given]
        .filter(([property, value]) => world[record.crm].get(record.id)?.[property] !== value)
        .map(([property, value]) => ({ record, property, value })),
    );
    const found = anyOf(lost, random);
    if (found !== undefined) writeByHand(world, found.record, { ...found, wording: 'text' });
  },
};

/** A hold counts from its commit on; writes that left before it may arrive. */
async function hold(world: World, record: CrmRecord, property: string): Promise<void> {
  if (record.held.has(property)) return;
  const { crm: provider, id: recordId } = record;
  const override = { kind: 'hold', once: false, until: null, reason: null } as const;
  await world.store.write((tx) => setOverride(tx, { provider, recordId, property }, override, world.time.now()));
  if (!world.records.includes(record)) return;
  record.held.add(property);
  keepAsItIs(world, record, [property]);
}

export const anyOf = <T>(list: readonly T[], random: Random): T | undefined =>
  list[random.int(0, Math.max(0, list.length - 1))];
