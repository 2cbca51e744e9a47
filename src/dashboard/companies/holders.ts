/** The linked records of companies in one connection. */
import { recordsOf } from '../../connector/links/links.ts';
import type { Db } from '../../store/store.ts';

/** Record ids by entity id, of companies that have any, in the order of the ids. */
export type CompanyHolders = ReadonlyMap<string, readonly string[]>;

export async function readHolders(db: Db, provider: string, entities: readonly string[]): Promise<CompanyHolders> {
  const links = (await recordsOf(db, entities)).filter((link) => link.provider === provider);
  const byEntity = Map.groupBy(links, ({ entity }) => entity);
  return new Map(
    [...byEntity.keys()]
      .toSorted()
      .map((entity) => [entity, (byEntity.get(entity) ?? []).map((link) => link.record_id)]),
  );
}
