/** A record of a CRM by its connection and id, with a link to its page in the CRM. */
import type { VNode } from 'preact';
import { readAccount } from '../../connector/crm/guard.ts';
import { recordAddress } from '../../connector/crm/record-id.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { html } from '../page/html.ts';
import type { CompanyDeps } from './company-deps.ts';

/** Without a link if the address is unknown. One read by key. */
export async function recordLink(
  { store, crms }: Pick<CompanyDeps, 'store' | 'crms'>,
  { provider, recordId }: RecordRef,
): Promise<VNode> {
  const crm = crms.find(({ name }) => name === provider);
  const address = crm && recordAddress(crm, recordId, await readAccount(store.db, provider));
  const id = html`<code>${recordId}</code>`;
  // The CRM must not see which page of cvrsync the link was on.
  return html`<span>${provider} ${address === undefined ? id : html`<a href=${address} rel="noreferrer">${id}</a>`}</span>`;
}
