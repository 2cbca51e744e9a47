/** The demo's story: what happens to the companies, scene by scene. */
import type { CrmEmulator } from '../../../providers/emulator.ts';
import type { EventName } from '../../protocol/events.ts';
import { type Payload, payloadOf } from '../../protocol/payload.ts';
import { CHANGES } from '../../protocol/sample/change.ts';
import { fullStatePayload, type SampleCompany } from '../../protocol/sample/company.ts';
import { randomFrom } from '../../protocol/sample/random.ts';
import type { Actor, Stage } from './stage.ts';

/** Tells the audience something. */
export type Say = (line: string) => void;

const PHONE: Readonly<Record<string, string>> = { hubspot: 'phone', salesforce: 'Phone' };
const RATE_LIMIT = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: {
    status: 'error',
    message: 'You have reached your ten_secondly_rolling limit.',
    errorType: 'RATE_LIMIT',
    policyName: 'TEN_SECONDLY_ROLLING',
  },
};

/** Plays every scene once; the records are right after each. */
export async function playScenes(stage: Stage, say: Say, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const [first, second, third, fourth] = stage.actors;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return;
  const states = new Map(stage.actors.map((actor) => [actor, actor.company]));
  let clock = Date.now();
  const send = async (actor: Actor, ...events: readonly EventName[]): Promise<Payload | undefined> => {
    let last: Payload | undefined;
    for (const event of events) {
      clock += 1_000;
      const change = CHANGES[event](states.get(actor) ?? actor.company, random, new Date(clock).toISOString());
      states.set(actor, change.company);
      last = payloadOf(actor.company.entityId, new Date(clock).toISOString(), change.updates);
      const status = await stage.post(last);
      say(`  webhook     ${actor.company.entityId} ${event}: answered ${status}`);
    }
    return last;
  };

  say('\n1. The service states five companies in full; blanks in both CRMs are filled.');
  for (const company of states.values()) {
    clock += 1_000;
    await stage.post(fullState(company, clock));
  }
  await stage.settled();

  say('\n2. A name changes twice in a row: both CRMs end with the last one.');
  await send(first, 'name', 'name');
  await stage.settled();

  const hubspot = stage.emulators.find((emulator) => emulator.name === 'hubspot');
  if (hubspot !== undefined) await personEdits(stage, second, hubspot, say);
  await send(second, 'phoneNumber');
  await stage.settled();
  if (hubspot !== undefined)
    say(`  hubspot     phone is still ${held(hubspot, second, 'phone')}: a person wrote it, so it is kept`);

  say('\n4. HubSpot answers 429: the account waits, nothing is lost, no attempt is counted.');
  hubspot?.fault({ match: 'POST .*/batch/update', action: { kind: 'status', ...RATE_LIMIT } });
  await send(third, 'website');
  await afterPause(stage);

  say('\n5. The service sends one event twice: the second has no effect.');
  const repeated = await send(fourth, 'address');
  await stage.settled();
  const before = stage.emulators.map((emulator) => emulator.calls.length);
  if (repeated !== undefined) say(`  webhook     the same again: answered ${await stage.post(repeated)}`);
  await stage.settled();
  const calls = stage.emulators.reduce((sum, emulator, index) => sum + emulator.calls.length - (before[index] ?? 0), 0);
  say(`  calls made to the CRMs for it: ${calls}`);
}

/** One more random change, for the demo that goes on. */
export async function playOne(stage: Stage, say: Say, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const actor = random.pick(['0', '1', '2', '3', '4'] as const);
  const { company } = stage.actors[Number(actor)] ?? {};
  if (company === undefined) return;
  const event = random.pick([
    'name',
    'address',
    'phoneNumber',
    'website',
    'email',
    'status',
    'monthlyEmployeeCount',
  ] as const);
  const at = new Date().toISOString();
  const status = await stage.post(payloadOf(company.entityId, at, CHANGES[event](company, random, at).updates));
  say(`  webhook     ${company.entityId} ${event}: answered ${status}`);
  await stage.settled();
}

const fullState = (company: SampleCompany, at: number): Payload =>
  fullStatePayload(company, new Date(at).toISOString());

async function personEdits(stage: Stage, actor: Actor, crm: CrmEmulator, say: Say): Promise<void> {
  const id = actor.records.get(crm);
  const phone = PHONE[crm.name];
  if (id === undefined || phone === undefined) return;
  say('\n3. A sales rep corrects a phone number by hand in HubSpot; then the register changes it too.');
  crm.edit(id, { [phone]: '+4510203040' });
  say(`  ${crm.name.padEnd(11)} ${id} a person sets ${phone} to +4510203040`);
  await stage.settled();
}

const held = (crm: CrmEmulator, actor: Actor, property: string): string =>
  String(crm.get(actor.records.get(crm) ?? '')?.[property] ?? 'blank');

/** A paused account's lanes are not due, so what is due drains at once: wait for the pause to end first. */
async function afterPause(stage: Stage): Promise<void> {
  await stage.settled();
  for (const crm of stage.app.connector?.crms ?? []) {
    const block = await crm.pace.blockedUntil();
    if (block !== undefined) await new Promise((resolve) => setTimeout(resolve, block.until - Date.now() + 50));
  }
  await stage.settled();
}
