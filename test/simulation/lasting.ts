/** Faults that last for a while, and end at the latest before the final check. */
import type { Random } from '../../src/protocol/sample/random.ts';
import type { CrmName } from '../support/fixture.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const CRMS = ['hubspot', 'salesforce'] as const satisfies readonly CrmName[];

/** Begins something that ends after some minutes, or at the next calm moment. */
function last({ time, lasting }: World, minutes: number, end: () => void): void {
  lasting.add(end);
  time.after(minutes * MINUTE_MS, 'end of a fault', () => lasting.delete(end) && end());
}

/** Ends all faults that last. */
export function endLasting({ lasting }: World): void {
  for (const end of lasting) end();
  lasting.clear();
}

/** The disk of the store is full: no transaction commits. */
export function fillDisk(world: World, random: Random): void {
  const { disk } = world.machines;
  disk.isFull = true;
  last(world, random.pick([1, 5, 20]), () => {
    disk.isFull = false;
  });
}

/**
 * Other programs used up the calls of an account's day. HubSpot answers again after midnight, whatever the world wants, and
 * Salesforce as the last 24 hours move on.
 */
export function spendCalls(world: World, random: Random): void {
  const { time, network, note } = world;
  const crm = random.pick(CRMS);
  const until = crm === 'hubspot' ? nextMidnight(time.now()) : time.now() + random.int(10, 90) * MINUTE_MS;
  note(`  the calls of ${crm} are used up until ${new Date(until).toISOString()}`);
  network.disturb(crm, 'spent', 1, until);
  world.quietFrom = Math.max(world.quietFrom, until);
}

/** In Copenhagen, in winter. */
const nextMidnight = (now: number): number => Math.ceil((now + HOUR_MS) / (24 * HOUR_MS)) * 24 * HOUR_MS - HOUR_MS;

/** Somebody revokes the token of a CRM, and gives it back, or all sessions end. */
export function revoke(world: World, random: Random): void {
  const crm = world[random.pick(CRMS)];
  crm.revoke();
  last(world, random.pick([1, 10, 60]), () => crm.reinstate());
}

/** A trigger of the customer refuses calls of many records, or all calls with a certain record. */
export function refuseInBulk(world: World, random: Random): void {
  world.mayPark = true;
  const most = random.int(1, 3);
  const refused = world.records.filter(({ crm }) => crm === 'salesforce').map(({ id }) => id);
  const one = refused[random.int(0, Math.max(0, refused.length - 1))];
  const end = world.salesforce.trigger(
    random.chance(0.5)
      ? { kind: 'queries', over: most }
      : { kind: 'throws', on: ({ id }) => id !== undefined && id === one },
  );
  last(world, random.pick([5, 30]), end);
}

/** The register shows documents of some of its machines only, or not yet the newest. */
export function showInPart(world: World, random: Random): void {
  const { register } = world;
  register.partial = random.pick(['shard', 'early']);
  last(world, random.int(5, 60), () => {
    register.partial = undefined;
  });
}

/** The register answers twice, and in the wrong order. */
export function disorder(world: World, random: Random): void {
  const { register } = world;
  register.disturb = (hits) => [...hits, ...hits].toReversed();
  last(world, random.int(5, 60), () => {
    register.disturb = undefined;
  });
}

/** Some answers of the register come from a copy that is behind: beside a document comes what it was before, after it. */
export function stale(world: World, random: Random): void {
  const { register, companies } = world;
  const former = new Map<string, unknown>();
  const keyOf = (hit: unknown): string => JSON.stringify(hit).match(/"cvrNummer":(\d+)/)?.[1] ?? '';
  register.disturb = (hits) => {
    const behind = hits.flatMap((hit) => former.get(keyOf(hit)) ?? []);
    for (const hit of hits) if (companies.has(`CVR-1-${keyOf(hit)}`)) former.set(keyOf(hit), hit);
    return [...hits, ...behind];
  };
  last(world, random.int(5, 60), () => {
    register.disturb = undefined;
  });
}

/**
 * An administrator changes a property of the CRM, and changes it back: it is read-only, gone, or takes less than the
 * register says. What it held may be lost meanwhile.
 */
export function changeSchema(world: World, random: Random): void {
  const { hubspot, salesforce, records, note } = world;
  const [crm, name, change] = random.pick<readonly [CrmName, string, () => () => void]>([
    ['hubspot', 'cvr_status', () => redefine(hubspot.changeProperty, { name: 'cvr_status' }, { readOnly: true })],
    ['hubspot', 'cvr_form', () => redefine(hubspot.changeProperty, { name: 'cvr_form' }, ONE_FORM)],
    ['hubspot', 'cvr_city', () => hubspot.archiveProperty('cvr_city')],
    ['salesforce', 'CVR_Status__c', () => redefine(salesforce.changeField, STATUS, { updateable: false })],
    ['salesforce', 'CVR_Name__c', () => redefine(salesforce.changeField, { name: 'CVR_Name__c' }, { length: 8 })],
    ['salesforce', 'CVR_Email__c', () => salesforce.hideField('CVR_Email__c')],
  ]);
  if (world.changed.has(name)) return;
  world.changed.add(name);
  note(`  ${name} changes in ${crm}`);
  const back = change();
  last(world, random.pick([5, 30]), () => {
    back();
    world.mayPark = true;
    world.changed.delete(name);
    // A daemon knows the old definition for some minutes more, and nobody tells it of the new one.
    world.quietFrom = Math.max(world.quietFrom, world.time.now() + 20 * MINUTE_MS);
    for (const record of records) if (record.crm === crm) record.isUnseen = true;
  });
}

const ONE_FORM = { type: 'enumeration', options: ['Aktieselskab'] } as const;
const STATUS = { name: 'CVR_Status__c', length: 80 } as const;

function redefine<O extends object>(
  define: (options: O) => void,
  usual: NoInfer<O>,
  changed: NoInfer<Partial<O>>,
): () => void {
  define({ ...usual, ...changed });
  return () => define(usual);
}
