/** Events, faults, people and SIGKILLs at once against the real daemon: what the CRMs hold in the end is what was said. */
import { describe, expect, test } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { mark } from '../../src/runtime/lanes/lanes.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { daemonWith } from '../support/daemon.ts';
import { type Crms, configFor, lanesBehind, startCrms, watchStore } from '../support/fixture.ts';
import { ENGINES, emptyStoreUrl } from '../support/stores.ts';
import { untilNone } from '../support/until-none.ts';
import { foldSamples } from './fold.ts';
import { AMOUNT, addRecords, type CrmRecord, differences, editSome, RESPELL } from './records.ts';
import { FULL, NIGHT, SEED } from './settings.ts';
import { futureSamples, mixed, samplesFor, sendAll, shuffledMessages, soonSamples } from './storm.ts';
import { strikesOn } from './strikes.ts';
import { answerLate, inEuros, refuseInBulk } from './untidy.ts';
import { scriptFaults } from './weather.ts';

/** Of the org, its own first; each record has one of them. */
const CURRENCIES = ['DKK', 'EUR'] as const;

interface Chaos {
  readonly engine: 'sqlite' | 'postgres';
  readonly companies: number;
  readonly changes: number;
  /** Scripted faults of each kind for each CRM. */
  readonly faults: number;
  /** Events that are dated 2 days to 100 years ahead. */
  readonly future: number;
  /** Kills after so many acknowledged webhooks, and so many records written (fewer than there are records: each is written once at least). */
  readonly killsAt: { readonly acked: readonly number[]; readonly written: readonly number[] };
}

const SMALL = {
  companies: 12,
  changes: 100,
  faults: 3,
  future: 12,
  killsAt: { acked: [60], written: [8] },
};
const LARGE = {
  companies: 30,
  changes: 400,
  faults: 8,
  future: 40,
  killsAt: { acked: [60, 220, 400], written: [10, 50] },
};

// On PostgreSQL the suite has the fleet: see fleet.test.ts.
describe(`chaos, CVRSYNC_CHAOS_SEED=${SEED}`, () => {
  test.each(NIGHT ? ENGINES : (['sqlite'] as const))(
    'on %s every record ends as the fold of the events, and nobody is overwritten',
    (engine) => run({ engine, ...(FULL ? LARGE : SMALL) }),
  );
});

async function run({ engine, companies: size, changes, faults, future, killsAt }: Chaos): Promise<void> {
  const random = randomFrom(SEED);
  const stream = inEuros(samplesFor(SEED, size, changes), random);
  const samples = mixed(stream, soonSamples(foldSamples(stream), random), random);
  const fromTheFuture = futureSamples(sampleCompanies(SEED, size), random, future);
  const messages = shuffledMessages(mixed(samples, fromTheFuture, random), random);
  const crms = await startCrms({
    hubspot: { respell: RESPELL.hubspot },
    salesforce: {
      respell: RESPELL.salesforce,
      trackedFields: Object.keys(RESPELL.salesforce),
      currencies: CURRENCIES,
    },
  });
  const url = await emptyStoreUrl(engine);
  const records = addRecords(crms, sampleCompanies(SEED, size), random, (crm) =>
    crm === 'salesforce' ? { CurrencyIsoCode: random.pick(CURRENCIES) } : {},
  );
  await linkAll(url, crms, records);
  scriptFaults(crms, random, faults);
  answerLate(crms, random, faults);
  const mend = refuseInBulk(crms, records, random);

  const fields = { [AMOUNT.field]: { property: AMOUNT.property, policy: AMOUNT.policy } };
  const connections = { salesforce: { fields } };
  const daemon = await daemonWith(configFor(crms, url, { leaseSeconds: 5, connections }));
  await daemon.start();
  const strikes = strikesOn(daemon, crms, killsAt, (strike) => editSome(crms, records, random, strike));
  const last = foldSamples(stream);
  const entityOf = new Map(records.map(({ id, entity }) => [id, entity]));
  const inWrongCurrency: string[] = [];
  crms.hubspot.onWrite = () => strikes.count('written');
  crms.salesforce.onWrite = (id, properties) => {
    const currency = last.get(entityOf.get(id) ?? '')?.company.report?.currencies[0];
    const isWrong = properties[AMOUNT.property] != null && crms.salesforce.get(id)?.['CurrencyIsoCode'] !== currency;
    if (isWrong) inWrongCurrency.push(id);
    strikes.count('written');
  };

  await sendAll(
    messages,
    () => daemon.url,
    () => strikes.count('acked'),
  );
  await strikes.ended();
  const store = await watchStore(url);
  const atRest = () =>
    untilNone(async () => {
      if (daemon.url === undefined) return ['the daemon starts'];
      await retryParked(store);
      return lanesBehind(store);
    });
  mend();
  await atRest();
  await strikes.ended();
  // What people put back after the last event of a company is followed from the next look on: a daemon's poll sees it.
  await lookAt(
    store,
    records.map(({ crm, id }) => ({ queue: `sync:${crm}`, key: id })),
  );
  await atRest();

  expect(strikes.done).toBe(killsAt.acked.length + killsAt.written.length);
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  const receipts = await store.db.selectFrom('receipt').select(['applied_at', 'quarantined']).execute();
  expect(receipts.filter(({ applied_at }) => applied_at === null)).toEqual([]);
  expect(receipts).toHaveLength(samples.length + future);
  // Events from the future are quarantined, each of them and no other, and freeze nothing.
  expect(receipts.filter(({ quarantined }) => quarantined !== null)).toHaveLength(future);
  expect(differences(crms, records, foldSamples(samples), { respell: RESPELL, amount: AMOUNT })).toEqual([]);
  expect(inWrongCurrency).toEqual([]);
  const links = await store.db.selectFrom('link').select(['record_id', 'state']).execute();
  const active = links.filter(({ state }) => state === 'active').map((link) => link.record_id);
  expect(active.sort()).toEqual(records.map(({ id }) => id).sort());
  // Only the scripted ones: the pace holds over kills and restarts.
  expect([...crms.hubspot.calls, ...crms.salesforce.calls].filter(({ status }) => status === 429)).toEqual([]);
}

/** As an operator does who has all that was parked tried again. */
async function retryParked(store: Store): Promise<void> {
  const lanes = await store.db.selectFrom('lane').select(['queue', 'key']).where('parked_at', 'is not', null).execute();
  await lookAt(store, lanes);
}

const lookAt = (store: Store, lanes: readonly { readonly queue: string; readonly key: string }[]): Promise<void> =>
  store.write(async (tx) => {
    for (const { queue, key } of lanes) await mark(tx, queue, [key], Date.now());
  });

/** Links the records; of the accounts a third has a hold on the name. */
async function linkAll(url: string, crms: Crms, records: readonly CrmRecord[]): Promise<void> {
  const store = await openStore(url);
  await store.write(async (tx) => {
    const now = Date.now();
    for (const [index, { crm, id, entity, edits, before }] of records.entries()) {
      await linkRecord(tx, { provider: crm, recordId: id, entity, sendUpdate: false, now });
      if (crm !== 'salesforce' || index % 3 !== 1) continue;
      const held = { provider: crm, recordId: id, property: 'Name' };
      await setOverride(tx, held, { kind: 'hold', once: false, until: null, reason: null }, now);
      edits.set('Name', crms.salesforce.get(id)?.['Name'] ?? null);
      before.delete('Name');
    }
  });
  await store.close();
}
