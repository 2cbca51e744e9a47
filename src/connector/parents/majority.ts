/** The company that owns more than half of another one. Pure. */
import { parseEntityId } from '../../protocol/entity-id.ts';
import { type Fact, factValue } from '../facts/fact.ts';
import { isPerson } from '../facts/persons.ts';

/** `unknown`: not all owners are known. */
export type Majority =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' }
  | { readonly kind: 'owner'; readonly entity: string; readonly share: string };

/**
 * Shares are intervals in the register: one that begins at 50 (`50-66.66`) counts as more than half, unless another
 * owner's begins there too.
 */
export function majorityOf(owners: Fact | undefined): Majority {
  const members = owners === undefined ? undefined : factValue(owners);
  if (!Array.isArray(members)) return { kind: 'unknown' };
  const holders = members.filter(({ share }) => share !== undefined && isMajority(share));
  const [holder] = holders;
  if (holder === undefined || holders.length > 1) return { kind: 'none' };
  const isCompany = parseEntityId(holder.id)?.kind === 'company' && !isPerson(holder.id, holder.type);
  return isCompany ? { kind: 'owner', entity: holder.id, share: holder.share ?? '' } : { kind: 'none' };
}

const SHARE = /^(\d+(?:[.,]\d+)?)(?:\s*[-–]\s*(\d+(?:[.,]\d+)?))?\s*%?$/u;

function isMajority(share: string): boolean {
  const [, low, high] = SHARE.exec(share.trim()) ?? [];
  if (low === undefined) return false;
  const from = number(low);
  return from > 50 || (from === 50 && high !== undefined && number(high) > 50);
}

const number = (text: string): number => Number(text.replace(',', '.'));
