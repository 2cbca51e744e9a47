/** Notes on companies. HubSpot has no key that rejects a repeated note, so each carries a marker. */
import { type Note, type NoteOutcome, ProviderError } from '../../provider.ts';
import { isRecordId, readBatch } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal, reasonOf } from '../client/faults.ts';
import { findOne } from '../read/read.ts';
import { holdsMarker, noteHtml } from './note-html.ts';

/** https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide */
const NOTE_TO_COMPANY = 190;
const BODY = 'hs_note_body';
/** Notes need the scopes of contacts, on any kind of record. */
const WRITE_SCOPE = 'crm.objects.contacts.write';
const READ_SCOPE = 'crm.objects.contacts.read';
const ASSOCIATIONS_PAGE = 500;
const READ_PAGE = 100;

/**
 * Adds one note, to the survivor if the company was merged away. Throws `refused` without the scope: then no company
 * can have a note.
 */
export async function addNote(apis: Apis, note: Note): Promise<NoteOutcome> {
  if (!isRecordId(note.recordId)) return { kind: 'gone' };
  try {
    return await post(apis, note, note.recordId);
  } catch (error) {
    if (!(error instanceof HubspotRefusal)) throw withScope(error, WRITE_SCOPE);
    const company = await findOne(apis, note.recordId, []);
    if (company === undefined) return { kind: 'gone' };
    if (company.id === note.recordId) return { kind: 'rejected', reason: reasonOf(error.body) };
    return await postToSurvivor(apis, note, company.id);
  }
}

async function postToSurvivor(apis: Apis, note: Note, survivor: string): Promise<NoteOutcome> {
  try {
    return await post(apis, note, survivor);
  } catch (error) {
    if (!(error instanceof HubspotRefusal)) throw error;
    return { kind: 'rejected', reason: reasonOf(error.body) };
  }
}

async function post(apis: Apis, note: Note, company: string): Promise<NoteOutcome> {
  const { basic, Category } = await apis.notes();
  const types = [{ associationCategory: Category.HubspotDefined, associationTypeId: NOTE_TO_COMPANY }];
  const { id } = await basic.create({
    properties: { hs_timestamp: new Date(note.at).toISOString(), [BODY]: noteHtml(note) },
    associations: [{ to: { id: company }, types }],
  });
  if (!isRecordId(id)) throw new ProviderError('unavailable', 'HubSpot created a note and did not return its id');
  return { kind: 'written', id };
}

/**
 * Finds the note with a marker on a company, or on the survivor of its merge, by the company's associations, which do
 * not lag as search does. One call finds the company, one reads 500 ids of its notes, one reads 100 notes, the newest
 * first.
 */
export async function findNote(apis: Apis, recordId: string, marker: string): Promise<string | undefined> {
  if (!isRecordId(recordId)) return undefined;
  const company = await findOne(apis, recordId, []);
  if (company === undefined) return undefined;
  try {
    return await withMarker(apis, await notesOf(apis, company.id), marker);
  } catch (error) {
    throw withScope(error, READ_SCOPE);
  }
}

async function notesOf(apis: Apis, company: string): Promise<readonly string[]> {
  const { basic } = await apis.associations();
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await basic.getPage('companies', company, 'notes', after, ASSOCIATIONS_PAGE);
    ids.push(...page.results.map(({ toObjectId }) => String(toObjectId)).filter(isRecordId));
    after = page.paging?.next?.after;
  } while (after !== undefined);
  return ids.sort((a, b) => (BigInt(b) > BigInt(a) ? 1 : -1));
}

async function withMarker(apis: Apis, ids: readonly string[], marker: string): Promise<string | undefined> {
  const { batch } = await apis.notes();
  for (let at = 0; at < ids.length; at += READ_PAGE) {
    const inputs = ids.slice(at, at + READ_PAGE).map((id) => ({ id }));
    const { records } = readBatch(await batch.read({ inputs, properties: [BODY], propertiesWithHistory: [] }));
    const found = records.find(({ properties }) => holdsMarker(properties[BODY] ?? '', marker));
    if (found !== undefined) return found.id;
  }
  return undefined;
}

/** Names the scope in a refusal: HubSpot does not always do so. */
function withScope(error: unknown, scope: string): unknown {
  if (!(error instanceof ProviderError) || error.fault !== 'refused' || error.message.includes(scope)) return error;
  return new ProviderError('refused', `${error.message}; notes need the scope ${scope}`, { cause: error });
}
