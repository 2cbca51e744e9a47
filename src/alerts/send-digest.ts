/** Sends the weekly digest once, whichever replica sends it and however often it restarts. Each channel has a lane. */
import { backoff } from '../runtime/backoff.ts';
import { type Claim, mark, settle } from '../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../store/kv.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Channel } from './channel.ts';
import { type DigestSettings, digestMessage, lastWeekly, nextWeekly, readDigest } from './digest.ts';

const LONGEST_BACKOFF_MS = 3_600_000;

const PREFIX = 'digest ';
export const digestLane = (channel: Channel['name']): string => `${PREFIX}${channel}`;

/** The key of the time at which the last sent digest ends. */
const sentKey = (lane: string): string => `alerts:${lane}`;

/** Marks the lanes of the channels for the next digest. The first one covers the time since the last due hour. */
export async function markDigests(
  tx: Tx,
  queue: string,
  channels: readonly Pick<Channel, 'name'>[],
  { digest, now }: { readonly digest: DigestSettings; readonly now: number },
): Promise<void> {
  const lanes = channels.map(({ name }) => digestLane(name));
  await mark(tx, queue, lanes, nextWeekly(now, digest));
  for (const lane of lanes)
    await tx
      .insertInto('kv')
      .values({ key: sentKey(lane), value: String(lastWeekly(now, digest)), updated_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

/** Ends the lane of a channel without a digest: a new lane starts fresh. */
export async function endDigest(store: Store, claim: Claim): Promise<void> {
  await store.write(async (tx) => {
    if (!(await settle(tx, claim, { kind: 'done' }))) return;
    await tx.deleteFrom('kv').where('key', '=', sentKey(claim.key)).execute();
  });
}

interface DigestDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  readonly place: string;
  readonly dashboard?: string | undefined;
  readonly channel: Channel;
  readonly digest: DigestSettings;
}

/** Sends the digest if it is due and was not sent. */
export async function sendDigest(
  { store, now, log, place, dashboard, channel, digest }: DigestDeps,
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const until = lastWeekly(now(), digest);
  const since = Number((await readValue(store.db, sentKey(claim.key))) ?? until);
  const isDue = since < until;
  const message = isDue
    ? digestMessage(await readDigest(store, since, until, now()), { ...digest, place, dashboard })
    : undefined;
  const error = message && (await channel.send(message, `digest-${until}`, signal));
  if (error !== undefined) log.warn({ error, channel: channel.name }, 'the digest could not be sent: trying again');
  await store.write(async (tx) => {
    const at = now();
    // Stored even if the lease was lost, so that nobody gets it twice.
    if (error === undefined && isDue) await writeValue(tx, sentKey(claim.key), String(until), at);
    const again =
      error === undefined ? nextWeekly(at, digest) : at + backoff(claim.attempts + 1, { capMs: LONGEST_BACKOFF_MS });
    await settle(
      tx,
      claim,
      error === undefined ? { kind: 'again', at: again, fresh: true } : { kind: 'again', at: again, error },
    );
  });
}
