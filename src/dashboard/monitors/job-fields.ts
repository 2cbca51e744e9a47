/** The fields that only a new job has: its provider, and its key. */
import type { VNode } from 'preact';
import { type ApiKey, listKeys } from '../../service/keys/keys.ts';
import type { Db } from '../../store/store.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';
import { textField } from './form.ts';

/** The keys that may own a job. */
export const jobKeys = async (db: Db): Promise<readonly ApiKey[]> =>
  (await listKeys(db)).filter(({ revokedAt, scopes }) => revokedAt === null && scopes.includes('monitoring'));

/** The fields, or the first thing that is missing. */
export async function jobFields(db: Db, reader: Reader, fields: Fields): Promise<VNode> {
  const keys = await jobKeys(db);
  if (keys.length === 0)
    return html`<p class="notice warn">${reader.text('jobs.needsKey')} <a href="/keys">${reader.text('nav.keys')}</a></p>`;
  return html`${textField(reader, { name: 'provider', value: fieldValue(fields, 'provider'), isRequired: true })}
    ${keySelect(reader, keys, fieldValue(fields, 'owner'))}`;
}

export const keySelect = (reader: Reader, keys: readonly ApiKey[], chosen: string): VNode => html`<div>
  <label for="owner">${reader.text('form.owner')}</label>
  <select id="owner" name="owner">
    ${keys.map(({ id, name }) => html`<option value=${id} selected=${id === chosen}>${name} (${id.slice(0, 8)})</option>`)}
  </select>
</div>`;
