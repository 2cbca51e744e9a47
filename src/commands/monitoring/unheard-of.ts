/** A company that is monitored and that nobody has told anything of: nothing of it can be written. */
import { hasSnapshot } from '../../service/items/items.ts';
import type { Db } from '../../store/store.ts';
import type { CommandContext } from '../cli/context.ts';

/** Says it of a company that the register has not told our own service of; undefined where it has, or another service monitors. */
export async function unheardOf(
  { config }: Pick<CommandContext, 'config'>,
  db: Db,
  entity: string,
): Promise<string | undefined> {
  const { service, connector } = await config([]);
  if (service === undefined || connector?.upstream !== undefined || (await hasSnapshot(db, entity))) return undefined;
  return `The register has told our own service nothing of ${entity} yet: is the number right? Nothing is written until it does.`;
}
