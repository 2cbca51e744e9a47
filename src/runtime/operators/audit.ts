/** The audit: what people and programs did by hand, from a page, a command or the API. */
import type { Selectable } from 'kysely';
import { storable } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { AuditTable } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

/** Who did something: an operator, an API key by its name, the user of the machine that ran a command, somebody at an address, or the sender of a webhook. */
export interface AuditActor {
  readonly kind: AuditTable['actor_kind'];
  readonly name: string;
}

/** Something that was done by hand. */
export interface AuditEntry {
  readonly actor: AuditActor;
  readonly via: AuditTable['via'];
  /** What was done, as noun and verb: `operator.create`. */
  readonly action: string;
  /** A connection, a record (`hubspot:123`), an entity id, an operator. */
  readonly subject?: string | undefined;
  /** What else tells it from others; without secrets. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  /** What came of it, in words. */
  readonly result: string;
}

/** An entry as it is read. */
export interface AuditRow extends AuditEntry {
  readonly id: number;
  readonly at: number;
}

/** What narrows the audit. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly via?: AuditTable['via'] | undefined;
  /** Only older entries: the next page comes before the last of this one. */
  readonly before?: number | undefined;
}

/** Records what was done, in the transaction that does it. */
export async function recordAudit(tx: Tx, entry: AuditEntry, now: number): Promise<void> {
  const { actor, via, action, subject = null, detail, result } = entry;
  const { redact } = await readErasures(tx);
  await tx
    .insertInto('audit')
    .values({
      at: now,
      actor_kind: actor.kind,
      actor: actor.name,
      via,
      action,
      // Programs name what they like in a path.
      subject: subject === null ? null : redact(storable(subject)),
      detail: detail === undefined ? null : JSON.stringify(redact(detail)),
      result: redact(result),
    })
    .execute();
}

/** The newest entries first. */
export async function readAudit(db: Db, filter: AuditFilter, limit: number): Promise<readonly AuditRow[]> {
  const { actor, action, subject, via, before } = filter;
  const rows = await db
    .selectFrom('audit')
    .selectAll()
    .$if(actor !== undefined, (query) => query.where('actor', '=', actor ?? ''))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
    .$if(via !== undefined, (query) => query.where('via', '=', via ?? 'page'))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(asRead);
}

const asRead = ({ actor_kind: kind, actor: name, detail, subject, ...row }: Selectable<AuditTable>): AuditRow => ({
  ...row,
  actor: { kind, name },
  subject: subject ?? undefined,
  // We wrote it.
  detail: detail === null ? undefined : JSON.parse(detail),
});

/** A subject, and those that begin with it and this sign. */
export interface SubjectRange {
  readonly is: string;
  readonly before: string;
}

/** What is behind every text that begins alike. */
const LAST = '\u{10FFFF}';

/** The newest entries about any of these, of those made by `until`; each is found along the index of subjects. */
export async function readAuditOf(
  db: Db,
  subjects: readonly SubjectRange[],
  { limit, until = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly until?: number | undefined },
): Promise<readonly AuditRow[]> {
  const found = await Promise.all(
    subjects.map(({ is, before }) =>
      db
        .selectFrom('audit')
        .selectAll()
        .where('subject', '>=', is)
        .where('subject', '<', is + before + LAST)
        // By the index: by their ids, an engine might look through all that there are.
        .orderBy('subject', 'desc')
        .limit(MOST_OF_ONE)
        .execute(),
    ),
  );
  const isMeant = ({ subject, at }: AuditRow): boolean =>
    at <= until && subjects.some(({ is, before }) => subject === is || subject?.startsWith(is + before) === true);
  return found
    .flat()
    .map(asRead)
    .filter(isMeant)
    .toSorted((a, b) => b.id - a.id)
    .slice(0, limit);
}

const MOST_OF_ONE = 1_000;

/** Deletes entries that were made before `before`. */
export async function deleteAudit(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('audit').where('at', '<', before).execute();
}
