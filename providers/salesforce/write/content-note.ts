/** A note as a ContentNote: rich text among the account's notes and files. */
import type { Note } from '../../provider.ts';
import type { Calls } from '../client/client.ts';
import { errorsOf, SalesforceRefusal, unexpectedAnswer } from '../client/errors.ts';
import { objectOf, objectsOf, textOf } from '../client/json.ts';
import { contentQuery } from '../read/soql.ts';
import { clip, tag } from './note-text.ts';

const MAX_TITLE = 255;

/** Makes one call: the marker is in the title, which can be read without the content. */
export async function findContentNote(
  calls: Calls,
  accountId: string,
  marker: string,
  since: number,
): Promise<string | undefined> {
  const { rows } = await calls.query(contentQuery(accountId, new Date(Math.max(0, since)).toISOString()));
  const hit = rows.find((row) => textOf(objectOf(row.ContentDocument)?.Title)?.includes(tag(marker)));
  return textOf(hit?.ContentDocumentId);
}

/** Creates the note and puts it on the account in one call, all or none: nobody would find a note on nothing. */
export async function addContentNote(calls: Calls, note: Note): Promise<string> {
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
    // A call inside has no Retry-After.
    throw new SalesforceRefusal({ status: Number(httpStatusCode), headers: {}, body: JSON.stringify(body) }, 0);
  }
  const id = textOf(objectOf(answers[0]?.body)?.id);
  if (answers.length !== 2 || id === undefined) throw unexpectedAnswer('a new note');
  return id;
}

/** Base64 of HTML. */
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
