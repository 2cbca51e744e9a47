/** Notes on accounts, as tasks or ContentNotes. Salesforce accepts both twice: the runtime looks before it repeats. */
import { type Note, type NoteOutcome, type Notes, ProviderError } from '../../provider.ts';
import type { Calls, HttpVerb } from '../client/client.ts';
import { isNotForUser, SalesforceRefusal } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import type { SalesforceSettings } from '../client/settings.ts';
import { findWhereabouts } from '../read/whereabouts.ts';
import { addContentNote, findContentNote } from './content-note.ts';
import { addTask, findTask } from './task.ts';

/** How far the clocks of this machine and of Salesforce may differ. */
const SKEW_MS = 3_600_000;

export function openNotes(verb: HttpVerb, { noteAs }: SalesforceSettings): Notes {
  const kind = noteAs === 'Task' ? { find: findTask, add: addTask } : { find: findContentNote, add: addContentNote };
  return {
    find: async (recordId, marker, since, signal) =>
      isAccountId(recordId)
        ? verb(signal, (calls) => kind.find(calls, toLongId(recordId), marker, since - SKEW_MS))
        : undefined,
    add: async (note, signal) =>
      isAccountId(note.recordId)
        ? verb(signal, (calls) => added(calls, { ...note, recordId: toLongId(note.recordId) }, kind.add))
        : { kind: 'gone' },
  };
}

async function added(
  calls: Calls,
  note: Note,
  add: (calls: Calls, note: Note) => Promise<string>,
): Promise<NoteOutcome> {
  try {
    return { kind: 'written', id: await add(calls, note) };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    return judge(calls, note, error);
  }
}

/** The account does not exist, or something else that the note refers to. */
const LOST: ReadonlySet<string> = new Set([
  'INVALID_CROSS_REFERENCE_KEY',
  'ENTITY_IS_DELETED',
  'NOT_FOUND',
  'INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY',
]);

/**
 * The org or the user has no notes. One account that the user may not write to has another code:
 * INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY.
 */
const NO_NOTES: ReadonlySet<string> = new Set([
  'INVALID_TYPE',
  'INSUFFICIENT_ACCESS',
  'INSUFFICIENT_ACCESS_OR_READONLY',
  'INVALID_FIELD',
  'INVALID_FIELD_FOR_INSERT_UPDATE',
]);

async function judge(calls: Calls, note: Note, answer: SalesforceRefusal): Promise<NoteOutcome> {
  // A note locks its account, and a locked account refuses notes: Salesforce created nothing.
  if (answer.errors.some(({ code }) => code === 'UNABLE_TO_LOCK_ROW')) return { kind: 'retry', reason: answer.message };
  if (!isNotForUser(answer)) throw answer;
  const isLost = answer.errors.some(({ code }) => LOST.has(code));
  // Not this note alone: the org or the user has no such records.
  if (answer.errors.some(({ code }) => NO_NOTES.has(code)) || (answer.status === 403 && !isLost))
    throw new ProviderError('refused', answer.message + advice(answer), { cause: answer });
  if (isLost) {
    const found = await findWhereabouts(calls, [note.recordId]);
    if (found.get(note.recordId)?.kind !== 'there') return { kind: 'gone' };
  }
  return { kind: 'rejected', reason: answer.message + advice(answer) };
}

function advice({ status, errors }: SalesforceRefusal): string {
  const codes = new Set(errors.map(({ code }) => code));
  if (codes.has('INVALID_TYPE'))
    return '; let the user make such records, enable Notes in Setup for noteAs: ContentNote, or set noteAs: Task';
  if (codes.has('INVALID_FIELD') || codes.has('INVALID_FIELD_FOR_INSERT_UPDATE'))
    return '; let the user of this connection edit Subject, Description, Status and Due Date of tasks';
  return status === 403 || [...codes].some((code) => code.startsWith('INSUFFICIENT_ACCESS'))
    ? '; the user of this connection needs access to the account and the permission Edit Tasks'
    : '';
}
