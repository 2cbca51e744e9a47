/** The audit: actions of people and programs by page, command or API. */
import type { Selectable } from 'kysely';
import { storable } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { AuditTable } from '../../store/runtime-schema.ts';
import type { Db, Tx } from '../../store/store.ts';

/**
 * An operator, an API key by its name, the local user of a command, somebody at an address, or the sender of a webhook.
 */
export interface AuditActor {
  readonly kind: AuditTable['actor_kind'];
  readonly name: string;
}

export interface AuditEntry {
  readonly actor: AuditActor;
  readonly via: AuditTable['via'];
  /** The action as noun and verb: `operator.create`. */
  readonly action: string;
  /** A connection, a record (`hubspot:123`), an entity id, an operator. */
  readonly subject?: string | undefined;
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
  readonly result: string;
}

export interface AuditRow extends AuditEntry {
  readonly id: number;
  readonly at: number;
}

export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly via?: AuditTable['via'] | undefined;
  /** Only older entries, for paging: the id of the previous page's last entry. */
  readonly before?: number | undefined;
}

/** Call it in the transaction that performs the action. */
export async function recordAudit(tx: Tx, entry: AuditEntry, now: number): Promise<void> {
  await insertEntry(tx, entry, now);
}

/**
 * Records an action of many transactions in one entry. Each transaction calls it with the entry so far and the id that
 * the previous call returned.
 */
export async function recordStep(
  tx: Tx,
  entry: AuditEntry,
  { now, before }: { readonly now: number; readonly before: number | undefined },
): Promise<number> {
  if (before === undefined) return insertEntry(tx, entry, now);
  await tx.updateTable('audit').set({ result: entry.result }).where('id', '=', before).execute();
  return before;
}

/** Records in a step's transaction how many items are done so far; see {@link recordStep}. */
export type StepRecorder = (tx: Tx, done: number, before: number | undefined) => Promise<number>;

async function insertEntry(tx: Tx, entry: AuditEntry, now: number): Promise<number> {
  const { actor, via, action, subject = null, detail, result } = entry;
  const { redact } = await readErasures(tx);
  const { id } = await tx
    .insertInto('audit')
    .values({
      at: now,
      actor_kind: actor.kind,
      actor: actor.name,
      via,
      action,
      // A program may put anything into a path.
      subject: subject === null ? null : redact(storable(subject)),
      detail: detail === undefined ? null : JSON.stringify(redact(detail)),
      result: redact(result),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

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
  // {@link recordAudit} wrote it.
  detail: detail === null ? undefined : JSON.parse(detail),
});

/** Matches `is`, and subjects that start with `is` and `before`. */
export interface SubjectRange {
  readonly is: string;
  readonly before: string;
}

const LAST = '\u{10FFFF}';

/** The newest entries about any of these subjects, up to `until`; uses the index of subjects. */
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
        // In the order of the index: by id, an engine might read the whole table.
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
