/** Tasks and notes of an emulated org. */

import { objectOf, textOf } from '../../../salesforce/client/json.ts';
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import type { Org } from './org.ts';
import { refusal } from './refusal.ts';
import type { StoredRow } from './tables.ts';

const MAX_SUBJECT = 255;
const MAX_DESCRIPTION = 32_000;

/** Creates a task; it locks its account. */
export function createTask(org: Org, json: unknown): EmulatorAnswer {
  if (org.options.mayEditTasks === false)
    return refusal(403, 'INSUFFICIENT_ACCESS_OR_READONLY', 'insufficient access rights on object id');
  const { WhatId, Subject, Status, ActivityDate, Description, ...rest } = objectOf(json) ?? {};
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return refusal(400, 'INVALID_FIELD', `No such column '${unknown}' on sobject of type Task`);
  const account = org.accounts.find(String(WhatId));
  if (account === undefined || account.deleted)
    return refusal(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', { fields: ['WhatId'] });
  const locked = org.locks.get(account.id) ?? 0;
  if (locked > 0) {
    org.locks.set(account.id, locked - 1);
    return refusal(400, 'UNABLE_TO_LOCK_ROW', 'unable to obtain exclusive access to this record', { fields: [] });
  }
  const [subject, description] = [textOf(Subject) ?? '', textOf(Description) ?? ''];
  if (subject.length > MAX_SUBJECT || description.length > MAX_DESCRIPTION)
    return refusal(400, 'STRING_TOO_LONG', 'data value too large', { fields: ['Description'] });
  const statuses = org.tables.rows('TaskStatus').map((row) => row.values.MasterLabel);
  if (!statuses.some((label) => label === Status))
    return refusal(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'Status: bad value', { fields: ['Status'] });
  const values = { WhatId: account.id, Subject: subject, Status: String(Status), Description: description };
  return created(org.tables.insert('Task', { ...values, ActivityDate: textOf(ActivityDate) ?? null }));
}

/** Creates an unattached note; its content is base64 of HTML. */
export function createContentNote(org: Org, json: unknown): EmulatorAnswer {
  if (org.options.notesEnabled === false)
    return refusal(400, 'INVALID_TYPE', "sObject type 'ContentNote' is not supported.");
  const { Title, Content } = objectOf(json) ?? {};
  const [title, content] = [textOf(Title), textOf(Content)];
  if (title === undefined || title.length > MAX_SUBJECT)
    return refusal(400, 'REQUIRED_FIELD_MISSING', 'Required fields are missing: [Title]', { fields: ['Title'] });
  const html = Buffer.from(content ?? '', 'base64').toString();
  if (Buffer.from(html).toString('base64') !== content || /[<&](?!br>|amp;|lt;|gt;|quot;|#39;)/.test(html))
    return refusal(400, 'UNKNOWN_EXCEPTION', 'Note can not be created: its content is no base64 of escaped HTML');
  return created(org.tables.insert('ContentNote', { Title: title, Content: content, TextPreview: plain(html) }));
}

export function createContentLink(org: Org, json: unknown): EmulatorAnswer {
  const { ContentDocumentId, LinkedEntityId, ShareType } = objectOf(json) ?? {};
  const note = org.tables.rows('ContentNote').find((row) => row.id === ContentDocumentId);
  const account = org.accounts.find(String(LinkedEntityId));
  const missing = note === undefined ? 'ContentDocumentId' : 'LinkedEntityId';
  if (note === undefined || account === undefined || account.deleted)
    return refusal(400, 'INVALID_CROSS_REFERENCE_KEY', 'invalid cross reference id', { fields: [missing] });
  if (ShareType !== 'V' && ShareType !== 'I')
    return refusal(400, 'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST', 'Share Type: bad value', { fields: ['ShareType'] });
  const values = { ContentDocumentId: note.id, LinkedEntityId: account.id, ShareType };
  const document = { 'ContentDocument.Title': note.values.Title ?? null };
  return created(
    org.tables.insert('ContentDocumentLink', {
      ...values,
      ...document,
      'ContentDocument.CreatedDate': new Date(note.createdAt).toISOString(),
    }),
  );
}

/** The notes of an account as people read them, oldest first. */
export function notesOn(org: Org, accountId: string): readonly string[] {
  const tasks = org.tables.rows('Task').filter(({ values }) => values.WhatId === accountId);
  const links = org.tables.rows('ContentDocumentLink').filter(({ values }) => values.LinkedEntityId === accountId);
  const notes = links.flatMap(({ values }) =>
    org.tables.rows('ContentNote').filter(({ id }) => id === values.ContentDocumentId),
  );
  return [...tasks, ...notes]
    .filter((row) => !row.deleted)
    .sort((a, b) => a.createdAt - b.createdAt)
    .map(({ values }) => `${values.Subject ?? values.Title}\n${values.Description ?? values.TextPreview}`);
}

/** A merge moves the loser's activities to the survivor. */
export function moveActivities(org: Org, from: string, to: string): void {
  for (const [object, field] of [
    ['Task', 'WhatId'],
    ['ContentDocumentLink', 'LinkedEntityId'],
  ] as const) {
    for (const { values } of org.tables.rows(object)) if (values[field] === from) values[field] = to;
  }
}

export const created = ({ id }: Pick<StoredRow, 'id'>): EmulatorAnswer => ({
  status: 201,
  body: { id, success: true, errors: [] },
});

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const plain = (html: string): string =>
  html.replaceAll('<br>', '\n').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
