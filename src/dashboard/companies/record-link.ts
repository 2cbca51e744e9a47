/** A record of a CRM by its connection and id, with a link to its page there. */
import type { VNode } from 'preact';
import { readAccount } from '../../connector/crm/guard.ts';
import { recordAddress } from '../../connector/crm/record-id.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { html } from '../page/html.ts';
import type { CompanyDeps } from './company-deps.ts';

/** Without a link if nobody knows the address. One read by key. */
export async function recordLink(
  { store, crms }: Pick<CompanyDeps, 'store' | 'crms'>,
  { provider, recordId }: RecordRef,
): Promise<VNode> {
  const crm = crms.find(({ name }) => name === provider);
  const address = crm && recordAddress(crm, recordId, await readAccount(store.db, provider));
  const id = html`<code>${recordId}</code>`;
  // The CRM need not know which page of cvrsync led there.
  return html`<span>${provider} ${address === undefined ? id : html`<a href=${address} rel="noreferrer">${id}</a>`}</span>`;
}
