/**
 * The bodies of deliveries. A change that goes to thousands of monitors has one body, with the same bytes at every
 * attempt, unless somebody named in it is erased meanwhile.
 */
import { sql } from 'kysely';
import { isEventName } from '../../protocol/events.ts';
import { type Updates, type WireOptions, writePayload } from '../../protocol/payload.ts';
import { each } from '../../store/each.ts';
import { type Erasures, readErasures } from '../../store/erasure/erasures.ts';
import type { Db } from '../../store/store.ts';
import { withoutForbiddenOwners } from '../changes/beneficial-owners.ts';
import type { Head } from './due.ts';

export interface DeliveryBody {
  readonly change: string;
  readonly bytes: Buffer;
  readonly trace: string | null;
}

export interface DeliveryBodies {
  /** In the order of `heads`; undefined if the change was deleted. */
  load(db: Db, heads: readonly Head[]): Promise<readonly (DeliveryBody | undefined)[]>;
}

/** A body has about 6 KB. */
const MOST_BYTES = 32 * 1024 * 1024;

export function createBodies(options: WireOptions): DeliveryBodies {
  const cached = new Map<string, DeliveryBody>();
  let size = 0;
  let version = '';

  function keep(key: string, body: DeliveryBody): DeliveryBody {
    cached.set(key, body);
    size += body.bytes.length;
    for (const [oldest, { bytes }] of cached) {
      if (size <= MOST_BYTES || oldest === key) break;
      cached.delete(oldest);
      size -= bytes.length;
    }
    return body;
  }

  return {
    async load(db, heads) {
      const erasures = await readErasures(db);
      if (erasures.version !== version) {
        cached.clear();
        size = 0;
        version = erasures.version;
      }
      // Read before the first wait: another load may evict them.
      const known = heads.map((head) => cached.get(keyOf(head)));
      const missing = heads.filter((_, at) => known[at] === undefined);
      const changes = missing.length > 0 ? await loadChanges(db, missing) : new Map<number, ChangeRow>();
      return heads.map((head, at) => {
        const change = changes.get(head.change);
        if (known[at] !== undefined || change === undefined) return known[at];
        const key = keyOf(head);
        const body = cached.get(key) ?? bodyOf(change, head.events, options, erasures);
        // Another load may have seen a newer erasure.
        return erasures.version !== version || cached.has(key) ? body : keep(key, body);
      });
    },
  };
}

export async function readDeliveryBody(db: Db, seq: number, options: WireOptions): Promise<DeliveryBody | undefined> {
  const head = await db.selectFrom('delivery').select(['change', 'events']).where('seq', '=', seq).executeTakeFirst();
  const change = head && (await loadChanges(db, [head])).get(head.change);
  return change && bodyOf(change, head.events, options, await readErasures(db));
}

const keyOf = ({ change, events }: Head): string => `${change} ${events}`;

interface ChangeRow {
  readonly seq: number;
  readonly id: string;
  readonly entity: string;
  readonly timestamp: string;
  readonly updates: string;
  readonly trace: string | null;
}

async function loadChanges(db: Db, heads: readonly Pick<Head, 'change'>[]): Promise<ReadonlyMap<number, ChangeRow>> {
  const seqs = [...new Set(heads.map(({ change }) => String(change)))];
  const rows = await db
    .selectFrom('change')
    .select(['seq', 'id', 'entity', 'timestamp', 'updates', 'trace'])
    .where('seq', 'in', sql<number>`(select cast(value as bigint) from ${each(db, seqs)} as list)`)
    .execute();
  return new Map(rows.map((row) => [row.seq, row]));
}

function bodyOf(change: ChangeRow, events: string, options: WireOptions, erasures: Erasures): DeliveryBody {
  // The stored row is redacted shortly after an erasure is recorded.
  const updates: Updates = erasures.redact(JSON.parse(change.updates));
  const names: readonly string[] = JSON.parse(events);
  const chosen: Updates = Object.fromEntries(names.filter(isEventName).map((name) => [name, updates[name]]));
  const allowed = withoutForbiddenOwners(chosen, options.beneficialOwners);
  const payload = writePayload({ entityId: change.entity, timestamp: change.timestamp, updates: allowed }, options);
  return { change: change.id, trace: change.trace, bytes: Buffer.from(JSON.stringify(payload)) };
}
