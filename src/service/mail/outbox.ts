import { createHash } from 'node:crypto';
import type { ExpressionBuilder } from 'kysely';
import { EVENT_NAMES, type EventData, type EventName } from '../../protocol/events.ts';
import { type Claim, held } from '../../runtime/lanes/lanes.ts';
import { storable } from '../../store/each.ts';
import { redactTexts } from '../../store/erasure/erasures.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Tx } from '../../store/store.ts';
import { withoutForbiddenOwners } from '../changes/beneficial-owners.ts';
import type { MailChange } from './compose.ts';
import { type DigestTime, lastDigest, nextDigest } from './digest-hour.ts';
import { readMailKey } from './queue.ts';
import { type MailStop, readMailStop } from './stopped-mails.ts';

export type Batch = {
  readonly message: string;
  /** The mail may have been sent before: an attempt ended without an answer, or the process did. */
  readonly mayBeSent: boolean;
  readonly monitorName: string;
} & (
  | { readonly kind: 'changes'; readonly changes: readonly MailChange[]; readonly more: number }
  | { readonly kind: 'notice'; readonly subject: string; readonly text: string }
);

export type Taken =
  | Batch
  /** `until`: when the next mail is due. */
  | { readonly kind: 'none'; readonly until: number | undefined }
  | { readonly kind: 'lost' };

export interface TakeOptions {
  readonly now: number;
  readonly digest: DigestTime;
  /** If false, mails omit beneficial owners. */
  readonly beneficialOwners?: boolean | undefined;
}

const REMOVED: MailStop = { reason: 'the monitor was removed' };

const MOST_CHANGES = 300;

/**
 * Takes the mail that is due for the claim's recipient and assigns a Message-ID, which stays: if the process ends
 * between sending and marking, the same mail goes out again. Takes nothing if the recipient unsubscribed or the
 * monitor was removed.
 */
export async function takeBatch(tx: Tx, claim: Claim, { now, digest, beneficialOwners }: TakeOptions): Promise<Taken> {
  if ((await held(tx, [claim])).size === 0) return { kind: 'lost' };
  const { monitor, recipient } = readMailKey(claim.key);
  const name = await monitorName(tx, monitor);
  const stop = name === undefined ? REMOVED : await readMailStop(tx, monitor, recipient, now);
  if (name === undefined || stop !== undefined) {
    if (stop?.retryAt !== undefined) return { kind: 'none', until: stop.retryAt };
    await failAll(tx, claim, now, stop?.reason ?? '');
    return { kind: 'none', until: undefined };
  }
  const isDue = dueBefore(lastDigest(now, digest));
  const [first] = await open(tx, claim)
    .select(['seq', 'kind', 'message', 'body'])
    .where((eb) => eb.or([eb('message', 'is not', null), isDue(eb)]))
    // First a mail that may have been sent.
    .orderBy((eb) => eb.case().when('message', 'is', null).then(1).else(0).end())
    .orderBy('seq')
    .limit(1)
    .execute();
  if (first === undefined) return { kind: 'none', until: await nextDaily(tx, claim, digest) };
  const message = first.message ?? messageId(claim.key, first.seq, now);
  if (first.message === null) {
    await openOf(tx, claim)
      .set({ message })
      .where((eb) =>
        first.kind === 'notice' ? eb('seq', '=', first.seq) : eb.and([eb('kind', '<>', 'notice'), isDue(eb)]),
      )
      .execute();
  }
  const batch = { message, mayBeSent: first.message !== null, monitorName: name };
  if (first.kind === 'notice') return { kind: 'notice', ...batch, ...readNotice(first.body) };
  return { kind: 'changes', ...batch, ...(await readChanges(tx, claim, message, beneficialOwners)) };
}

export async function endBatch(tx: Tx, claim: Claim, message: string, now: number): Promise<void> {
  await openOf(tx, claim, message).set({ sent_at: now }).execute();
}

