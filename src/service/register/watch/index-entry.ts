import type { IndexEntry } from '../../../match/describe/entry.ts';
import type { ReadRegister } from '../../../match/index/fill.ts';
import { lockIndexState } from '../../../match/index/state.ts';
import { storeEntries } from '../../../match/index/write.ts';
import { postalTown } from '../../../protocol/danish/street-address.ts';
import { parseEntityId } from '../../../protocol/entity-id.ts';
import type { Address } from '../../../protocol/formats.ts';
import { each } from '../../../store/each.ts';
import { engineOf, type Tx } from '../../../store/store.ts';
import { isDissolved } from '../diff/differ-relations.ts';
import { type MergerParties, readMergerParties } from '../diff/merger-parties.ts';
import type { Company } from '../document/company.ts';
import { todayAt } from '../document/today.ts';
import type { Unit } from '../document/unit.ts';

type Snapshot = Company | Unit;

/**
 * Updates the company index from stored snapshots, in their transaction and after storing their mergers; does nothing
 * without an index.
 */
export async function indexSnapshots(tx: Tx, rows: readonly { readonly body: string }[], now: number): Promise<void> {
  if (rows.length === 0) return;
  const state = await lockIndexState(tx);
  // An index that is being cleared reads the snapshots later.
  if (state === undefined || state.phase === 'clearing') return;
  const staged = state.phase === 'ready' ? {} : { stagedAt: now };
  const snapshots = rows.map(snapshotIn);
  const mergerParties = await mergersOf(tx, snapshots);
  const dissolved = await otherDissolved(tx, snapshots, mergerParties);
  const entries = [...snapshots, ...dissolved].flatMap((snapshot) => entryOf(snapshot, mergerParties));
  await storeEntries(tx, entries, { historyOn: todayAt(now), ...staged });
}

/**
 * Reads the next snapshots as entries; locks them until the transaction ends, so that the watcher does not overtake it.
 */
export const readRegisterEntries: ReadRegister = async (tx, after, limit) => {
  const rows = await tx
    .selectFrom('snapshot')
    .select(['entity', 'body'])
    .where('entity', '>', after)
    .orderBy('entity')
    .limit(limit)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .execute();
  const snapshots = rows.map(snapshotIn);
  const mergerParties = await mergersOf(tx, snapshots);
  const entries = snapshots.flatMap((snapshot) => entryOf(snapshot, mergerParties));
  return { entries, last: rows.at(-1)?.entity };
};

/** The watcher wrote the body. */
const snapshotIn = ({ body }: { readonly body: string }): Snapshot => JSON.parse(body) as Snapshot;

const mergersOf = async (tx: Tx, snapshots: readonly Snapshot[]): Promise<MergerParties> =>
  readMergerParties(
    tx,
    snapshots.flatMap((one) =>
      one.kind === 'company' ? one.mergers.value.map(({ organisation }) => organisation) : [],
    ),
  );

/** The companies that ended in these mergers: the register may report their successor after their end. */
async function otherDissolved(
  tx: Tx,
  snapshots: readonly Snapshot[],
  mergerParties: MergerParties,
): Promise<readonly Snapshot[]> {
  const ours = new Set(snapshots.map(({ entity }) => entity));
  const entities = [...mergerParties.values()]
    .flat()
    .flatMap(({ entity, dissolved }) => (dissolved && !ours.has(entity) ? [entity] : []));
  if (entities.length === 0) return [];
  const rows = await tx.selectFrom('snapshot').select('body').where('entity', 'in', each(tx, entities)).execute();
  return rows.map(snapshotIn);
}

/** The company that survives a merger; null if none or several are known. */
function successorOf(company: Company, mergerParties: MergerParties): string | null {
  if (company.life.value.ended === null) return null;
  const survivors = company.mergers.value
    .filter((merger) => isDissolved(company, merger))
    .flatMap(({ organisation }) => mergerParties.get(organisation) ?? [])
    .flatMap(({ entity, dissolved }) => (dissolved || entity === company.entity ? [] : [entity]));
  const [survivor, ...others] = new Set(survivors);
  if (survivor === undefined || others.length > 0) return null;
  return parseEntityId(survivor)?.number ?? null;
}

function entryOf(snapshot: Snapshot, mergerParties: MergerParties): readonly IndexEntry[] {
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
      successor: successorOf(snapshot, mergerParties),
    },
  ];
}

const companyOf = ({ company }: Unit): string | undefined =>
  company.value === null ? undefined : parseEntityId(company.value)?.number;

function addressOf(address: Address | null): IndexEntry['address'] {
  if (address === null) return null;
  const { streetName, houseNumberFrom, houseLetterFrom, freeText, postalCode } = address;
  const street = [streetName, `${houseNumberFrom ?? ''}${houseLetterFrom ?? ''}`].filter(Boolean).join(' ');
  return {
    street: street === '' ? freeText : street,
    postalCode: postalCode === null ? null : String(postalCode).padStart(4, '0'),
    city: postalTown(address),
  };
}
