/** A note as a completed task on the account, in its history of activities. */
import type { Note } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { isNotForUser, SalesforceRefusal } from '../client/errors.ts';
import { textOf } from '../client/json.ts';
import { CLOSED_STATUS_QUERY, tasksQuery } from '../read/soql.ts';
import { clip, tag } from './note-text.ts';

const MAX_SUBJECT = 255;
const MAX_DESCRIPTION = 32_000;
const PAGE = 200;
/** The label that Salesforce ships with. */
const COMPLETED = 'Completed';

/** Searches the account's tasks, deleted ones included. SOQL cannot filter by description, so it compares here. */
export async function findTask(
  calls: Calls,
  accountId: string,
  marker: string,
  since: number,
): Promise<string | undefined> {
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
export async function addTask(calls: Calls, note: Note): Promise<string> {
  const ending = `\n\n${tag(note.marker)}`;
  return calls.create('/sobjects/Task', {
    WhatId: note.recordId,
    Subject: clip(note.subject, MAX_SUBJECT),
    Description: clip(note.text, MAX_DESCRIPTION - ending.length) + ending,
    Status: await closedStatus(calls),
    ActivityDate: danishDate(note.at),
  });
}

/** Orgs name their own statuses; an open one would be a thing to do. */
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
