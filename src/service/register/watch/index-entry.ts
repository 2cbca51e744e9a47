/** The company index's side of the watcher: what it holds of a snapshot, and how it follows the register. */

import type { IndexEntry } from '../../../match/entry.ts';
import type { ReadRegister } from '../../../match/index/fill.ts';
import { lockIndexState } from '../../../match/index/state.ts';
import { storeEntries } from '../../../match/index/write.ts';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import type { Address } from '../../../protocol/formats.ts';
import { engineOf, type Tx } from '../../../store/store.ts';
import type { Company } from '../document/company.ts';
import { todayAt } from '../document/today.ts';
import type { Unit } from '../document/unit.ts';

/** Brings the index up to date with snapshots, in their transaction; nothing where nobody made an index. */
export async function indexSnapshots(tx: Tx, rows: readonly { readonly body: string }[], now: number): Promise<void> {
  if (rows.length === 0) return;
  const state = await lockIndexState(tx);
  // One that is being cleared reads the snapshots afterwards.
  if (state === undefined || state.phase === 'clearing') return;
  const staged = state.phase === 'ready' ? {} : { stagedAt: now };
  await storeEntries(tx, rows.flatMap(entryOf), { historyOn: todayAt(now), ...staged });
}

/** Reads the next snapshots as entries; locks them until the transaction ends, so that the watcher does not overtake it. */
export const readRegisterEntries: ReadRegister = async (tx, after, limit) => {
  const rows = await tx
    .selectFrom('snapshot')
    .select(['entity', 'body'])
    .where('entity', '>', after)
    .orderBy('entity')
    .limit(limit)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  return { entries: rows.flatMap(entryOf), last: rows.at(-1)?.entity };
};

function entryOf({ body }: { readonly body: string }): readonly IndexEntry[] {
  const snapshot = JSON.parse(body) as Company | Unit;
  const number = parseEntityId(snapshot.entity)?.number;
  const company = snapshot.kind === 'company' ? number : companyOf(snapshot);
  if (number === undefined || company === undefined) return [];
  const { name, address, email, phoneNumber } = snapshot;
  const entry = {
    number,
    company,
    name,
    formerNames: [],
    formerAddresses: [],
    address: addressOf(address.value),
    phone: phoneNumber.value,
    email: email.value,
    successor: null,
  };
  if (snapshot.kind === 'unit') return [{ ...entry, otherNames: [], form: null, website: null, ended: null }];
  return [
    {
      ...entry,
      otherNames: snapshot.altNames.value,
      form: snapshot.form.value?.shortDescription ?? null,
      website: snapshot.website.value,
      ended: snapshot.life.value.ended?.slice(0, 10) ?? null,
    },
  ];
}

const companyOf = ({ company }: Unit): string | undefined =>
  company.value === null ? undefined : parseEntityId(company.value)?.number;

function addressOf(address: Address | null): IndexEntry['address'] {
  if (address === null) return null;
  const { streetName, houseNumberFrom, houseLetterFrom, freeText, postalCode, postalDistrict, cityName } = address;
  const street = [streetName, `${houseNumberFrom ?? ''}${houseLetterFrom ?? ''}`].filter(Boolean).join(' ');
  return {
    street: street === '' ? freeText : street,
    postalCode: postalCode === null ? null : String(postalCode).padStart(4, '0'),
    city: postalDistrict ?? cityName,
  };
}
