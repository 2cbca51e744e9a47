/**
 * Tries: writes that nobody knows the end of. What such a write was to replace is remembered, so that history has the
 * write where it turns out to have reached the CRM, and `undo` can take it back.
 */
import { sql } from 'kysely';
import { ProviderError } from '../../providers/provider.ts';
import { type Claim, held } from '../runtime/lanes.ts';
import { eachRow } from '../store/each.ts';
import type { Store, Tx } from '../store/open.ts';
import type { Rule } from './decide.ts';
import { type Decided, writeHistory } from './history.ts';
import type { LinkedRecord } from './load.ts';
import type { Planned, Tried } from './plan.ts';
import type { Written } from './write.ts';

/** A record and what was decided for its properties. */
export interface Plan {
  readonly record: LinkedRecord;
  readonly planned: readonly Planned[];
}

/** The rules that overwrite what a person may have written: its last trace must not go with our process. */
const OVERWRITES: ReadonlySet<string> = new Set<Rule>(['trusted', 'released', 'always']);

/**
 * Before a batch is written: tells history of earlier writes that turn out to have reached the CRM, and remembers what
 * this batch overwrites. No transaction where there is neither.
 */
export async function settleTries(
  store: Store,
  provider: string,
  plans: readonly Plan[],
  claims: readonly Claim[],
  now: number,
): Promise<void> {
  const some = plans.filter(({ planned }) => planned.some((each) => each.late !== undefined || overwrites(each)));
  if (some.length === 0) return;
  await store.write(async (tx) => {
    const ours = await held(tx, claims);
    const live = some.filter(({ record }) => ours.has(record.id));
    const late = live.flatMap(({ record, planned }) =>
      planned.flatMap((each): Decided[] =>
        each.late === undefined ? [] : [lateRow(provider, record, each, each.late)],
      ),
    );
    await writeHistory(tx, late, [], now);
    await writeTries(tx, provider, live, nextTry, now);
  });
}

/** After a batch was written: remembers the writes that no answer came for. */
export async function rememberUnanswered(
  store: Store,
  provider: string,
  plans: readonly Plan[],
  written: ReadonlyMap<string, Written>,
  now: number,
): Promise<void> {
  const open = plans.filter(({ record }) => isUnanswered(written.get(record.id)));
  if (open.length === 0) return;
  await store.write((tx) =>
    writeTries(tx, provider, open, (each) => (each.action === 'write' ? triedOf(each) : undefined), now),
  );
}

const overwrites = ({ action, rule }: Planned): boolean => action === 'write' && OVERWRITES.has(rule);

/** What is to be remembered before the write; null for nothing any more, undefined where nothing changes. */
const nextTry = (planned: Planned): Tried | null | undefined => {
  if (overwrites(planned)) return triedOf(planned);
  return planned.late === undefined ? undefined : null;
};

const triedOf = ({ field, old, now, seq }: Planned): Tried => ({ field, old, now, seq });

/** Any other fault says that the CRM did nothing. */
const isUnanswered = (written: Written | undefined): boolean =>
  written?.outcome.kind === 'fault' &&
  written.outcome.unsent !== true &&
  written.outcome.error instanceof ProviderError &&
  written.outcome.error.fault === 'unavailable';

const lateRow = (provider: string, record: LinkedRecord, { property }: Planned, tried: Tried): Decided => ({
  provider,
  id: record.id,
  entity: record.entity,
  planned: {
    ...tried,
    property,
    action: 'write',
    rule: 'ours-after-all',
    detail: 'the answer to this write was lost, and it had reached the CRM',
  },
});

async function writeTries(
  tx: Tx,
  provider: string,
  plans: readonly Plan[],
  tried: (planned: Planned) => Tried | null | undefined,
  now: number,
): Promise<void> {
  const rows = plans.flatMap(({ record, planned }) =>
    planned.flatMap((each) => {
      const next = tried(each);
      const written = each.late === undefined ? null : JSON.stringify(each.late.now);
      const open = next == null ? null : JSON.stringify(next);
      return next === undefined ? [] : [{ id: record.id, property: each.property, written, tried: open }];
    }),
  );
  if (rows.length === 0) return;
  await sql`insert into property_state (provider, record_id, property, written, written_at, tried)
    select cast(${provider} as text), each.value ->> 'id', each.value ->> 'property', each.value ->> 'written',
      case when each.value ->> 'written' is not null then cast(${now} as bigint) end, each.value ->> 'tried'
    from ${eachRow(tx, rows)} where true
    on conflict (provider, record_id, property) do update set
      written = coalesce(excluded.written, property_state.written),
      written_at = coalesce(excluded.written_at, property_state.written_at), tried = excluded.tried`.execute(tx);
}
