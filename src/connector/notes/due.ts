/** Notes that wait to be sent, and their results. */
import { sql } from 'kysely';
import { type Claim, held, mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { NoteTable } from '../../store/schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import { isHeldByOverride } from '../crm/hold.ts';
import { writeHistory } from '../history/history.ts';
import { findLink, type Link } from '../links/links.ts';
import { noteQueue, type RecordRef } from '../names/queues.ts';
import { leavesNotes, type NoteSettings } from './rows.ts';

export type DueNote = NoteTable;

/** Notes in the order of their events. */
export interface DueRecord {
  readonly link: Link | undefined;
  readonly notes: readonly DueNote[];
}

/** Records without due notes are left out. */
export async function dueNotes(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DueRecord>> {
  const notes = await db
    .selectFrom('note')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('state', '=', 'due')
    .orderBy('record_id')
    .orderBy('seq')
    .execute();
  const links = await db
    .selectFrom('link')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  const linkOf = new Map(links.map((link) => [link.record_id, link]));
  return new Map(
    [...Map.groupBy(notes, (note) => note.record_id)].map(([id, own]) => [id, { link: linkOf.get(id), notes: own }]),
  );
}

export async function wakeNotes(tx: Tx, { provider, recordId }: RecordRef, now: number): Promise<void> {
  const note = await tx
    .selectFrom('note')
    .select('seq')
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('state', '=', 'due')
    .limit(1)
    .executeTakeFirst();
  if (note !== undefined) await mark(tx, noteQueue(provider), [recordId], now);
}

/**
 * Stores that a note is about to be sent. `stop`: the lane or link changed, or a person held the record. `foreign`: the
 * record belongs to another company now, so the note is dropped.
 */
export async function startNote(tx: Tx, claim: Claim, note: DueNote, now: number): Promise<'go' | 'stop' | 'foreign'> {
  if ((await held(tx, [claim])).size === 0) return 'stop';
  const link = await findLink(tx, { provider: note.provider, recordId: note.record_id });
  if (link?.state !== 'active') return 'stop';
  if (link.entity !== note.entity) {
    await updateDueNote(tx, note, { state: 'dropped', done_at: now });
    return 'foreign';
  }
  if (await isHeldByOverride(tx, note.provider, note.record_id, now)) return 'stop';
  await updateDueNote(tx, note, { attempted_at: now });
  return 'go';
}

/**
 * Stores that the CRM holds a note. Idempotent. History shows the note once, and also a duplicate by a process that had
 * frozen.
 */
export async function finishNote(tx: Tx, note: DueNote, noteId: string, now: number): Promise<void> {
  const { provider, record_id: id, entity, subject } = note;
  const line = (detail: string) => writeHistory(tx, [], [{ provider, id, entity, rule: 'note', detail }], now);
  if (await updateDueNote(tx, note, { state: 'done', note_id: noteId, done_at: now }))
    return line(`${subject} (${noteId})`);
  const known = await tx
    .selectFrom('note')
    .select('note_id')
    .where('provider', '=', provider)
    .where('record_id', '=', id)
    .where('marker', '=', note.marker)
    .executeTakeFirst();
  if (known?.note_id != null && known.note_id !== noteId)
    await line(`${subject} (${noteId}): a duplicate of ${known.note_id}: delete one of them in the CRM`);
}

async function updateDueNote(tx: Tx, note: DueNote, to: Partial<NoteTable>): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('note')
    .set(to)
    .where('provider', '=', note.provider)
    .where('record_id', '=', note.record_id)
    .where('marker', '=', note.marker)
    .where('state', '=', 'due')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function dropNotes(tx: Tx, { provider, recordId }: RecordRef, reason: string, now: number): Promise<void> {
  const dropped = await tx
    .updateTable('note')
    .set({ state: 'dropped', done_at: now })
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .where('state', '=', 'due')
    .returning(['entity', 'subject'])
    .execute();
  const lines = dropped.map(({ entity, subject }) => {
    return { provider, id: recordId, entity, rule: 'note', detail: `${subject}: not left, ${reason}` } as const;
  });
  await writeHistory(tx, [], lines, now);
}

/**
 * Moves due notes of a merged record to the survivor if it is linked to the same company; otherwise drops them. True if
 * they wait because the survivor's link is in conflict. The CRM also moves sent notes, so cvrsync finds one with a lost
 * answer there.
 */
export async function moveNotes(tx: Tx, ref: RecordRef, to: string, now: number): Promise<boolean> {
  const { provider } = ref;
  await mark(tx, noteQueue(provider), [to], now);
  const survivor = await findLink(tx, { provider, recordId: to });
  if (survivor?.state === 'conflict') return true;
  if (survivor?.state === 'active') {
    const due = await tx
      .selectFrom('note')
      .selectAll()
      .where('provider', '=', provider)
      .where('record_id', '=', ref.recordId)
      .where('entity', '=', survivor.entity)
      .where('state', '=', 'due')
      .execute();
    for (const note of due) {
      await tx
        .insertInto('note')
        .values({ ...note, record_id: to })
        .onConflict((conflict) => conflict.columns(['provider', 'record_id', 'marker']).doNothing())
        .execute();
      await updateDueNote(tx, note, { state: 'dropped', done_at: now });
    }
  }
  await dropNotes(tx, ref, `the record was merged into ${to}`, now);
  return false;
}

/** One step; true if more may be left. */
export async function deleteNotes(tx: Tx, before: number, most: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`delete from note where (provider, record_id, marker) in
    (select provider, record_id, marker from note where done_at < ${before} limit ${most})`.execute(tx);
  return Number(numAffectedRows) === most;
}

const personsKey = (provider: string): string => `notes:${provider}`;

/** At start: drops due notes of connections that no longer leave notes, or no longer may name persons. */
export async function dropUnwantedNotes(tx: Tx, crms: readonly NoteSettings[], now: number): Promise<void> {
  for (const crm of crms) {
    const { name } = crm;
    const rule = crm.persons ? 'persons' : 'nameless';
    const known = await readValue(tx, personsKey(name));
    if (known !== rule) await writeValue(tx, personsKey(name), rule, now);
    if (!leavesNotes(crm)) await dropAll(tx, name, 'notes are switched off', now);
    else if (known === 'persons' && rule === 'nameless') await dropAll(tx, name, 'it may name persons', now);
  }
}

async function dropAll(tx: Tx, provider: string, reason: string, now: number): Promise<void> {
  await tx.deleteFrom('lane').where('queue', '=', noteQueue(provider)).execute();
  const dropped = await tx
    .updateTable('note')
    .set({ state: 'dropped', done_at: now })
    .where('provider', '=', provider)
    .where('state', '=', 'due')
    .returning(['record_id', 'entity', 'subject'])
    .execute();
  const lines = dropped.map(({ record_id: id, entity, subject }) => {
    return { provider, id, entity, rule: 'note', detail: `${subject}: not left, ${reason}` } as const;
  });
  await writeHistory(tx, [], lines, now);
}
