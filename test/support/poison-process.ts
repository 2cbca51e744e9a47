/**
 * Reads the events that wait in the store at the first argument, and what the sources of the third one offer, and ends. A
 * text with the word Gift ends it at once, as a fault of ours would, and one with Sirup takes long, where the second argument
 * is `dying`. No real text does so, as far as is known.
 */
import { applyReceipts } from '../../src/connector/apply/apply.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import { openStore } from '../../src/store/engines/open.ts';

const [, , url = '', condition, given] = process.argv;
const store = await openStore(url);
// As if the leases of the dead had run out meanwhile.
await store.write((tx) => tx.updateTable('lane').set({ lease_until: 0 }).where('fence', 'is not', null).execute());

const { parse } = JSON;
function suffer(text: string): void {
  if (condition !== 'dying') return;
  if (text.includes('Gift')) process.kill(process.pid, 'SIGKILL');
  const isLong = text.includes('Gift') || text.includes('Sirup');
  for (const start = process.cpuUsage(); isLong && process.cpuUsage(start).user < 2_100_000; );
}

const print = (details: object, message: string) =>
  void process.stdout.write(`${message} ${JSON.stringify(details)}\n`);
const log = { info: print, warn: print, error: print };
const deps = { store, now: Date.now, log, metrics: createMetrics(), wakeUp: createWakeUp() };

async function apply(): Promise<void> {
  JSON.parse = (text, reviver) => {
    // The sources' texts are none of its own.
    if (String(text).includes('"updates":')) suffer(String(text));
    return parse(text, reviver);
  };
  const claims = await claim(store, 'apply', { limit: 100, now: Date.now(), leaseMs: 60_000 });
  if (claims.length > 0) await applyReceipts({ ...deps, emailEvent: 'emailAddress', mapped: new Map() }, claims);
}

const watch = async (offer: string): Promise<void> =>
  (await import('./poison-sources.ts')).readSources(deps, parse(offer), suffer);

await Promise.all([apply(), ...(given === undefined ? [] : [watch(given)])]);
await store.close();
