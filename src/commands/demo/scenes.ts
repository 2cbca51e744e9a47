/** The scenes of the demo: changes in the register, and their effects in the CRMs. */

import Type from 'typebox';
import { Value } from 'typebox/value';
import type { CrmEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { matchQueue } from '../../connector/names/queues.ts';
import { resolveReview } from '../../connector/review/resolve.ts';
import { readReview } from '../../connector/review/review-list.ts';
import { rebuildIndex } from '../../match/index/fill.ts';
import type { EventName } from '../../protocol/events.ts';
import { plainText } from '../../protocol/news.ts';
import { CHANGES } from '../../protocol/sample/change.ts';
import { type Random, randomFrom } from '../../protocol/sample/random.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { replayDeliveries } from '../../service/delivery/deliveries.ts';
import { addItem } from '../../service/items/items.ts';
import { createKey } from '../../service/keys/keys.ts';
import { createMonitor } from '../../service/monitors/monitors.ts';
import { readRegisterEntries } from '../../service/register/watch/index-entry.ts';
import { type Actor, companyOf, type DemoSetup } from './setup.ts';

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

/** Plays every scene once, and waits after each until the records are right. */
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

  say('\n6. Somebody creates a record without a CVR number: cvrsync finds the company, and a person decides.');
  if (hubspot !== undefined) await findByName(setup, hubspot, say);
}

/** Somebody enters a company without its number, from a phone call: cvrsync suggests the company. */
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
  // The CRM's webhook, or its next poll, would do this.
  await store.write((tx) => mark(tx, matchQueue(crm.name), [id], Date.now()));
  await setup.settled();
  const suggestions = await readReview(store.db, Date.now(), { kinds: ['match'] });
  for (const suggestion of suggestions) {
    say(`  review      ${suggestion.reason}`);
    const accepted = await store.write((tx) => resolveReview(tx, 'accept', suggestion.id, Date.now()));
    if (accepted.kind === 'done') say(`  review      a person accepts it: ${accepted.note}`);
  }
  await setup.settled();
}

/** One more random change after the scenes. */
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

/** A paused account's lanes are not due, so `settled` returns at once: wait for the pause to end first. */
async function afterPause(setup: DemoSetup): Promise<void> {
  await setup.settled();
  for (const crm of setup.app.connector?.crms ?? []) {
    const block = await crm.rateLimiter.blockedUntil();
    if (block !== undefined) await new Promise((resolve) => setTimeout(resolve, block.until - Date.now() + 50));
  }
  await setup.settled();
}

const news = Type.Array(Type.Object({ headline: Type.String() }));

const serviceOf = ({ app }: DemoSetup) => {
  if (app.service === undefined) throw new Error('the demo runs without the service');
  return app.service;
};

/** Creates a monitor that sends mail about names and addresses at once. */
async function watchByMail(setup: DemoSetup, actors: readonly Actor[]): Promise<void> {
  const { secrets } = serviceOf(setup);
  const now = Date.now();
  await setup.app.store.write(async (tx) => {
    const colleague = {
      name: 'Sales',
      emails: ['ida@example.com'],
      mailFrequency: 'immediate',
      events: ['name', 'address'],
    } as const;
    const { id: monitor } = await createMonitor(tx, colleague, { secrets, now });
    for (const actor of actors)
      await addItem(tx, { monitor, entity: companyOf(actor).entityId, recordId: '', sendUpdate: false, now });
  });
}

async function askNews(setup: DemoSetup, ids: readonly string[]): Promise<Type.Static<typeof news>> {
  const scopes = ['news'] as const;
  const { key } = await setup.app.store.write((tx) => createKey(tx, { name: 'demo', scopes }, Date.now()));
  const answer = await fetch(`${setup.app.url}/modules/news?orderBy=publishtime`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-access-key': key },
    body: JSON.stringify(ids),
  });
  return Value.Parse(news, await answer.json());
}

/** Sends the newest delivery of a company again; returns how many there were. */
async function resendLast(setup: DemoSetup, entity: string): Promise<number> {
  const { seq } = await setup.app.store.db
    .selectFrom('delivery')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('entity', '=', entity)
    .where('state', '=', 'done')
    .executeTakeFirstOrThrow();
  return setup.app.store.write((tx) => replayDeliveries(tx, { seq, state: 'done' }, Date.now()));
}
