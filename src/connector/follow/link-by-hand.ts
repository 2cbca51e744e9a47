/** Links that a person requests. The record is read first, because an id is easily mistyped. */
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently, type WaitReport } from '../crm/patience.ts';
import { isPerson } from '../facts/persons.ts';
import { type LinkRequest, type LinkResult, linkRecord, updateLink } from '../links/links.ts';
import { otherCompany, readNumber } from './decide-link.ts';

/** `other`: the other company whose number the record holds. */
export type LinkCandidate =
  | { readonly kind: 'found'; readonly other: string | undefined }
  | { readonly kind: 'moved'; readonly to: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unread'; readonly reason: string };

const SILENCE_MS = 10_000;

/** Reads the record and its number. Throws a fault that lasts. */
export async function readCandidate(
  crm: Crm,
  { recordId, entity }: Pick<LinkRequest, 'recordId' | 'entity'>,
  signal: AbortSignal,
  report?: WaitReport,
): Promise<LinkCandidate> {
  const read = await patiently(
    { crm, now: Date.now, silenceMs: SILENCE_MS, report },
    async () => {
      const match = crm.match !== undefined && (await crm.schema(signal)).has(crm.match) ? crm.match : undefined;
      const [record] = await crm.connection.read([recordId], match === undefined ? [] : [match], signal);
      return { match, record };
    },
    signal,
  );
  const { match, record } = read;
  switch (record?.kind) {
    case 'found':
      return { kind: 'found', other: otherCompany(entity, readNumber(record.properties, match)) };
    case 'moved':
      return { kind: 'moved', to: record.to };
    case 'gone':
      return { kind: 'gone' };
    default:
      return { kind: 'unread', reason: record?.reason ?? 'the answer of the CRM left it out' };
  }
}

/** A natural person needs a connection that allows persons. */
export const mayHold = ({ persons }: Pick<Crm, 'persons'>, entity: string): boolean =>
  persons || !isPerson(entity, undefined);

/** Links the record. A person who saw the other number is not asked about it again. */
export async function linkSeen(tx: Tx, desired: LinkRequest, other: string | undefined): Promise<LinkResult> {
  const linked = await linkRecord(tx, desired);
  if (other !== undefined && linked.kind !== 'taken') await updateLink(tx, desired, { mismatch: other });
  return linked;
}