/** Marks the rows of a mail, or those queued before `queuedBefore`, as failed for good. Returns their number. */
export async function failBatch(
  tx: Tx,
  claim: Claim,
  message: string,
  failure: { readonly now: number; readonly error: string; readonly queuedBefore?: number },
): Promise<number> {
  const { now, error, queuedBefore } = failure;
  const { numUpdatedRows } = await openOf(tx, claim, message)
    .set({ failed_at: now, error: storable(error) })
    .$if(queuedBefore !== undefined, (query) => query.where('created_at', '<', queuedBefore ?? 0))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Releases the rows of a mail that the server certainly did not accept: they join the next mail. */
export async function freeBatch(tx: Tx, claim: Claim, message: string): Promise<void> {
  await openOf(tx, claim, message).set({ message: null }).execute();
}

/** Fails all mail that waits for the claim's recipient, and returns its notices. */
export async function failAll(tx: Tx, claim: Claim, now: number, error: string): Promise<readonly Notice[]> {
  const [redacted = null] = await redactTexts(tx, [error]);
  const rows = await openOf(tx, claim).set({ failed_at: now, error: redacted }).returning(['kind', 'body']).execute();
  return rows.filter(({ kind }) => kind === 'notice').map(({ body }) => readNotice(body));
}

interface Notice {
  readonly subject: string;
  readonly text: string;
}

function open(tx: Tx, { key }: Claim) {
  const { monitor, recipient } = readMailKey(key);
  return tx
    .selectFrom('mail')
    .where('monitor', '=', monitor)
    .where('recipient', '=', recipient)
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null);
}

function openOf(tx: Tx, { key }: Claim, message?: string) {
  const { monitor, recipient } = readMailKey(key);
  return tx
    .updateTable('mail')
    .where('monitor', '=', monitor)
    .where('recipient', '=', recipient)
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .$if(message !== undefined, (query) => query.where('message', '=', message ?? ''));
}

/** Daily mail is due after the next digest hour. */
const dueBefore = (strike: number) => (eb: ExpressionBuilder<StoreSchema, 'mail'>) =>
  eb.or([eb('kind', '<>', 'daily'), eb('created_at', '<', strike)]);

async function nextDaily(tx: Tx, claim: Claim, digest: DigestTime): Promise<number | undefined> {
  const row = await open(tx, claim).select('created_at').orderBy('seq').limit(1).executeTakeFirst();
  return row === undefined ? undefined : nextDigest(row.created_at, digest);
}

async function monitorName(tx: Tx, monitor: string): Promise<string | undefined> {
  const row = await tx.selectFrom('monitor').select('name').where('id', '=', monitor).executeTakeFirst();
  return row?.name;
}

async function readChanges(
  tx: Tx,
  claim: Claim,
  message: string,
  beneficialOwners: boolean | undefined,
): Promise<{ readonly changes: readonly MailChange[]; readonly more: number }> {
  const batch = open(tx, claim).where('message', '=', message);
  const rows = await batch
    .innerJoin('change', 'change.seq', 'mail.change')
    .select(['change.entity', 'change.name', 'change.updates', 'change.timestamp', 'mail.body'])
    .orderBy('mail.seq')
    .limit(MOST_CHANGES)
    .execute();
  const { count } = await batch
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return {
    changes: rows.flatMap(({ entity, name, updates, timestamp, body }) => {
      const { events, formerShares } = readNotified(body);
      const chosen = withoutForbiddenOwners(selected(updates, events), beneficialOwners);
      return Object.keys(chosen).length === 0 ? [] : [{ entity, name, updates: chosen, timestamp, formerShares }];
    }),
    more: Number(count) - rows.length,
  };
}

/** Only `publish` writes the updates, in this form. */
function selected(json: string, events: readonly string[]): MailChange['updates'] {
  const updates = JSON.parse(json) as { -readonly [E in EventName]?: EventData<E> };
  for (const event of EVENT_NAMES) if (!events.includes(event)) delete updates[event];
  return updates;
}

// Only queue.ts writes these.
const readNotified = (body: string) =>
  JSON.parse(body) as { readonly events: readonly string[]; readonly formerShares?: Readonly<Record<string, string>> };
const readNotice = (body: string): Notice => JSON.parse(body) as Notice;

const messageId = (key: string, seq: number, now: number): string =>
  createHash('sha256').update(`${key}\n${seq}\n${now}`).digest('base64url');
