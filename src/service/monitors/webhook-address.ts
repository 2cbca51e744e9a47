/** The address of a webhook: its path and query may hold a secret, so the store has it sealed, and lists show its host. */
import type { Tx } from '../../store/store.ts';
import { isSealed, type Secrets } from '../keys/secrets.ts';

export const sealAddress = (url: string | null, secrets: Secrets): string | null =>
  url === null ? null : secrets.seal(url);

/** Opens an address. Earlier versions stored it as it is. */
export const openAddress = (stored: string | null, secrets: Secrets): string | null =>
  stored !== null && isSealed(stored) ? secrets.open(stored) : stored;

/** The address as lists and messages show it: the host. */
export function maskedAddress(url: string): string {
  if (!URL.canParse(url)) return '•••';
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname === '/' && search === '' ? '' : '/•••'}`;
}

/** Seals the addresses that an earlier version stored as they are. */
export async function sealAddresses(tx: Tx, secrets: Secrets): Promise<void> {
  const rows = await tx.selectFrom('monitor').select(['id', 'url']).where('url', 'not like', 'v1.%').execute();
  for (const { id, url } of rows)
    await tx
      .updateTable('monitor')
      .set({ url: sealAddress(url, secrets) })
      .where('id', '=', id)
      .execute();
}
