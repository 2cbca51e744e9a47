/** The record that a person wants to link, as the CRM holds it: an id is easily mistyped. */

import { patiently } from '../../connector/crm/patience.ts';
import { otherCompany, readNumber } from '../../connector/heal/decide-link.ts';
import { type LinkRequest, type LinkResult, linkRecord, updateLink } from '../../connector/links/links.ts';
import type { Tx } from '../../store/open.ts';
import type { MonitoringContext } from './context.ts';

/** How long a CRM that does not answer is asked again, in ms. */
const SILENCE_MS = 10_000;

/** The other company whose number the record holds, if it holds one. Throws where there is no such record. */
export async function readOtherCompany(
  { openCrm }: Pick<MonitoringContext, 'openCrm'>,
  { provider, recordId, entity }: LinkRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const crm = await openCrm(provider);
  const read = await patiently(
    { crm, now: Date.now, silenceMs: SILENCE_MS },
    async () => {
      const match = crm.match !== undefined && (await crm.schema(signal)).has(crm.match) ? crm.match : undefined;
      const [record] = await crm.connection.read([recordId], match === undefined ? [] : [match], signal);
      return { match, record };
    },
    signal,
  );
  const { match, record } = read;
  const none = `nothing was linked: ${provider}:${recordId}`;
  switch (record?.kind) {
    case 'found':
      return otherCompany(entity, readNumber(record.properties, match));
    case 'moved':
      throw new Error(`${none} was merged into ${record.to}: name that record instead`);
    case 'gone':
      throw new Error(`${none} is not in the CRM, or these credentials may not see it: correct the id`);
    default:
      throw new Error(`${none} could not be read: ${record?.reason ?? 'the answer of the CRM left it out'}. Try again`);
  }
}

/** Links it; a person who saw the other number need not be asked about it again. */
export async function linkSeen(tx: Tx, desired: LinkRequest, other: string | undefined): Promise<LinkResult> {
  const linked = await linkRecord(tx, desired);
  if (other !== undefined && linked.kind !== 'taken') await updateLink(tx, desired, { mismatch: other });
  return linked;
}
