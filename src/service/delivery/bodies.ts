/** The bodies of deliveries: made once for a change that goes to thousands, and the same bytes at every attempt. */
import { sql } from 'kysely';
import { isEventName } from '../../protocol/events.ts';
import { type Updates, type WireOptions, writePayload } from '../../protocol/payload.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { withoutBeneficialOwners } from '../changes/beneficial-owners.ts';
import type { Head } from './due.ts';

export interface DeliveryBody {
  /** The change's natural id. */
  readonly change: string;
  readonly bytes: Buffer;
  /** The trace context that the change was found in. */
  readonly trace: string | null;
}

export interface DeliveryBodies {
  /** The bodies of these deliveries, in their order; undefined where the change is no longer there. */
  load(db: Db, heads: readonly Head[]): Promise<readonly (DeliveryBody | undefined)[]>;
}

/** Bytes that are kept; a body is about 6 KB. */
const MOST_BYTES = 32 * 1024 * 1024;

export function createBodies(options: WireOptions): DeliveryBodies {
  const kept = new Map<string, DeliveryBody>();
  let size = 0;

  function keep(key: string, body: DeliveryBody): DeliveryBody {
    kept.set(key, body);
    size += body.bytes.length;
    for (const [oldest, { bytes }] of kept) {
      if (size <= MOST_BYTES || oldest === key) break;
      kept.delete(oldest);
      size -= bytes.length;
    }
    return body;
  }

  return {
    async load(db, heads) {
      const missing = heads.filter((head) => !kept.has(keyOf(head)));
      const changes = missing.length > 0 ? await loadChanges(db, missing) : new Map<number, ChangeRow>();
      return heads.map((head) => {
        const key = keyOf(head);
        const change = changes.get(head.change);
        return kept.get(key) ?? (change && keep(key, bodyOf(change, head.events, options)));
      });
    },
  };
}

/** What a delivery posts, as JSON; undefined where the delivery or its change is no longer there. */
export async function readDeliveryBody(db: Db, seq: number, options: WireOptions): Promise<string | undefined> {
  const told = await db.selectFrom('delivery').select(['change', 'events']).where('seq', '=', seq).executeTakeFirst();
  const change = told && (await loadChanges(db, [told])).get(told.change);
  return change && bodyOf(change, told.events, options).bytes.toString();
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

function bodyOf(change: ChangeRow, events: string, options: WireOptions): DeliveryBody {
  const updates: Updates = JSON.parse(change.updates);
  const told: readonly string[] = JSON.parse(events);
  const chosen: Updates = Object.fromEntries(told.filter(isEventName).map((name) => [name, updates[name]]));
  // Found when they might be told, and waiting since.
  const tellable = options.beneficialOwners === false ? withoutBeneficialOwners(chosen) : chosen;
  const payload = writePayload({ entityId: change.entity, timestamp: change.timestamp, updates: tellable }, options);
  return { change: change.id, trace: change.trace, bytes: Buffer.from(JSON.stringify(payload)) };
}
