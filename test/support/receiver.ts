/** A webhook with its intake on a port of its own. */
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { createIntake, type Intake } from '../../src/connector/intake/intake.ts';
import { addWebhookRoute } from '../../src/connector/intake/webhook.ts';
import { createTestViewer } from '../../src/connector/test-event.ts';
import { createMetrics, type Metrics } from '../../src/http/metrics.ts';
import { createServer } from '../../src/http/server/server.ts';
import type { Auth } from '../../src/protocol/auth.ts';
import { createWakeUp, type WakeUp } from '../../src/runtime/wake-up.ts';
import type { Store } from '../../src/store/store.ts';

export interface Receiver {
  readonly url: string;
  readonly intake: Intake;
  readonly metrics: Metrics;
  readonly wakeUp: WakeUp;
  /** What was logged: level and message. */
  readonly logged: readonly string[];
  /** Makes receipts of all that was accepted, as apply does before it looks for work. */
  read(): Promise<void>;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  readonly auth?: readonly Auth[];
  readonly now?: () => number;
  readonly backlogCap?: number;
  readonly minFreeBytes?: number;
}

/** Opens it on loopback, with the limits the daemon has; free disk does not count unless asked for. */
export async function openReceiver(store: Store, options: ReceiverOptions = {}): Promise<Receiver> {
  const { auth = [{ method: 'None' }], now = Date.now, backlogCap = 100_000, minFreeBytes = 0 } = options;
  const metrics = createMetrics();
  const wakeUp = createWakeUp();
  const logged: string[] = [];
  const log = {
    warn: (details: object, message: string) => void logged.push(`warn ${message} ${JSON.stringify(details)}`),
    error: (_details: object, message: string) => void logged.push(`error ${message}`),
    info: (_details: object, message: string) => void logged.push(`info ${message}`),
  };
  const intake = createIntake({ store, wakeUp, now, metrics, backlogCap, minFreeBytes, emailEvent: 'email', log });
  const server = createServer({ log });
  const showTest = createTestViewer({ store, crms: [], now, log, emailEvent: 'email' });
  addWebhookRoute(server, { path: '/webhook', auth, intake, showTest, store, metrics, now, log });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `${address}/webhook`,
    intake,
    metrics,
    wakeUp,
    logged,
    read: () => readAll(store, intake),
    async close() {
      await intake.stop();
      await server.close();
    },
  };
}

/** Makes receipts of all that an intake accepted. */
export async function readAll(store: Store, intake: Intake): Promise<void> {
  while (await hasArrivals(store.db)) (await store.write((tx) => intake.read(tx, Date.now())))();
}

/** Posts a body as the monitoring service does. */
export function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } });
}

/** A webhook about one phone number; each `number` makes another event. */
export const phoneEvent = (number: number, entityId = 'CVR-1-99000015') => ({
  entityId,
  timestamp: '2026-08-14T09:30:00.000Z',
  updates: { phoneNumber: { updated: true, before: '11111111', after: String(20_000_000 + number) } },
});
