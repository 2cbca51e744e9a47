/** Notes on accounts, as tasks or ContentNotes. Salesforce accepts both twice: the runtime looks before it repeats. */
import { type Note, type NoteOutcome, type Notes, ProviderError } from '../../provider.ts';
import type { Calls, HttpVerb } from '../client/client.ts';
import { errorsOf, isNotForUser, SalesforceRefusal, unexpectedAnswer } from '../client/errors.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { objectOf, objectsOf, textOf } from '../client/json.ts';
import type { SalesforceSettings } from '../client/salesforce-settings.ts';
import { CLOSED_STATUS_QUERY, contentQuery, tasksQuery } from '../read/soql.ts';
import { findWhereabouts } from '../read/whereabouts.ts';

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
    return decideRefused(calls, note, error);
  }
}

/** The account, or something else that the note refers to, does not exist. */
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

async function decideRefused(calls: Calls, note: Note, answer: SalesforceRefusal): Promise<NoteOutcome> {
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

const MAX_SUBJECT = 255;
const MAX_DESCRIPTION = 32_000;
const PAGE = 200;
/** The label that Salesforce ships with. */
const COMPLETED = 'Completed';

/** Searches the account's tasks, deleted ones included. SOQL cannot filter by description, so it compares here. */
async function findTask(calls: Calls, accountId: string, marker: string, since: number): Promise<string | undefined> {
  const from = new Date(Math.max(0, since)).toISOString();
  for (let after = ''; ; ) {
    const { rows, done } = await calls.query(tasksQuery(accountId, from, after, PAGE), 'all');
    const hit = rows.find((row) => textOf(row.Description)?.includes(tag(marker)));
    if (hit !== undefined) return textOf(hit.Id);
    const last = textOf(rows.at(-1)?.Id);
    if (last === undefined || (done && rows.length < PAGE)) return undefined;
    after = last;
  }
}

/** Makes two calls. */
async function addTask(calls: Calls, note: Note): Promise<string> {
  const ending = `\n\n${tag(note.marker)}`;
  return calls.create('/sobjects/Task', {
    WhatId: note.recordId,
    Subject: clip(note.subject, MAX_SUBJECT),
    Description: clip(note.text, MAX_DESCRIPTION - ending.length) + ending,
    Status: await closedStatus(calls),
    ActivityDate: danishDate(note.at),
  });
}

/** Orgs name their own statuses; an open task would count as work to do. */
async function closedStatus(calls: Calls): Promise<string> {
  try {
    const labels = (await calls.query(CLOSED_STATUS_QUERY)).rows.flatMap((row) => textOf(row.MasterLabel) ?? []);
    return labels.includes(COMPLETED) ? COMPLETED : (labels[0] ?? COMPLETED);
  } catch (error) {
    if (error instanceof SalesforceRefusal && isNotForUser(error)) return COMPLETED;
    throw error;
  }
}

/** The day in Denmark, `2026-08-01`. */
const danishDate = (ms: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Copenhagen' }).format(new Date(ms));

const MAX_TITLE = 255;

/** Makes one call: the marker is in the title, which can be read without the content. */
async function findContentNote(
  calls: Calls,
  accountId: string,
  marker: string,
  since: number,
): Promise<string | undefined> {
  const { rows } = await calls.query(contentQuery(accountId, new Date(Math.max(0, since)).toISOString()));
  const hit = rows.find((row) => textOf(objectOf(row.ContentDocument)?.Title)?.includes(tag(marker)));
  return textOf(hit?.ContentDocumentId);
}

/** Creates the note and puts it on the account in one call, all or none: a note without an account would be lost. */
async function addContentNote(calls: Calls, note: Note): Promise<string> {
  const ending = ` ${tag(note.marker)}`;
  const title = clip(note.subject, MAX_TITLE - ending.length) + ending;
  const { compositeResponse } = await calls.post('/composite', {
    allOrNone: true,
    compositeRequest: [
      {
        method: 'POST',
        url: `${calls.base}/sobjects/ContentNote`,
        referenceId: 'note',
        body: { Title: title, Content: contentOf(note.text) },
      },
      {
        method: 'POST',
        url: `${calls.base}/sobjects/ContentDocumentLink`,
        referenceId: 'link',
        body: { ContentDocumentId: '@{note.id}', LinkedEntityId: note.recordId, ShareType: 'V' },
      },
    ],
  });
  const answers = objectsOf(compositeResponse);
  const refused = answers.find(
    ({ httpStatusCode, body }) =>
      Number(httpStatusCode) >= 400 && errorsOf(body).some(({ code }) => code !== 'PROCESSING_HALTED'),
  );
  if (refused !== undefined) {
    const { httpStatusCode, body } = refused;
    // An inner call has no Retry-After.
    throw new SalesforceRefusal({ status: Number(httpStatusCode), headers: {}, body: JSON.stringify(body) }, 0);
  }
  const id = textOf(objectOf(answers[0]?.body)?.id);
  if (answers.length !== 2 || id === undefined) throw unexpectedAnswer('a new note');
  return id;
}

function contentOf(text: string): string {
  const html = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replace(/\r?\n/g, '<br>');
  return Buffer.from(html).toString('base64');
}

/** The marker in a note; brackets separate it from markers that begin the same. */
const tag = (marker: string): string => `[${marker}]`;

/** The text, cut with an ellipsis if it is too long; never inside a surrogate pair. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, Math.max(0, length - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
