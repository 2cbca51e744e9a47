/** The scenes of the demo: changes in the register, and what each of them does in the CRMs. */
import type { CrmEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { matchQueue } from '../../connector/names/queues.ts';
import { readAttention } from '../../connector/review/attention.ts';
import { resolveAttention } from '../../connector/review/resolve-attention.ts';
import { rebuildIndex } from '../../match/index/fill.ts';
import type { EventName } from '../../protocol/events.ts';
import { plainText } from '../../protocol/news.ts';
import { CHANGES } from '../../protocol/sample/change.ts';
import { type Random, randomFrom } from '../../protocol/sample/random.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { readRegisterEntries } from '../../service/register/watch/index-entry.ts';
import { type Actor, companyOf, type DemoSetup } from './setup.ts';
import { askNews, resendLast, watchByMail } from './visitors.ts';

/** Prints one line for the audience. */
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
export async function playScenes(setup: DemoSetup, say: Say, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const [first, second, third, fourth] = setup.actors;
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return;
  const change = async (actor: Actor, ...events: readonly EventName[]): Promise<void> => {
    for (const event of events) await publishChange({ setup, say, random }, actor, event);
  };

  say('\n1. The register knows five companies. The CRMs know their names and CVR numbers: each record is linked,');
  say('   POST .../items?sendUpdate=true asks for all known values, and cvrsync fills the blank properties.');
  for (const actor of setup.actors) await setup.publish(actor);
  await setup.settled();
  await setup.link(setup.actors);
  await setup.settled();

  say('\n2. A name changes twice in a row: both CRMs end with the last one; a colleague gets a mail.');
  await watchByMail(setup, [first, fourth]);
  await change(first, 'name', 'name');
  await setup.settled();
  for (const { headline } of await askNews(setup, [companyOf(first).entityId]))
    say(`  news        ${plainText(headline)}`);

  const hubspot = setup.emulators.find((emulator) => emulator.name === 'hubspot');
  if (hubspot !== undefined) await personEdits(setup, second, hubspot, say);
  await change(second, 'phoneNumber');
  await setup.settled();
  if (hubspot !== undefined)
    say(`  hubspot     phone is still ${held(hubspot, second, 'phone')}: a person wrote it, so it is kept`);

  say('\n4. HubSpot answers 429: the account waits, nothing is lost, no attempt is counted.');
  hubspot?.fault({ match: 'POST .*/batch/update', action: { kind: 'status', ...RATE_LIMIT } });
  await change(third, 'website');
  await afterPause(setup);

  say('\n5. The service delivers one event a second time: it has no effect.');
  await change(fourth, 'address');
  await setup.settled();
  const before = setup.emulators.map((emulator) => emulator.calls.length);
  const sent = await resendLast(setup, companyOf(fourth).entityId);
  await setup.settled();
  const calls = setup.emulators.reduce((sum, emulator, index) => sum + emulator.calls.length - (before[index] ?? 0), 0);
  say(`  deliveries  ${sent} sent again; calls made to the CRMs for it: ${calls}`);

  say('\n6. Somebody makes a record without a CVR number: cvrsync finds the company, and a person decides.');
  if (hubspot !== undefined) await findByName(setup, hubspot, say);
}

/** A record without a number, as somebody types in what they heard on the phone: the company it means is suggested. */
async function findByName(setup: DemoSetup, crm: CrmEmulator, say: Say): Promise<void> {
  const { store } = setup.app;
  await setup.publish(setup.newcomer);
  await setup.settled();
  const deps = { store, now: Date.now, report: () => {}, onProblem: () => {} };
  await rebuildIndex(deps, readRegisterEntries, new AbortController().signal);
  const { name, address } = companyOf(setup.newcomer);
  const typed = name.replace(/ (?:A\/S|ApS|I\/S|IVS|P\/S|K\/S)$/u, '').toUpperCase();
  const street = `${address.streetName ?? ''} ${address.houseNumberFrom ?? ''}`.trim();
  const id = crm.add({ name: typed, address: street, zip: String(address.postalCode ?? '') });
  say(`  ${crm.name.padEnd(11)} ${id} a sales rep types in ${typed}, ${street}: no CVR number`);
  // What the CRM's webhook, or its next poll, would do.
  await store.write((tx) => mark(tx, matchQueue(crm.name), [id], Date.now()));
  await setup.settled();
  const suggestions = await readAttention(store.db, Date.now(), { kinds: ['match'] });
  for (const suggestion of suggestions) {
    say(`  review      ${suggestion.reason}`);
    const accepted = await store.write((tx) => resolveAttention(tx, 'accept', suggestion.id, Date.now()));
    if (accepted.kind === 'done') say(`  review      a person accepts it: ${accepted.note}`);
  }
  await setup.settled();
}

/** One more random change, for the demo that goes on. */
export async function playOne(setup: DemoSetup, say: Say, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const actor = setup.actors[random.int(0, setup.actors.length - 1)];
  if (actor === undefined) return;
  const often = ['name', 'address', 'phoneNumber', 'website', 'email', 'status', 'monthlyEmployeeCount'] as const;
  await publishChange({ setup, say, random }, actor, random.pick(often));
  await setup.settled();
}

async function publishChange(
  { setup, say, random }: { readonly setup: DemoSetup; readonly say: Say; readonly random: Random },
  actor: Actor,
  event: EventName,
): Promise<void> {
  const at = Date.now();
  const company = companyOf(actor);
  const next = CHANGES[event](company, random, new Date(at).toISOString()).company;
  actor.versions.push({ company: next, from: new Date(at).toISOString().slice(0, 10), at });
  await setup.publish(actor);
  say(`  register    ${company.entityId} ${event}`);
}

async function personEdits(setup: DemoSetup, actor: Actor, crm: CrmEmulator, say: Say): Promise<void> {
  const id = actor.records.get(crm);
  const phone = PHONE[crm.name];
  if (id === undefined || phone === undefined) return;
  say('\n3. A sales rep corrects a phone number by hand in HubSpot; then the register changes it too.');
  crm.edit(id, { [phone]: '+4510203040' });
  say(`  ${crm.name.padEnd(11)} ${id} a person sets ${phone} to +4510203040`);
  await setup.settled();
}

const held = (crm: CrmEmulator, actor: Actor, property: string): string =>
  String(crm.get(actor.records.get(crm) ?? '')?.[property] ?? 'blank');

/** A paused account's lanes are not due, so what is due drains at once: wait for the pause to end first. */
async function afterPause(setup: DemoSetup): Promise<void> {
  await setup.settled();
  for (const crm of setup.app.connector?.crms ?? []) {
    const block = await crm.rateLimiter.blockedUntil();
    if (block !== undefined) await new Promise((resolve) => setTimeout(resolve, block.until - Date.now() + 50));
  }
  await setup.settled();
}
