/** Sends queued mail. Each recipient of a monitor has a lane, so recipients do not delay each other. */
import type { Metrics } from '../../http/metrics.ts';
import { backoff } from '../../runtime/backoff.ts';
import { type Claim, held, type Settlement, settle } from '../../runtime/lanes/lanes.ts';
import { type Lease, LeaseLostError, leaseOf } from '../../runtime/lanes/lease.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { startWorker, type Worker } from '../../runtime/worker.ts';
import type { Store } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { domainOf } from './address.ts';
import { composeChanges, composeNotice } from './compose.ts';
import type { DigestTime } from './digest-hour.ts';
import { type Batch, endBatch, failAll, failBatch, freeBatch, type Taken, takeBatch } from './outbox.ts';
import { MAIL_QUEUE, readMailKey } from './queue.ts';
import { type Letter, type Mailer, openMailer, SENDER_REFUSED, type Sent } from './send.ts';
import { forgetRefusals, refuseMail } from './stopped-mails.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

export interface MailDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly log: { error(details: object, message: string): void; warn(details: object, message: string): void };
  readonly metrics?: Pick<Metrics, 'mails' | 'leaseLost'>;
  readonly secrets: Pick<Secrets, 'sign' | 'verify'>;
  /** The public address of this service, for unsubscribe links. */
  readonly publicUrl: string;
  readonly baseUrl: string;
  /** Without it, cvrsync sends no mail: queued changes fail, and it logs notices. */
  readonly smtp?: ({ readonly url: string; readonly from: string } & DigestTime) | undefined;
  /** If false, waiting mails omit beneficial owners. */
  readonly beneficialOwners?: boolean;
  readonly deadlineMs?: number;
  readonly leaseMs?: number;
  readonly pollMs?: number;
}

/** After a mail: send the next one; the lane is settled; another process has the lane. */
type Next = 'goes-on' | 'over' | 'lost';

interface Sending {
  readonly mailer: Mailer;
  readonly digest: DigestTime;
}

const LANES = 4;
const GIVE_UP_MS = 72 * 3_600_000;
/** The attempts of a mail that only waited for a server that was down. */
const GIVE_UP_TRIES = 10;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Starts the worker. A mail server that is down or refuses the sender delays all mail, up to a minute at a time. A
 * temporarily refused recipient waits alone, up to 15 minutes at a time and 72 hours in total. An address refused for
 * good is tried once a day for some days: see {@link refuseMail}.
 */
export function startMail(deps: MailDeps): Worker {
  const { store, wakeUp, now, log, smtp, leaseMs, pollMs } = deps;
  const sending = smtp && { mailer: openMailer({ ...smtp, ...deadline(deps) }), digest: smtp };
  let faults = 0;
  let blocked = 0;

  function note(sent: Sent): void {
    deps.metrics?.mails.inc({ result: sent.kind });
    if (sent.kind === 'later' && sent.error.startsWith(SENDER_REFUSED))
      log.warn({ error: sent.error, queue: MAIL_QUEUE }, 'the mail server refuses the sender: trying again');
    if (sent.kind !== 'later' || !sent.server) {
      faults = 0;
      return;
    }
    faults++;
    blocked = now() + backoff(faults, { baseMs: 2_000, capMs: LONGEST_PAUSE_MS });
    log.warn({ error: sent.error, queue: MAIL_QUEUE }, 'the mail server does not take mail: trying again');
  }

  async function sendNext({ mailer, digest }: Sending, claim: Claim, signal: AbortSignal): Promise<Next> {
    const batch = await takeOrSettle(deps, claim, digest);
    if (batch.kind === 'none') return 'over';
    if (batch.kind === 'lost' || !(await stands(leaseOf(store, [claim], now)))) return 'lost';
    const sent = isEmpty(batch) ? NOTHING_LEFT : await mailer.send(letterOf(deps, claim, batch), signal);
    // The worker reschedules the lane: the mail may have gone out.
    if (sent.kind === 'later' && signal.aborted) throw signal.reason;
    note(sent);
    return record(deps, claim, batch, sent);
  }

  async function work(claim: Claim, signal: AbortSignal): Promise<void> {
    if (sending === undefined) return discard(deps, claim);
    let next: Next = 'goes-on';
    while (next === 'goes-on') next = await sendNext(sending, claim, signal);
    if (next === 'lost') reportLostLease(deps, claim);
  }

  const worker = startWorker({
    store,
    wakeUp,
    now,
    log,
    queue: MAIL_QUEUE,
    batch: 1,
    concurrency: LANES,
    leaseMs,
    pollMs,
    blockedUntil: () => blocked,
    async run(claims, signal) {
      for (const claim of claims) await work(claim, signal);
    },
  });
  return {
    drained: worker.drained,
    async stop(graceMs, stray) {
      await worker.stop(graceMs, stray);
      sending?.mailer.close();
    },
  };
}

