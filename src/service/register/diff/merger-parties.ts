/** The companies of a merger: their documents share the register's organisation number for it. */
import { sql } from 'kysely';
import { each, eachRow } from '../../../store/each.ts';
import type { Db, Tx } from '../../../store/store.ts';
import type { Company } from '../document/company.ts';
import type { MergerParty } from './differ.ts';
import { isDissolved } from './differ-relations.ts';

/** By organisation number; filled while a page is processed. */
export type MergerParties = Map<string, MergerParty[]>;

export function addParty(mergerParties: MergerParties, company: Company): void {
  for (const merger of company.mergers.value) {
    const { organisation } = merger;
    const known = (mergerParties.get(organisation) ?? []).filter(({ entity }) => entity !== company.entity);
    const { entity, name } = company;
    mergerParties.set(organisation, [...known, { entity, name, dissolved: isDissolved(company, merger) }]);
  }
}

export async function readMergerParties(db: Db, organisations: readonly string[]): Promise<MergerParties> {
  const mergerParties: MergerParties = new Map();
  if (organisations.length === 0) return mergerParties;
  const rows = await db
    .selectFrom('merger_party')
    .innerJoin('snapshot', 'snapshot.entity', 'merger_party.entity')
    .select('snapshot.body')
    .distinct()
    .where('merger_party.organisation', 'in', each(db, organisations))
    .execute();
  // Only the watcher writes the body.
  for (const { body } of rows) addParty(mergerParties, JSON.parse(body) as Company);
  return mergerParties;
}

export async function storeMergerParties(tx: Tx, companies: readonly Company[]): Promise<void> {
  const rows = companies.flatMap(({ entity, mergers }) =>
    mergers.value.map(({ organisation }) => ({ organisation, entity })),
  );
  if (rows.length === 0) return;
  await tx
    .insertInto('merger_party')
    .columns(['organisation', 'entity'])
    .expression(
      sql`select distinct each.organisation, each.entity from ${eachRow(tx, ['organisation', 'entity'], rows)} where true`,
    )
    .onConflict((conflict) => conflict.columns(['organisation', 'entity']).doNothing())
    .execute();
}
