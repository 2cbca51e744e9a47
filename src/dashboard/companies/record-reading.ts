/** Reads a record that somebody is about to link, while they wait. */
import { ProviderError } from '../../../providers/provider.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import { type LinkCandidate, readCandidate } from '../../connector/follow/link-by-hand.ts';
import type { LinkRequest } from '../../connector/links/links.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';
import { CRM_LIMIT_MS } from './company-deps.ts';

export const readInTime = (crm: Crm, desired: Pick<LinkRequest, 'recordId' | 'entity'>): Promise<LinkCandidate> =>
  inTime((signal) => readCandidate(crm, desired, signal));

/** `unread` if the CRM fails, or does not answer in time. */
export async function inTime<Found>(read: (signal: AbortSignal) => Promise<Found>): Promise<Found | Unread> {
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  try {
    return await read(signal);
  } catch (error) {
    if (signal.aborted) return { kind: 'unread', reason: `no answer within ${CRM_LIMIT_MS / 1_000} s` };
    if (error instanceof ProviderError) return { kind: 'unread', reason: errorText(error) };
    throw error;
  }
}

type Unread = Extract<LinkCandidate, { kind: 'unread' }>;

export function unlinkable(reader: Reader, candidate: Exclude<LinkCandidate, { kind: 'found' }>): Markup {
  switch (candidate.kind) {
    case 'gone':
      return html`<p class="notice bad">${reader.text('link.gone')}</p>`;
    case 'moved':
      return html`<p class="notice bad">${reader.text('link.moved', { to: candidate.to })}</p>`;
    case 'unread':
      return html`<p class="notice warn">${reader.text('link.unread', { reason: candidate.reason })}</p>`;
  }
}
