import { entityIdIn, readCvrNumber } from '../../protocol/cvr-number.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';

/** Reads an entity id, or a CVR number in any spelling. Warns if the number looks mistyped. */
export function readEntity(text: string, log: CommandContext['log']): string {
  const cvr = readCvrNumber(text);
  const entity = entityIdIn(text);
  if (entity === undefined)
    throw new UsageError(`${text} is neither an entity id such as CVR-1-12345678 nor a CVR number of eight digits`);
  if (cvr.kind === 'number' && !cvr.valid)
    log.warn({ entity }, 'the CVR number fails the check of the register (modulus 11): is it mistyped?');
  return entity;
}
