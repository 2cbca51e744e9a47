/**
 * The work of one installation divided among daemons: one takes webhooks, one writes records, one is the service, behind one
 * address. Each is killed once. Both CRMs and all who listen end with what the register says.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { type Daemon, daemonWith } from '../support/daemon.ts';
import { emptyStoreUrl } from '../support/stores.ts';
import { openChain } from './chain.ts';

import { NIGHT, SEED } from './settings.ts';

test.runIf(NIGHT)(`daemons that share the work by roles do all of it, CVRSYNC_CHAOS_SEED=${SEED}`, async () => {
  const random = randomFrom(SEED);
  const url = await emptyStoreUrl('postgres');
  const chain = await openChain(url, { seed: SEED, companies: 6, changes: 60, listeners: 20, faults: 1 }, random);
  const daemons = new Map<string, Daemon>();
  const publicUrl = await oneAddress((path) => daemons.get(path.startsWith('/webhook') ? 'ingest' : 'service')?.url);
  for (const role of ['ingest', 'sync', 'service']) {
    const daemon = await daemonWith({ ...chain.config, server: { port: 0, publicUrl }, roles: [role] });
    await daemon.start();
    daemons.set(role, daemon);
  }
  await chain.begin();
  const strikes = (async () => {
    for (const daemon of daemons.values()) {
      await sleep(random.int(50, 400));
      await daemon.kill('SIGKILL');
      await daemon.start();
    }
  })();
  await Promise.all([strikes, chain.tellRest(() => {})]);
  await chain.atRest();

  const answers = async (role: string, path: string) =>
    (await fetch(`${daemons.get(role)?.url}${path}`, { method: 'POST' })).status !== 404;
  const roles = ['ingest', 'sync', 'service'];
  expect(await Promise.all(roles.map((role) => answers(role, '/webhook')))).toEqual([true, false, false]);
  expect(
    await Promise.all(roles.map((role) => answers(role, '/apps/monitoring/jobs/thirdparty/hubspot/items'))),
  ).toEqual([false, false, true]);
  for (const daemon of daemons.values()) expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  await chain.verify();
});

/** Starts a proxy that hands each request to where `targetOf` says, and answers 502 if nobody is there. */
async function oneAddress(targetOf: (path: string) => string | undefined): Promise<string> {
  const proxy = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const kept = Object.entries(headers).filter(([name]) => !/^(?:host|connection|content-length)$/u.test(name));
    const answer = await fetch(`${targetOf(url)}${url}`, {
      method,
      headers: kept.map(([name, value]): [string, string] => [name, String(value)]),
      ...(body.length > 0 && { body }),
    }).catch(() => undefined);
    response.writeHead(answer?.status ?? 502, { 'content-type': answer?.headers.get('content-type') ?? 'text/plain' });
    response.end(await answer?.text());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}
