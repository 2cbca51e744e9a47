/** What delivers: the service's own delivery over a store, and the bare loop that it is measured against. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { createMetrics } from '../../src/http/metrics.ts';
import { createGuard } from '../../src/http/outbound/guard.ts';
import { writePayload } from '../../src/protocol/payload.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Worker } from '../../src/runtime/worker.ts';
import { startDelivery } from '../../src/service/delivery/deliver.ts';
import { openWebhookClient } from '../../src/service/delivery/post.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Companies, changeAt } from './bodies.ts';
import { answerWith } from './child.ts';

const secrets = openSecrets(randomBytes(32));
const wakeUp = createWakeUp();
const noted: string[] = [];
const PAGE = 500;
let store: Store | undefined;
let worker: Worker | undefined;
let from = 0;

const opened = (): Store => {
  if (store === undefined) throw new Error('nothing is open');
  return store;
};

/** Changes of other companies than ever before in this process. */
const fresh = (count: number) => {
  const companies: Companies = { first: 20_000_000 + from, step: 1, count };
  from += count;
  return Array.from({ length: count }, (_, at) => changeAt(companies, at));
};

export const verbs = {
  /** Opens a store with a monitor of everything for each path of the origin. */
  async open({ folder, origin, monitors }: { folder: string; origin: string; monitors: number }): Promise<void> {
    store = await openStore(join(folder, `deliver-${monitors}.db`));
    await store.write(async (tx) => {
      for (let at = 0; at < monitors; at++) {
        const url = `${origin}/${at}`;
        await createMonitor(tx, { name: url, url, target: 'all' }, { secrets, now: Date.now() });
      }
    });
  },
  /** Publishes changes for later. */
  async prepare(changes: number): Promise<void> {
    const list = fresh(changes);
    for (let at = 0; at < list.length; at += PAGE)
      await opened().write((tx) => publish(tx, list.slice(at, at + PAGE), { now: Date.now() }));
  },
  /** Starts delivering. */
  start(concurrency: number): void {
    const { http } = openWebhookClient(createGuard({ allow: ['127.0.0.1'] }));
    const note = (detail: object, message: string) => void noted.push(`${message} ${JSON.stringify(detail)}`);
    const log = { error: note, warn: note };
    const deps = { store: opened(), wakeUp, secrets, now: Date.now, http, log, metrics: createMetrics(), concurrency };
    worker = startDelivery(deps);
  },
  /** Delivers all that is prepared; ms. */
  async drain(concurrency: number): Promise<number> {
    const began = performance.now();
    verbs.start(concurrency);
    await worker?.drained();
    const took = performance.now() - began;
    await verbs.stop();
    return took;
  },
  /** Publishes changes one by one at a steady rate, and says when each company's was committed, ms since 1970. */
  async drip({ changes, perSecond }: { changes: number; perSecond: number }): Promise<ReadonlyMap<string, number>> {
    const sent = new Map<string, number>();
    const began = performance.now();
    for (const [at, change] of fresh(changes).entries()) {
      const wait = began + (at * 1_000) / perSecond - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      await opened().write((tx) => publish(tx, [change], { now: Date.now() }));
      sent.set(change.entity, performance.timeOrigin + performance.now());
      wakeUp.ring('deliver');
    }
    return sent;
  },
  async stop(): Promise<void> {
    await worker?.stop(0);
    if (noted.length > 0) throw new Error(noted.join('\n'));
  },
  /** Posts each change to each path, as many at a time; ms. */
  async bare(input: { origin: string; paths: number; changes: number; flight: number }): Promise<number> {
    const { origin, paths, changes, flight } = input;
    const bodies = fresh(changes).map((change) =>
      Buffer.from(JSON.stringify(writePayload({ ...change, entityId: change.entity }))),
    );
    const dispatcher = new Agent();
    const headers = { 'content-type': 'application/json' };
    let next = 0;
    const keepPosting = async (): Promise<void> => {
      for (let at = next++; at < changes * paths; at = next++) {
        const body = bodies[Math.floor(at / paths)] ?? null;
        const answer = await request(`${origin}/${at % paths}`, { method: 'POST', headers, body, dispatcher });
        await answer.body.dump();
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: flight }, keepPosting));
    const took = performance.now() - began;
    await dispatcher.close();
    return took;
  },
};

answerWith(verbs);
