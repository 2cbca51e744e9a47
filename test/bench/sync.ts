/**
 * sync: what share of a CRM's rate limit is used while 20,000 records wait. The emulated CRM counts exactly and refuses
 * what is over; every record needs one place in a batch that reads and one in a batch that writes.
 */
import type { Window } from '../../providers/provider.ts';
import { openChild } from './child.ts';
import type { verbs as Crm, CrmName } from './crm.ts';
import { inFolder, startDaemon } from './daemon.ts';
import { report, round } from './measure.ts';
import { drained, withWaiting } from './store.ts';

const RECORDS = 20_000;

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

async function measure(folder: string, { name, rate, batch }: Account) {
  const crm = openChild<typeof Crm>('./crm.ts');
  const { settings, ids } = await crm.ask('start', { name, rate, records: RECORDS });
  await withWaiting(folder, name, ids);
  const daemon = await startDaemon(folder, { [name]: { use: name, ...settings } });
  await drained(folder, `sync:${name}`);
  await daemon.stop();
  const { count, refused, failed, spanMs } = await crm.ask('calls', undefined);
  const written = await crm.ask('written', undefined);
  await crm.close();
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

const measured: Partial<Record<CrmName, Awaited<ReturnType<typeof measure>>>> = {};
for (const account of ACCOUNTS)
  await inFolder(async (folder) => {
    measured[account.name] = await measure(folder, account);
  });
const ok = Object.values(measured).every(({ share, refused, fill }) => share >= 0.95 && refused === 0 && fill >= 0.95);
report('sync', measured, { share: 0.95, refused: 0, fill: 0.95 }, ok);
