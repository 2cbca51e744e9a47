/** The quarantine: authentic bodies that could not be used, kept for a person. */
import { storable } from '../each.ts';
import type { Tx } from '../store.ts';
import { readErasures } from './erasures.ts';
import { unescaped } from './name-finder.ts';
import { ERASED } from './redact.ts';

/** The newest rows to keep for each source. */
const QUARANTINE_CAP = 200;
const MOST_BYTES = 16 * 1024;

export interface Unusable {
  readonly source: 'webhook' | 'register';
  /** The number of a register document, if known. */
  readonly subject?: string;
  readonly reason: string;
  readonly body: Uint8Array;
  readonly now: number;
}

/**
 * Quarantines a body, cut to 16 KiB. It replaces an equal one; the oldest are deleted. If it names an erased entity,
 * only the reason is kept: an unreadable body cannot be redacted.
 */
export async function setAside(tx: Tx, given: Unusable): Promise<void> {
  const text = storable(new TextDecoder().decode(given.body.subarray(0, MOST_BYTES)));
  const isErased = (await readErasures(tx)).isNamedIn(`${given.subject} ${given.reason} ${unescaped(text)}`);
  const found = isErased
    ? { ...given, subject: undefined, reason: `unusable, and names an entity that was ${ERASED}` }
    : given;
  const body = isErased ? ERASED : text;
  await tx.deleteFrom('quarantine').where('body', '=', body).execute();
  await tx
    .insertInto('quarantine')
    .values({
      received_at: found.now,
      source: found.source,
      subject: found.subject === undefined ? null : storable(found.subject.slice(0, 100)),
      reason: storable(found.reason.slice(0, 1_000)),
      body,
    })
    .execute();
  await trimQuarantine(tx);
}

/** Deletes all but the newest rows of each source, so that one source cannot displace the other's. */
export async function trimQuarantine(tx: Tx): Promise<void> {
  for (const source of ['webhook', 'register'] as const)
    await tx
      .deleteFrom('quarantine')
      .where('source', '=', source)
      .where('id', '<=', (query) =>
        query
          .selectFrom('quarantine')
          .select('id')
          .where('source', '=', source)
          .orderBy('id', 'desc')
          .limit(1)
          .offset(QUARANTINE_CAP),
      )
      .execute();
}
