/**
 * The address of a webhook. Its path and query may hold a secret, so the store has it encrypted, and lists show only
 * the host.
 */
import type { Secrets } from '../keys/secrets.ts';

export const sealAddress = (url: string | null, secrets: Secrets): string | null =>
  url === null ? null : secrets.seal(url);

export const openAddress = (sealed: string | null, secrets: Secrets): string | null =>
  sealed === null ? null : secrets.open(sealed);

/** The host of an address, for lists and messages. */
export function maskedAddress(url: string): string {
  if (!URL.canParse(url)) return '•••';
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname === '/' && search === '' ? '' : '/•••'}`;
}
