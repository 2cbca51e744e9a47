/** Webhooks with scripted answers, and the delivery to them. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { createGuard } from '../../src/http/outbound/guard.ts';
import { createWakeUp } from '../../src/runtime/wake-up.ts';
import type { Worker } from '../../src/runtime/worker.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { type DeliveryDeps, startDelivery } from '../../src/service/delivery/deliver.ts';
import { publish } from '../../src/service/publish/publish.ts';
import type { Store } from '../../src/store/store.ts';
import { handClock } from '../support/clock.ts';
import { secrets } from './monitored.ts';

/** A post that came in. */
export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The company it is about. */
  readonly entity: string;
}

export interface Hook {
  readonly url: string;
  /** Every post, as its body was whole. */
  readonly seen: readonly Seen[];
}

export type Behave = (response: ServerResponse, seen: Seen, count: number) => void;

const taken: Behave = (response) => response.writeHead(204).end();

/** Answers with these statuses, one a post; the last stays. */
export const statuses =
  (...list: readonly number[]): Behave =>
  (response, _seen, count) =>
    void response.writeHead(list[Math.min(count, list.length) - 1] ?? 204).end('said no');

/** A webhook on loopback; closed with the test. */
export async function openHook(behave: Behave = taken): Promise<Hook> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    await once(request, 'end');
    const { entityId }: { entityId: string } = JSON.parse(body);
    const one = { path: request.url ?? '', headers: request.headers, body, entity: entityId };
    seen.push(one);
    behave(response, one, seen.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/hook`, seen };
}

export interface Delivering {
  readonly worker: Worker;
  readonly now: () => number;
  /** What was logged as an error. */
  readonly errors: readonly string[];
  /** Sets the clock on and waits until nothing is due any more. */
  later(ms: number): Promise<void>;
  publish(...changes: readonly Change[]): Promise<void>;
}

/** Delivers what is in the store, or published, without jitter; stopped with the test. */
export function delivering(store: Store, options: Partial<DeliveryDeps> & { deadlineMs?: number } = {}): Delivering {
  const { deadlineMs = 30_000, ...more } = options;
  const clock = handClock();
  const wakeUp = createWakeUp();
  const errors: string[] = [];
  const guard = createGuard({ allow: ['127.0.0.1'] });
  const client = openClient({ guard, connectMs: deadlineMs, deadlineMs, excerptBytes: 16 * 1024 });
  const worker = startDelivery({
    store,
    wakeUp,
    secrets,
    now: clock.now,
    http: client.http,
    metrics: createMetrics(),
    log: { error: (detail, message) => errors.push(`${message} ${inspect(detail)}`), warn() {} },
    random: () => 0,
    pollMs: 50,
    ...more,
  });
  onTestFinished(async () => {
    await worker.stop(2_000);
    await client.close();
  });
  return {
    worker,
    now: clock.now,
    errors,
    async later(ms) {
      clock.forward(ms);
      await worker.drained();
    },
    async publish(...changes) {
      await store.write((tx) => publish(tx, changes, { now: clock.now() }));
      wakeUp.ring('deliver');
    },
  };
}
