import { hasSnapshot } from '../../service/items/items.ts';
import type { Db } from '../../store/store.ts';
import type { CommandContext } from '../cli/context.ts';

/**
 * Warns about a monitored company of which this installation's service has no data, so that cvrsync can write nothing;
 * undefined if it has data, or if another service monitors the company.
 */
export async function unheardOf(
  { config }: Pick<CommandContext, 'config'>,
  db: Db,
  entity: string,
): Promise<string | undefined> {
  const { service, connector } = await config([]);
  if (service === undefined || connector?.upstream !== undefined || (await hasSnapshot(db, entity))) return undefined;
  return `Our own service has no data about ${entity} from the register yet: is the number right? cvrsync writes nothing until it has.`;
}
