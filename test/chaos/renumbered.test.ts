/**
 * People give records the numbers of other companies, or none, each time the daemon is killed, and the CRMs are not asked
 * for changes: an event alone shows it. No record is ever written to for a company whose number it does not hold.
 */
import { describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { companyEntityId } from '../../src/protocol/entity-id.ts';
import { payloadOf, writePayload } from '../../src/protocol/payload.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { daemonWith } from '../support/daemon.ts';
import { type CrmName, type Crms, configFor, lanesBehind, startCrms, watchStore } from '../support/fixture.ts';
import { ENGINES, emptyStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { CRM_NAMES, NUMBERS } from './crowd.ts';
import { FULL, NIGHT, SEED } from './settings.ts';
import { sendAll } from './storm.ts';
import { strikesOn } from './strikes.ts';
import { scriptFaults } from './weather.ts';

const NAMES = { hubspot: 'name', salesforce: 'Name' } as const;
/** Companies with a record in each CRM, and as many without. */
const LINKED = 16;
const DIGITS = Array.from({ length: 2 * LINKED }, (_, at) => cvrNumber(at));
const KILLS = FULL ? [20, 50, 80, 110, 140] : [20, 50, 80];
const ROUNDS = KILLS.length;
/** Few enough of each connection for the safety limit. */
const RENUMBERED = 3;
const FIRST = Date.UTC(2026, 0, 5, 7);

interface Customer {
  readonly crm: CrmName;
  readonly id: string;
  /** The company that it was linked to at first. */
  readonly first: string;
  readonly isByHand: boolean;
}

/** What a company is called after so many changes: it begins with its number. */
const nameOf = (digits: string, round: number): string => `${digits} nr. ${round}`;

// What it shows hangs on no engine.
describe.runIf(NIGHT).each(FULL ? ENGINES : (['sqlite'] as const))('on %s', (engine) => {
  test(`records that get other numbers are written to for the company of their number alone, CVRSYNC_CHAOS_SEED=${SEED}`, async () => {
    const random = randomFrom(SEED);
    const crms = await startCrms();
    const url = await emptyStoreUrl(engine);
    const customers = await addCustomers(url, crms, random);
    scriptFaults(crms, random, 2);
    const connections = Object.fromEntries(
      CRM_NAMES.map((crm) => [
        crm,
        // The name of the company that a record was given away by is no person's edit, whoever wrote it.
        { match: { property: NUMBERS[crm] }, fields: { name: { property: NAMES[crm], policy: 'always' } } },
      ]),
    );
    const daemon = await daemonWith(configFor(crms, url, { connections, leaseSeconds: 5 }));
    await daemon.start();
    const free = { hubspot: DIGITS.slice(LINKED), salesforce: DIGITS.slice(LINKED) };
    const strikes = strikesOn(daemon, crms, { acked: KILLS }, () => renumber(crms, customers, free, random));
    const written = { right: 0, wrong: [] as string[] };
    for (const crm of CRM_NAMES)
      crms[crm].onWrite = (id, properties) => {
        const name = properties[NAMES[crm]];
        const number = crms[crm].get(id)?.[NUMBERS[crm]];
        if (name === undefined) return;
        if (String(name).startsWith(`${number} `)) written.right += 1;
        else written.wrong.push(`${crm} ${id} holds ${number}, and was called ${name}`);
      };

    for (let round = 1; round <= ROUNDS; round += 1)
      await sendAll(
        messagesOf(round, random),
        () => daemon.url,
        () => strikes.count('acked'),
      );
    await strikes.ended();
    expect(strikes.done).toBe(KILLS.length);
    // What was renumbered after the last event of its company: one more of each.
    await sendAll(
      messagesOf(ROUNDS + 1, random),
      () => daemon.url,
      () => {},
    );
    const store = await watchStore(url);
    const behind = async () => {
      const lanes = await store.db
        .selectFrom('lane')
        .select(['queue', 'key'])
        .where('queue', 'like', 'heal:%')
        .execute();
      return [...(await lanesBehind(store)), ...lanes.map(({ queue, key }) => `${queue} ${key}`)];
    };
    await untilNone(behind);

    const links = new Map(
      (await store.db.selectFrom('link').select(['provider', 'record_id', 'entity', 'state']).execute()).map((link) => [
        `${link.provider} ${link.record_id}`,
        `${link.state} ${link.entity}`,
      ]),
    );
    const states = customers.map(({ crm, id }) => {
      const held = crms[crm].get(id);
      return [`${crm} ${id}`, links.get(`${crm} ${id}`), held?.[NAMES[crm]]];
    });
    const wanted = customers.map(({ crm, id, first, isByHand }) => {
      const number = crms[crm].get(id)?.[NUMBERS[crm]] ?? null;
      const name = crms[crm].get(id)?.[NAMES[crm]];
      if (number === null) return [`${crm} ${id}`, expect.stringMatching(/^removed /), name];
      if (isByHand && number !== first) return [`${crm} ${id}`, `conflict ${companyEntityId(first)}`, name];
      return [`${crm} ${id}`, `active ${companyEntityId(String(number))}`, nameOf(String(number), ROUNDS + 1)];
    });
    expect(written.wrong).toEqual([]);
    expect(states).toEqual(wanted);
    // Each that a link counts for was written to at least once.
    const active = customers.filter(({ crm, id }) => links.get(`${crm} ${id}`)?.startsWith('active'));
    expect(written.right).toBeGreaterThanOrEqual(active.length);
    expect(
      customers.filter(({ crm, id, first }) => crms[crm].get(id)?.[NUMBERS[crm]] !== first).length,
    ).toBeGreaterThan(5);
  });
});

/** A record of each company in both CRMs, linked by its number or by hand. */
async function addCustomers(url: string, crms: Crms, random: Random): Promise<readonly Customer[]> {
  const customers = CRM_NAMES.flatMap((crm) =>
    DIGITS.slice(0, LINKED).map((first): Customer => {
      const id = crms[crm].add({ [NAMES[crm]]: 'En kunde', [NUMBERS[crm]]: first });
      return { crm, id, first, isByHand: random.chance(0.2) };
    }),
  );
  const store = await openStore(url);
  await store.write(async (tx) => {
    for (const { crm, id, first, isByHand } of customers)
      await linkRecord(tx, {
        provider: crm,
        recordId: id,
        entity: companyEntityId(first),
        origin: isByHand ? 'person' : 'number',
        sendUpdate: false,
        now: Date.now(),
      });
  });
  await store.close();
  return customers;
}

/**
 * A person gives some records the numbers of other companies, or takes them out. Of companies that no record held before:
 * where two claim one a person decides, and none is here.
 */
function renumber(
  crms: Crms,
  customers: readonly Customer[],
  free: Readonly<Record<CrmName, string[]>>,
  random: Random,
): void {
  for (const crm of CRM_NAMES) {
    const own = customers.filter((customer) => customer.crm === crm);
    for (let at = 0; at < RENUMBERED; at += 1) {
      const { id, isByHand } = random.pick(own as [Customer, ...Customer[]]);
      if (crms[crm].get(id)?.[NUMBERS[crm]] === null) continue;
      const isTakenOut = random.chance(0.2) && !isByHand;
      crms[crm].edit(id, { [NUMBERS[crm]]: isTakenOut ? null : (free[crm].pop() ?? null) });
    }
  }
}

/** A change of the name of every company, in any order. */
function messagesOf(round: number, random: Random) {
  const at = new Date(FIRST + round * 60_000).toISOString();
  const messages = DIGITS.map((digits) => {
    const name = { before: nameOf(digits, round - 1), after: nameOf(digits, round) };
    return { body: JSON.stringify(writePayload(payloadOf(companyEntityId(digits), at, { name }))), headers: {} };
  });
  return messages
    .map((message) => ({ message, place: random.int(0, 1_000_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ message }) => message);
}
