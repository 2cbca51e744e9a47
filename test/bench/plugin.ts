/**
 * plugin: what the runtime costs a record around a provider that does nothing, from the lane that says it is behind to
 * the decision on disk; and what the fence around a connection adds to that.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkAnswers } from '../../src/connector/crm/answer-check/answer-check.ts';
import { inFolder, settleMapping, startDaemon } from './daemon.ts';
import { median, report, round } from './measure.ts';
import { connectNoop, type NoopCalls } from './noop-provider.ts';
import { drained, withWaiting } from './store.ts';

const RECORDS = 50_000;
/** What HubSpot's own limit lets in, 190 calls of 100 records in 10 s and two calls a record: the runtime must not be slower. */
const AIM = { recordsPerSecond: 950, fenceShare: 0.02 };
const BATCH = 200;
const ROUNDS = 500;
const NOOP = fileURLToPath(new URL('noop-provider.ts', import.meta.url));

/** Records a second through a whole daemon. */
async function measureDaemon(folder: string) {
  const ids = Array.from({ length: RECORDS }, (_, at) => String(1_000_000 + at));
  const file = join(folder, 'calls.json');
  const providers = { noop: { use: NOOP, file } };
  await settleMapping(folder, providers);
  await withWaiting(folder, 'noop', ids, 20_000_000);
  const daemon = await startDaemon(folder, providers);
  await drained(folder, 'sync:noop');
  const ended = Date.now();
  const cpu = await daemon.metric('process_cpu_seconds_total');
  const memory = await daemon.rss();
  await daemon.stop();
  const calls: NoopCalls = JSON.parse(await readFile(file, 'utf8'));
  if (calls.written !== RECORDS) throw new Error(`${calls.written} of ${RECORDS} records were written`);
  const spanMs = ended - calls.first;
  return {
    recordsPerSecond: round((RECORDS * 1_000) / spanMs),
    microsPerRecord: round((spanMs * 1_000) / RECORDS),
    cpuMicrosPerRecord: round((cpu * 1_000_000) / RECORDS),
    fill: round(RECORDS / (calls.updates * BATCH), 3),
    rssMb: round(memory),
  };
}

/** Microseconds a record to read and write through the fence, less those without it. */
async function measureFence(): Promise<number> {
  const bare = connectNoop(() => {});
  const { properties, read, update } = bare;
  const names = (await properties(new AbortController().signal)).map(({ name }) => name);
  const ids = Array.from({ length: BATCH }, (_, at) => String(at));
  const patches = ids.map((id) => ({ id, properties: Object.fromEntries(names.map((name) => [name, 'x'])) }));
  const { signal } = new AbortController();
  const timed = async (connection: Pick<typeof bare, 'read' | 'update'>): Promise<number> => {
    const began = performance.now();
    await connection.read(ids, names, signal);
    await connection.update(patches, signal);
    return ((performance.now() - began) * 1_000) / BATCH;
  };
  const fenced = checkAnswers(bare, { name: 'noop' });
  const pairs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plain = await timed({ read, update });
    pairs.push((await timed(fenced)) - plain);
  }
  return median(pairs.slice(ROUNDS / 5));
}

await inFolder(async (folder) => {
  const daemon = await measureDaemon(folder);
  const fence = await measureFence();
  const measured = {
    ...daemon,
    fenceMicrosPerRecord: round(fence, 2),
    fenceShare: round(fence / daemon.microsPerRecord, 4),
  };
  const ok = daemon.recordsPerSecond >= AIM.recordsPerSecond && measured.fenceShare <= AIM.fenceShare;
  report('plugin', measured, AIM, ok);
});