/** Takes the due mail of a lane; settles the lane if none is due. */
const takeOrSettle = ({ store, now, beneficialOwners }: MailDeps, claim: Claim, digest: DigestTime): Promise<Taken> =>
  store.write(async (tx) => {
    const taken = await takeBatch(tx, claim, { now: now(), digest, beneficialOwners });
    if (taken.kind === 'none') await settle(tx, claim, ended(taken.until));
    return taken;
  });

/** Whether this process still has the lane, so that two processes do not send the same mail. */
const stands = (lease: Lease): Promise<boolean> =>
  lease.confirm().then(
    () => true,
    (error: unknown) => {
      if (error instanceof LeaseLostError) return false;
      throw error;
    },
  );

function reportLostLease({ metrics, log }: MailDeps, { key }: Claim): void {
  metrics?.leaseLost.inc();
  log.warn(
    { queue: MAIL_QUEUE, lane: key },
    'this process froze for longer than its lease: another process sends the mail',
  );
}

const deadline = ({ deadlineMs }: MailDeps) => (deadlineMs === undefined ? {} : { deadlineMs });

const ended = (until: number | undefined): Settlement =>
  until === undefined ? { kind: 'done' } : { kind: 'again', at: until, fresh: true };

const isEmpty = (batch: Batch): boolean => batch.kind === 'changes' && batch.changes.length === 0;

const NOTHING_LEFT: Sent = {
  kind: 'rejected',
  error: 'the changes of this mail are no longer stored, or may no longer be sent',
};

function letterOf({ secrets, publicUrl, baseUrl, smtp }: MailDeps, claim: Claim, batch: Batch): Letter {
  const { monitor, recipient } = readMailKey(claim.key);
  const unsubscribe = unsubscribeUrl(publicUrl, secrets, monitor, recipient);
  const frame = { monitorName: batch.monitorName, unsubscribeUrl: unsubscribe };
  const mail = batch.kind === 'notice' ? composeNotice(batch, frame) : composeChanges({ ...batch, ...frame, baseUrl });
  const domain = domainOf(smtp?.from ?? '') ?? 'cvrsync.invalid';
  return {
    ...mail,
    to: recipient,
    messageId: `<${batch.message}@${domain}>`,
    headers: {
      'List-Unsubscribe': `<${unsubscribe}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      // Keeps auto-responders silent: RFC 3834.
      'Auto-Submitted': 'auto-generated',
    },
  };
}

async function record({ store, now, log }: MailDeps, claim: Claim, batch: Batch, sent: Sent): Promise<Next> {
  const { message, mayBeSent } = batch;
  const at = now();
  const { monitor, recipient } = readMailKey(claim.key);
  if (sent.kind === 'sent') {
    // Even if the lease was lost: the mail did go out.
    await store.write(async (tx) => {
      await endBatch(tx, claim, message, at);
      await forgetRefusals(tx, monitor, recipient);
    });
    return 'goes-on';
  }
  const { error } = sent;
  const isOld = at - claim.since > GIVE_UP_MS && claim.attempts + 1 >= GIVE_UP_TRIES;
  const outcome = await store.write(async (tx) => {
    if ((await held(tx, [claim])).size === 0) return { given: 0, next: 'lost' } as const;
    if (sent.kind === 'rejected')
      return { given: await failBatch(tx, claim, message, { now: at, error }), next: 'goes-on' } as const;
    if (sent.kind === 'nobody') {
      if (!mayBeSent) await freeBatch(tx, claim, message);
      await refuseMail(tx, monitor, recipient, { now: at, error });
      // The next round finds the refused address, and delays or fails its mail.
      return { given: 0, next: 'goes-on' } as const;
    }
    const given = isOld ? await failBatch(tx, claim, message, { now: at, error, queuedBefore: at - GIVE_UP_MS }) : 0;
    // Only this attempt is certain: under another id the changes could reach the recipient twice.
    if (sent.certain && !mayBeSent) await freeBatch(tx, claim, message);
    await settle(tx, claim, { kind: 'again', at: at + backoff(claim.attempts + 1, { baseMs: 30_000 }), error });
    return { given, next: 'over' } as const;
  });
  if (outcome.given > 0) log.warn({ error, lane: claim.key, rows: outcome.given }, 'mail was given up');
  return outcome.next;
}

async function discard({ store, now, log }: MailDeps, claim: Claim): Promise<void> {
  const notices = await store.write(async (tx) => {
    if ((await held(tx, [claim])).size === 0) return [];
    const given = await failAll(tx, claim, now(), 'no mail server is configured');
    await settle(tx, claim, { kind: 'done' });
    return given;
  });
  for (const { subject, text } of notices) log.warn({ ...readMailKey(claim.key), text }, subject);
}
