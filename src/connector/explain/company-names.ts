import { readEntries } from '../../match/index/write.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { Db } from '../../store/store.ts';
import { factValue } from '../facts/fact.ts';
import { readFacts } from '../facts/facts.ts';

/** By entity: the register's name, otherwise that of the company index. Companies without a known name are missing. */
export async function companyNames(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (entities.length === 0) return new Map();
  const names = new Map<string, string>();
  const numbers = new Map(entities.flatMap((entity) => numberInIndex(entity)));
  const entries = await readEntries(db, [...numbers.keys()]);
  for (const [number, { name }] of entries) names.set(numbers.get(number) ?? '', name);
  for (const fact of await readFacts(db, entities)) {
    const name = fact.field === 'name' ? factValue(fact) : undefined;
    if (typeof name === 'string') names.set(fact.entity, name);
  }
  return names;
}

/** Number and entity; persons are not in the index. */
function numberInIndex(entity: string): readonly (readonly [string, string])[] {
  const id = parseEntityId(entity);
  return id?.kind === 'company' || id?.kind === 'productionUnit' ? [[id.number, entity]] : [];
}
