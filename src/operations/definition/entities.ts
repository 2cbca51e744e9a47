import { entityIdIn } from '../../protocol/cvr-number.ts';
import { readMonitorable } from '../../service/monitors/monitorable.ts';
import { invalid } from './operation.ts';

/**
 * The canonical id of an entity that can be listed, from its id or a CVR number in any spelling; refuses `path`
 * otherwise.
 */
export function readListed(text: string, path: string): string {
  const read = readMonitorable(entityIdIn(text) ?? text);
  if (!read.ok) throw invalid(path, read.reason);
  return read.entity;
}

/** The canonical id of a company or person, from its id or a CVR number in any spelling; refuses `path` otherwise. */
export function readEntity(text: string, path: string): string {
  const entity = entityIdIn(text);
  if (entity === undefined)
    throw invalid(path, 'is neither an entity id such as CVR-1-12345678 nor a CVR number of eight digits');
  return entity;
}
