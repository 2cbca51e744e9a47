/** A fixture for tests of mail: a store with a monitor, changes to send, and a worker with a manual clock. */
import { onTestFinished } from 'vitest';
import type { Updates } from '../../../src/protocol/payload.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { openSecrets } from '../../../src/service/keys/secrets.ts';
import { USUAL_DIGEST } from '../../../src/service/mail/digest-hour.ts';
import { type MailDeps, startMail } from '../../../src/service/mail/mail-worker.ts';
import { type MailRow, queueMail } from '../../../src/service/mail/queue.ts';
import type { Store } from '../../../src/store/store.ts';

export const MONITOR = 'b7a1c2d3-0000-4000-8000-000000000001';
export const secrets = openSecrets(Buffer.alloc(32, 7));

export async function addMonitor(store: Store, id = MONITOR, name = 'Kunder i Jylland'): Promise<void> {
  const security = secrets.seal(JSON.stringify({ credentials: { method: 'None' }, secrets: [] }));
  const row = { id, name, owner: null, provider: null, target: 'all' as const, events: null, url: null, security };
  const rest = { schedule: null, emails: '[]', mail_frequency: 'immediate' as const, enabled: 1, enabled_at: 1 };
  await store.write((tx) =>
    tx
      .insertInto('monitor')
      .values({
        ...row,
        ...rest,
        disabled_reason: null,
        disabled_at: null,
        failing_since: null,
        failed_attempts: 0,
        notices: 0,
        created_at: 1,
        updated_at: 1,
      })
      .execute(),
  );
}

export interface Told {
  readonly entity?: string;
  readonly name?: string;
  readonly updates?: Updates;
  readonly events?: readonly string[];
  readonly recipients?: readonly string[];
  readonly frequency?: MailRow['frequency'];
  readonly monitor?: string;
  readonly formerShares?: Readonly<Record<string, string>>;
}

let count = 0;

/** Stores a change and queues it, as the publisher does. */
export async function tell(store: Store, now: number, told: Told = {}): Promise<void> {
  const { entity = 'CVR-1-99000001', name = 'Prøvelund Møbler ApS' } = told;
  const updates = told.updates ?? { name: { before: 'Prøvelund ApS', after: name } };
  await store.write(async (tx) => {
    const { seq } = await tx
      .insertInto('change')
      .values({
        id: `test ${count++}`,
        entity,
        name,
        kind: 'register',
        timestamp: new Date(now).toISOString(),
        updates: JSON.stringify(updates),
        created_at: now,
      })
      .returning('seq')
      .executeTakeFirstOrThrow();
    const { monitor = MONITOR, recipients = ['bo@example.dk'], frequency = 'immediate', formerShares } = told;
    const events = told.events ?? Object.keys(updates);
    await queueMail(tx, [{ monitor, recipients, frequency, change: seq, events, formerShares }], now);
  });
}

/** Starts the worker; it stops with the test. */
export function mailWorker(store: Store, url: string | undefined, now: () => number, more: Partial<MailDeps> = {}) {
  const logged: { level: string; details: object; message: string }[] = [];
  const at = (level: string) => (details: object, message: string) => void logged.push({ level, details, message });
  const wakeUp = createWakeUp();
  const worker = startMail({
    store,
    wakeUp,
    now,
    log: { error: at('error'), warn: at('warn') },
    secrets,
    publicUrl: 'https://sync.example.dk/',
    baseUrl: 'https://register.example.dk',
    smtp: url === undefined ? undefined : { url, from: 'CVR-overvågning <vagt@example.dk>', ...USUAL_DIGEST },
    pollMs: 20,
    ...more,
  });
  onTestFinished(() => worker.stop(500));
  return { worker, wakeUp, logged };
}

export const mailRows = async (store: Store) =>
  store.db
    .selectFrom('mail')
    .select(['recipient', 'kind', 'sent_at', 'failed_at', 'error', 'message'])
    .orderBy('seq')
    .execute();
