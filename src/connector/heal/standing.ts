/** What records say of themselves right before a note or a parent is written to them. */
import type { Read } from '../../../providers/provider.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { holdsOf } from '../decide/holds.ts';
import { readMatch } from '../sync/match.ts';
import { followOf, linksOf } from './change-hints.ts';
import { objectionTo } from './decide-link.ts';

export interface Standing {
  /** In the order of the ids. */
  readonly reads: readonly Read[];
  /** When to check each record that is on hold again, in ms since 1970. */
  readonly holds: ReadonlyMap<string, number>;
  /** Why a record is not to be written to as its link says. A sync that reads it lets its link follow. */
  readonly objections: ReadonlyMap<string, string>;
}

/** Reads the records' hold and number. One call. */
export async function readStanding(
  { store, crm, now }: { readonly store: Store; readonly crm: Crm; readonly now: () => number },
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Standing> {
  const match = await readMatch(store, crm, await crm.schema(signal), now());
  const reads = await crm.connection.read(ids, followOf(crm, match, now()).properties, signal);
  const holds = await holdsOf({ db: store.db, crm }, ids, reads, now());
  if (match === undefined) return { reads, holds, objections: new Map() };
  const links = await linksOf(store.db, crm.name, ids);
  const objections = ids.flatMap((id, index): (readonly [string, string])[] => {
    const [link, read] = [links.get(id), reads[index]];
    const objection = link?.state === 'active' && read?.kind === 'found' ? objectionTo(link, read, match) : undefined;
    return objection === undefined ? [] : [[id, objection]];
  });
  return { reads, holds, objections: new Map(objections) };
}
