/**
 * sync: what share of a CRM's rate limit is used while 20,000 records wait, of two CRMs one after the other and at the same
 * time. The emulated CRMs count exactly and refuse what is over; every record needs one place in a batch that reads and one
 * in a batch that writes.
 */
import type { Window } from '../../providers/provider.ts';
import { type Child, openChild } from './child.ts';
import type { verbs as Crm, CrmName } from './crm.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { report, round } from './measure.ts';
import { drained, withWaiting } from './store.ts';

const RECORDS = 20_000;
const AIM = { share: 0.95, refused: 0, fill: 0.95 };

interface Account {
  readonly name: CrmName;
  readonly rate: Window;
  /** Records in a batch, at most. */
  readonly batch: number;
}

const ACCOUNTS: readonly Account[] = [
  // HubSpot's own limit for Professional and Enterprise accounts.
  { name: 'hubspot', rate: { calls: 190, perMs: 10_000 }, batch: 100 },
  // Salesforce limits a day, not a second: this is a pace that its 200 calls need 15 s for.
  { name: 'salesforce', rate: { calls: 133, perMs: 10_000 }, batch: 200 },
];

/** Alone on the machine, and beside the other: two CRMs share the daemon's thread, and their emulators its processors. */
const alone: Outcomes = {};
for (const account of ACCOUNTS) Object.assign(alone, (await syncAll([account])).outcomes);
const { outcomes: together, threadMsPerRecord } = await syncAll(ACCOUNTS);
const ok = [...Object.values(alone), ...Object.values(together)].every(
  ({ share, refused, fill }) => share >= AIM.share && refused === 0 && fill >= AIM.fill,
);
report('sync', { ...together, alone, threadMsPerRecord }, AIM, ok);

type Outcomes = Partial<Record<CrmName, Outcome>>;

interface Synced {
  readonly outcomes: Outcomes;
  /** CPU of the daemon's thread, by which runs on a host of changing speed compare better than by shares. */
  readonly threadMsPerRecord: number;
}

/** Lets a daemon sync all records of these accounts at the same time. */
async function syncAll(accounts: readonly Account[]): Promise<Synced> {
  const outcomes: Outcomes = {};
  let threadMsPerRecord = 0;
  await inFolder(async (folder) => {
    const crms = accounts.map((account) => ({ ...account, child: openChild<typeof Crm>('./crm.ts') }));
    const providers: Record<string, object> = {};
    const records: Partial<Record<CrmName, readonly string[]>> = {};
    for (const { name, rate, child } of crms) {
      const { settings, ids } = await child.ask('start', { name, rate, records: RECORDS });
      providers[name] = { use: name, ...settings };
      records[name] = ids;
    }
    await settleMapping(folder, providers);
    for (const [at, { name }] of crms.entries())
      await withWaiting(folder, name, records[name] ?? [], 20_000_000 + at * RECORDS);
    const daemon = await startDaemon(folder, providers);
    const atStart = daemon.threadSeconds();
    for (const { name } of crms) await drained(folder, `sync:${name}`);
    threadMsPerRecord = round((1_000 * (daemon.threadSeconds() - atStart)) / (RECORDS * accounts.length), 3);
    await daemon.stop();
    for (const crm of crms) outcomes[crm.name] = await outcome(crm);
    await Promise.all(crms.map(({ child }) => child.close()));
  });
  return { outcomes, threadMsPerRecord };
}

interface Outcome {
  /** Of the limit. */
  readonly share: number;
  /** Calls that the limit refused. */
  readonly refused: number;
  readonly failed: number;
  /** How full the batches were. */
  readonly fill: number;
  readonly calls: number;
  readonly seconds: number;
  readonly recordsPerSecond: number;
}

async function outcome({
  name,
  rate,
  batch,
  child,
}: Account & { readonly child: Child<typeof Crm> }): Promise<Outcome> {
  const { count, refused, failed, spanMs } = await child.ask('calls', undefined);
  const written = await child.ask('written', undefined);
  if (written !== RECORDS) throw new Error(`${name}: ${written} of ${RECORDS} records were written`);
  return {
    // Calls over those that fit into the time between the first and the last of them.
    share: round((count * rate.perMs) / rate.calls / (spanMs + rate.perMs / rate.calls), 3),
    refused,
    failed,
    fill: round((2 * RECORDS) / (count * batch), 3),
    calls: count,
    seconds: round(spanMs / 1_000, 1),
    recordsPerSecond: round((RECORDS * 1_000) / spanMs),
  };
}
