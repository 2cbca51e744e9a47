/** The company or person that a caller names. */
import { entityIdIn } from '../protocol/cvr-number.ts';
import { readMonitorable } from '../service/monitors/monitorable.ts';
import { invalid } from './operation.ts';

/** The canonical id of an entity that can be listed, of its id or of a CVR number in any spelling; else refuses `path`. */
export function readListed(text: string, path: string): string {
  const read = readMonitorable(entityIdIn(text) ?? text);
  if (!read.ok) throw invalid(path, read.reason);
  return read.entity;
}
