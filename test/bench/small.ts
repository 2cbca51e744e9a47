/**
 * small: the whole installation on one core and 512 MB: the first load of a register, the first links with the full state of
 * each company in the CRM, and a night's events. The built daemon, with both halves; the register and the CRM have the other
 * cores. `CVRSYNC_BENCH_DOCUMENTS` says how many companies the register has.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { build, NUMBER } from './backfiller.ts';
import { openChild } from './child.ts';
import { onCore, type Watched, watchConfined } from './confined.ts';
import type { verbs as Crm } from './crm.ts';
import { BUILT, type Daemon, inFolder, startDaemon } from './daemon.ts';
import { report, round } from './measure.ts';
import type { verbs as Register } from './register-pages.ts';
import { drained } from './store.ts';

const CORE = 0;
const BYTES = 512 * 1_024 * 1_024;
const PAGE_SIZE = 500;
const COMPANIES = Number(process.env['CVRSYNC_BENCH_DOCUMENTS'] ?? 200_000);
const LINKS = COMPANIES / 20;
/** Companies that change in a night, and how many of them are linked: more than in the register itself. */
const CHANGED = COMPANIES / 40;
const CHANGED_LINKS = CHANGED / 2;
const TOKEN = 'bench-bench-bench-bench-bench-bench';
const AIM = { rssMb: round(BYTES / 1e6), liveMs: 250 };

build();
await inFolder(async (folder) => {
  const register = openChild<typeof Register>('./register-pages.ts');
  const crm = openChild<typeof Crm>('./crm.ts');
  const { baseUrl } = await register.ask('serve', { documents: COMPANIES, pageSize: PAGE_SIZE, valid: true });
  const rate = { calls: 190, perMs: 10_000 };
  const numbered = { property: NUMBER };
  const { settings } = await crm.ask('start', { name: 'hubspot', rate, records: LINKS, numbered });
  const source = {
    source: 'cvr',
    baseUrl,
    username: 'bench',
    password: 'bench',
    requestsPerSecond: 20,
    pollSeconds: 1,
  };
  const daemon = await startDaemon(
    folder,
    { hubspot: { use: 'hubspot', ...settings, match: { property: NUMBER } } },
    {
      entry: BUILT,
      more: { admin: { openMetrics: true, token: TOKEN }, service: { register: source, requestsPerMinute: 10_000 } },
      under: onCore(CORE),
    },
  );
  const watch = watchConfined(daemon.pid, { origin: daemon.origin, store: `${folder}/cvrsync.db`, bytes: BYTES });
  const parts: (Watched & { readonly part: string; readonly seconds: number })[] = [];
  const timed = async (part: string, work: () => Promise<void>): Promise<void> => {
    watch.part();
    const began = performance.now();
    await work();
    parts.push({ part, seconds: round((performance.now() - began) / 1_000), ...rounded(watch.part()) });
    process.stdout.write(`${JSON.stringify(parts.at(-1))}\n`);
  };
  const settled = async (): Promise<void> => {
    for (const queue of ['monitoring', 'state', 'deliver', 'apply', 'sync:hubspot']) await drained(folder, queue);
  };
  const written = async (since: number): Promise<number> =>
    [...(await crm.ask('writes', undefined)).values()].filter((at) => at >= since).length;

  await timed('first load', async () => {
    await register.ask('find', COMPANIES);
    await documents(daemon, 'new', COMPANIES);
  });
  await timed('first links', async () => {
    await run(daemon, 'scan', {});
    await run(daemon, 'apply', { trust: 'register', sendUpdate: true });
    while ((await written(0)) < LINKS) await sleep(1_000);
    await settled();
  });
  await timed('night', async () => {
    const since = Date.now();
    const changed = Array.from({ length: CHANGED }, (_, at) =>
      at < CHANGED_LINKS ? at * 4 : LINKS + (at - CHANGED_LINKS) * 4,
    );
    await register.ask('rename', changed);
    await documents(daemon, 'changed', CHANGED);
    await settled();
    if ((await written(since)) < CHANGED_LINKS)
      throw new Error(`${await written(since)} of ${CHANGED_LINKS} were written`);
  });
  await watch.stop();
  const mostMb = daemon.mostRss();
  await Promise.all([daemon.stop(), register.close(), crm.close()]);
  const worst = (of: keyof Watched): number => Math.max(...parts.map((part) => part[of]));
  const measured = {
    liveMs: worst('liveMs'),
    ownLiveMs: worst('ownLiveMs'),
    rssMb: round(mostMb),
    wholeMb: worst('wholeMb'),
    seconds: Object.fromEntries(parts.map(({ part, seconds }) => [part, seconds])),
  };
  report('small', measured, AIM, measured.liveMs < AIM.liveMs && measured.rssMb < AIM.rssMb);
});

function rounded(watched: Watched): Watched {
  const { liveMs, ownLiveMs, rssMb, wholeMb } = watched;
  return { liveMs: round(liveMs), ownLiveMs: round(ownLiveMs), rssMb: round(rssMb), wholeMb: round(wholeMb) };
}

async function documents({ metric }: Daemon, result: 'new' | 'changed', count: number): Promise<void> {
  while ((await metric(`cvrsync_register_documents_total\\{result="${result}"\\}`)) < count) await sleep(1_000);
}

/** Has the daemon preview and carry out a run on the CRM, as the dashboard does. */
async function run({ admin }: Daemon, kind: 'scan' | 'apply', options: object): Promise<void> {
  const ask = async (path: string, body?: object): Promise<{ readonly id: number; readonly state: string }> => {
    const answer = await fetch(`${admin}/admin/api/runs${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const ended = async (id: number): Promise<void> => {
    for (let at = ''; at !== 'done'; at = (await ask(`/${id}`)).state) {
      if (at === 'failed' || at === 'cancelled') throw new Error(`the run ${kind} is ${at}`);
      await sleep(500);
    }
  };
  const { id } = await ask(`/${kind}`, { provider: 'hubspot', ...options });
  await ended(id);
  if (kind === 'scan') return;
  await ask(`/${id}/confirm`, {});
  await ended(id);
}
