import type { Calls } from '../client/client.ts';
import { isAccountId, toLongId } from '../client/ids.ts';
import { textOf } from '../client/json.ts';
import { whereaboutsQuery } from './soql.ts';

/** `there`: the record is live after all; `to`: the survivor after all merges. */
export type Whereabouts = { readonly kind: 'there' | 'gone' } | { readonly kind: 'moved'; readonly to: string };

/** Queries use GET: 60 ids keep the address under 2,000 characters. */
const IDS_IN_A_QUERY = 60;
/** Merges of merges; more than this is a circle. */
const MAX_HOPS = 20;

interface Trace {
  readonly deleted: boolean;
  readonly master: string | undefined;
}

/**
 * Finds out whether missing accounts were deleted or merged, and into which: it searches the recycle bin, about 15 days
 * deep, one call for 60 ids and hop. `gone` are purged records, and those that sharing hides from the user. Keys are
 * ids of 18 characters.
 */
export async function findWhereabouts(calls: Calls, ids: readonly string[]): Promise<ReadonlyMap<string, Whereabouts>> {
  const traces = new Map<string, Trace | undefined>();
  let wanted = ids.map(toLongId);
  for (let hop = 0; hop < MAX_HOPS && wanted.length > 0; hop += 1) {
    for (const id of wanted) traces.set(id, undefined);
    for (let at = 0; at < wanted.length; at += IDS_IN_A_QUERY)
      await look(calls, wanted.slice(at, at + IDS_IN_A_QUERY), traces);
    const masters = wanted.flatMap((id) => traces.get(id)?.master ?? []);
    wanted = [...new Set(masters)].filter((id) => !traces.has(id));
  }
  return new Map(ids.map((id) => [toLongId(id), follow(toLongId(id), traces)]));
}

async function look(calls: Calls, ids: readonly string[], traces: Map<string, Trace | undefined>): Promise<void> {
  const { rows } = await calls.query(whereaboutsQuery(ids), 'all');
  for (const row of rows) {
    const [id, master] = [textOf(row.Id), textOf(row.MasterRecordId)];
    if (id === undefined) continue;
    traces.set(toLongId(id), {
      deleted: row.IsDeleted === true,
      master: master !== undefined && isAccountId(master) ? toLongId(master) : undefined,
    });
  }
}

function follow(id: string, traces: ReadonlyMap<string, Trace | undefined>): Whereabouts {
  const seen = new Set<string>();
  let at = id;
  for (;;) {
    const trace = traces.get(at);
    if (trace !== undefined && !trace.deleted) return at === id ? { kind: 'there' } : { kind: 'moved', to: at };
    seen.add(at);
    if (trace?.master === undefined || seen.has(trace.master)) return { kind: 'gone' };
    at = trace.master;
  }
}
