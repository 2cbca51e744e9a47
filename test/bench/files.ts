/**
 * files: through how many files and named functions of the program one webhook goes until its value is in the CRM, and one
 * document of the register until it is in a webhook. Measured by V8's coverage in a live daemon. What runs in a spell
 * without work is taken off.
 */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { sampleSeries } from '../../src/commands/emulate/sample/stream.ts';
import { bodyAt } from './bodies.ts';
import { type Daemon, inFolder, startDaemon } from './daemon.ts';
import { NO_CRM } from './flood.ts';
import { report } from './measure.ts';
import { withLinks } from './store.ts';

const AIM = { webhookFiles: 60, documentFiles: 60 };
/** A start takes no longer. */
const START_MS = 6_000;
/** Longer than any period of the daemon that is not minutes long. */
const IDLE_MS = 40_000;
/** What follows the work, such as settling its lane, takes no longer. */
const AFTERWARDS_MS = 1_000;
const FIRST = 20_000_000;

/** Functions by file. */
type Ran = Readonly<Record<string, readonly string[]>>;

process.env['CVRSYNC_BENCH_NODE_FLAGS'] =
  `--import ${fileURLToPath(new URL('./coverage-preload.ts', import.meta.url))} --disable-warning=ExperimentalWarning`;

/** What ran for a piece of work, and not in a spell without it. */
async function journey(daemon: Daemon, coverage: string, work: () => Promise<void>): Promise<Ran> {
  let taken = 0;
  const take = async (): Promise<Ran> => {
    process.kill(daemon.pid, 'SIGUSR2');
    const file = `${coverage}.${taken++}.json`;
    while (!existsSync(file)) await sleep(20);
    return JSON.parse(readFileSync(file, 'utf8'));
  };
  await sleep(START_MS);
  await take();
  await sleep(IDLE_MS);
  const idle = await take();
  await work();
  await sleep(AFTERWARDS_MS);
  const worked = await take();
  const own = Object.entries(worked).map(
    ([file, functions]) => [file, functions.filter((name) => idle[file]?.includes(name) !== true)] as const,
  );
  return Object.fromEntries(own.filter(([, functions]) => functions.length > 0));
}

/** Files, named functions, and the files of each folder. */
function sumOf(ran: Ran): { readonly files: number; readonly functions: number; readonly folders: number } {
  const files = Object.keys(ran);
  for (const file of files.toSorted()) process.stderr.write(`  ${file}: ${ran[file]?.length}\n`);
  const named = Object.values(ran)
    .flat()
    .filter((name) => !name.startsWith('@'));
  return { files: files.length, functions: named.length, folders: new Set(files.map((file) => join(file, '..'))).size };
}

async function ofWebhook(folder: string): Promise<Ran> {
  const crm = await startHubspotEmulator({});
  const id = crm.add({ name: 'Opdigtet' });
  await withLinks(folder, 'hubspot', [id], FIRST);
  process.env['CVRSYNC_BENCH_COVERAGE'] = join(folder, 'webhook');
  const daemon = await startDaemon(folder, { hubspot: { use: 'hubspot', ...crm.settings } });
  const written = Promise.withResolvers<void>();
  const ran = await journey(daemon, join(folder, 'webhook'), async () => {
    crm.onWrite = () => written.resolve();
    const body = bodyAt({ first: FIRST, step: 1, count: 1 }, 1).toString('utf8');
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${daemon.origin}/webhook`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`the webhook was answered with ${answer.status}`);
    await written.promise;
  });
  await daemon.stop();
  await crm.close();
  return ran;
}

async function ofDocument(folder: string): Promise<Ran> {
  const posted = Promise.withResolvers<void>();
  const hook = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
    posted.resolve();
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const address = hook.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const series = sampleSeries(1, 1, 3, { units: false });
  const next = (): string => `${JSON.stringify(series.next().value?.document)}\n`;
  const register = join(folder, 'register.jsonl');
  await writeFile(register, next());
  const store = join(folder, 'service.db');
  process.env['CVRSYNC_BENCH_COVERAGE'] = join(folder, 'document');
  const daemon = await startDaemon(folder, NO_CRM, {
    store,
    more: {
      service: {
        register: { source: 'file', path: register, pollSeconds: 1 },
        webhooks: { allowPrivateAddresses: true },
      },
    },
  });
  const answer = await fetch(`${daemon.admin}/admin/api/monitors`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(`${store}.token`, 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'bench', target: 'all', url }),
  });
  if (!answer.ok) throw new Error(`no monitor: ${answer.status} ${await answer.text()}`);
  const ran = await journey(daemon, join(folder, 'document'), async () => {
    await appendFile(register, next());
    await posted.promise;
  });
  await daemon.stop();
  hook.close();
  return ran;
}

await inFolder(async (folder) => {
  process.stderr.write('one webhook:\n');
  const webhook = sumOf(await ofWebhook(folder));
  process.stderr.write('one document:\n');
  const document = sumOf(await ofDocument(folder));
  const isMet = webhook.files <= AIM.webhookFiles && document.files <= AIM.documentFiles;
  report('files', { webhook, document }, AIM, isMet);
});
