/** Processes that end or freeze: at any moment, or as soon as a write of theirs has arrived and before they know. */
import type { Random } from '../../src/protocol/sample/random.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import type { Daemon } from './daemon.ts';
import { anyOf } from './meetings.ts';
import type { CrmRecord } from './people.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
/** When a process goes on, calls that it was granted before leave together with new ones. */
export const LATE_CALLS_MS = 20_000;
/** For so long a second process has a record amid its work, while the first one goes on. */
const MEET_MS = 3_000;

export const daemonOf = ({ machines }: World, random: Random): Daemon | undefined =>
  anyOf(machines.running(), random)?.daemon;

/** Its process ends after some writes, or its connections to the store's server do. */
export function die(world: World, random: Random): void {
  const daemon = daemonOf(world, random);
  if (daemon === undefined) return;
  if (world.sever !== undefined && random.chance(0.5)) world.sever(daemon.owner, random.int(1, 400));
  else daemon.dieAt(random.int(1, 20), random.pick(['before', 'after']));
}

export function kill(world: World, random: Random): void {
  const record = anyOf([...world.linked], random);
  if (record === undefined || random.chance(0.5)) daemonOf(world, random)?.kill();
  else world.afterWrite.set(record.id, () => senderIn(world)?.kill());
}

/** All machines are down for a while. Some end once more amid what waited for them. */
export function outage(world: World, random: Random): void {
  const until = world.time.now() + random.int(5, 60) * MINUTE_MS;
  world.quietFrom = Math.max(world.quietFrom, until);
  for (const machine of world.machines.all) {
    machine.downUntil = until;
    machine.diesAfter = random.chance(0.5) ? random.int(1, 40) : undefined;
    machine.daemon?.kill();
  }
}

export function freeze(world: World, random: Random): void {
  const daemon = daemonOf(world, random);
  const record = anyOf([...world.linked], random);
  const ms = random.pick([2_000, 40_000, 10 * MINUTE_MS]);
  if (record !== undefined && random.chance(0.5)) freezeAmid(world, record, ms);
  else if (daemon !== undefined) freezeFor(world, daemon, ms);
}

function freezeFor(world: World, { owner }: Daemon, ms: number): void {
  world.freeze(owner, ms);
  world.calls.excuse(world.time.now() + ms + LATE_CALLS_MS);
}

/** A daemon goes on, beyond its lease perhaps, while another one has the record that it wrote. */
function freezeAmid(world: World, { crm, id }: CrmRecord, ms: number): void {
  const { time, afterRead, afterWrite, machines, store } = world;
  afterWrite.set(id, () => {
    const first = senderIn(world);
    if (first === undefined) return;
    freezeFor(world, first, ms);
    time.after(ms - MEET_MS / 2, 'look at a record', () => {
      if (machines.disk.isFull) return;
      afterRead.set(id, () => {
        const second = senderIn(world);
        if (second !== undefined && second !== first) freezeFor(world, second, MEET_MS);
      });
      void store.write((tx) => mark(tx, `sync:${crm}`, [id], time.now()));
    });
  });
}

/** The daemon whose request a CRM answers now. */
const senderIn = ({ machines, network }: World): Daemon | undefined =>
  machines.running().find(({ daemon }) => daemon?.owner === network.sender)?.daemon;
