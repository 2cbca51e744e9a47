/** The endpoints of notes in an emulated account; their scopes are those of contacts. */

import { MAX_TEXT } from '../../../hubspot/read/properties.ts';
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from '../account/account.ts';
import type { StoredNote } from '../account/notes.ts';

const NOTE_TO_COMPANY = 190;
const MAX_INPUTS = 100;

/** Creates a note; its companies must exist, and a company that was merged away does not. */
export function createNote(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const refuse = (message: string) => refusal(account, 400, 'VALIDATION_ERROR', message);
  const properties: Record<string, string> = {};
  for (const [name, value] of Object.entries(record(body.properties))) {
    if (!['hs_timestamp', 'hs_note_body', 'hubspot_owner_id'].includes(name)) {
      const fault = {
        isValid: false,
        message: `Property "${name}" does not exist`,
        error: 'PROPERTY_DOESNT_EXIST',
        name,
      };
      return refuse(`Property values were not valid: ${JSON.stringify([fault])}`);
    }
    properties[name] = String(value);
  }
  if (!Number.isFinite(Date.parse(properties.hs_timestamp ?? ''))) return refuse('hs_timestamp is required');
  if ((properties.hs_note_body ?? '').length > MAX_TEXT) return refuse(`hs_note_body is longer than ${MAX_TEXT}`);
  const companies: string[] = [];
  for (const association of list(body.associations)) {
    const id = String(record(association.to).id);
    const isToCompany = list(association.types).every(
      ({ associationCategory, associationTypeId }) =>
        associationCategory === 'HUBSPOT_DEFINED' && associationTypeId === NOTE_TO_COMPANY,
    );
    if (!isToCompany) return refuse('No association type between note and company with that id');
    if (account.companies.find(id) === undefined) return refuse(`Object of type 0-2 with id ${id} does not exist`);
    companies.push(id);
  }
  return { status: 201, body: render(account.notes.create(properties, companies)) };
}

/** Answers an empty batch; the connection never sends more. */
export const createNotes = (account: HubspotAccount, { inputs }: Record<string, unknown>): EmulatorAnswer =>
  refusal(
    account,
    400,
    'VALIDATION_ERROR',
    list(inputs).length === 0 ? 'inputs is empty' : 'the emulator makes one at a time',
  );

/** Reads notes by id, shuffled; missing ones are absent. */
export function readNotes(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const ids = list(body.inputs).map(({ id }) => String(id));
  if (ids.length > MAX_INPUTS) return refusal(account, 400, 'VALIDATION_ERROR', `more than ${MAX_INPUTS} inputs`);
  const found = ids.map((id) => account.notes.find(id)).filter((note) => note !== undefined);
  const at = new Date(account.now()).toISOString();
  const results = account.shuffle(found.map(render));
  return { status: 200, body: { status: 'COMPLETE', results, startedAt: at, completedAt: at } };
}

function render({ id, createdAt, properties }: StoredNote): object {
  const at = new Date(createdAt).toISOString();
  const own = { hs_createdate: at, hs_lastmodifieddate: at, hs_object_id: id };
  return { id, properties: { ...properties, ...own }, createdAt: at, updatedAt: at, archived: false };
}

const record = (json: unknown): Record<string, unknown> =>
  typeof json === 'object' && json !== null ? { ...json } : {};

const list = (json: unknown): readonly Record<string, unknown>[] => (Array.isArray(json) ? json.map(record) : []);
