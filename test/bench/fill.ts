/** A large store: links with their decisions and differences, monitors with items and deliveries, and who may look at it. */
import Database from 'better-sqlite3';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { startSession } from '../../src/runtime/operators/sessions.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { openStore } from '../../src/store/engines/open.ts';

/** The first company's number. */
export const FIRST = 20_000_000;
export const MONITORS = 1_000;
/** Monitors have ids that are counted, so that SQL can name them. */
export const monitorId = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

/** A table of the numbers from 0. */
export const numbersTo = (count: number): string =>
  `with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count})`;

/** The cookie of an admin who is signed in. */
export async function adminCookie(file: string): Promise<string> {
  const store = await openStore(file);
  const session = await store.write(async (tx) => {
    await createOperator(tx, { name: 'bench', role: 'admin' }, Date.now());
    return startSession(tx, { operator: 'bench', agent: 'bench' }, Date.now());
  });
  await store.close();
  return `cvrsync_session=${session}`;
}

/** The decisions, a difference at each hundredth record, and what people did by hand. */
export function fillDecisions(file: string, links: number, decisions = links * 10): void {
  const db = new Database(file);
  const now = Date.now();
  const record = `cast(9000000000 + ((n % ${links}) * 7919) % ${links} as text)`;
  db.exec(`begin;
    insert into fact (entity, field, value, clock, seq)
      ${numbersTo(links)} select 'CVR-1-' || (${FIRST} + n), 'name', '{"scalar":"Firma ' || n || ' ApS"}', '2025-12-01T00:00:00.000Z', n from number;
    insert into history (provider, record_id, entity, at, seq, rule, outcome, lines)
      ${numbersTo(decisions)} select 'hubspot', ${record}, 'CVR-1-' || (${FIRST} + n % ${links}), ${now} - (${decisions} - n) * 1000, n,
        case n % 4 when 0 then 'register' when 1 then 'always' when 2 then 'ours' else 'edited' end,
        case n % 4 when 3 then 'kept' else 'written' end,
        json_array(json_array(case n % 3 when 0 then 'phone' when 1 then 'name' else 'cvr_name' end, 'phone', '1' || n, '2' || n, null))
        from number;
    insert into property_state (provider, record_id, property, kept, offered, kept_at)
      ${numbersTo(links / 100)} select 'hubspot', ${record}, 'phone', '"1"', '"2"', ${now} - n from number;
    insert into audit (at, actor_kind, actor, via, action, result)
      ${numbersTo(links / 10)} select ${now} - (${links / 10} - n) * 1000, 'user', 'ida', 'command', 'review.keep', 'done' from number;
    commit`);
  db.close();
}

/** Monitors with items, and what was told to them: nothing is due, so that nothing is posted. */
export async function fillService(file: string, key: Buffer, links: number): Promise<void> {
  const store = await openStore(file);
  const context = { secrets: openSecrets(key), now: Date.now() };
  await store.write(async (tx) => {
    for (let at = 0; at < MONITORS; at++)
      await createMonitor(
        tx,
        { name: `Monitor ${at}`, url: 'http://127.0.0.1:9/', target: 'items' },
        { ...context, id: monitorId(at) },
      );
  });
  await store.close();
  const db = new Database(file);
  const now = Date.now();
  const numbers = numbersTo(links);
  const monitor = `'${monitorId(0).slice(0, -12)}' || substr('000000000000' || (n % ${MONITORS}), -12)`;
  const entity = `'CVR-1-' || (${FIRST} + n)`;
  db.exec(`begin;
    insert into item (monitor, entity, record_id, added_at)
      ${numbers} select ${monitor}, ${entity}, '', ${now} - n from number;
    insert into change (id, entity, name, kind, timestamp, updates, created_at)
      ${numbers} select 'change ' || n, ${entity}, 'Firma ' || n || ' ApS', 'register', '2026-01-01T00:00:00Z',
        '{"name":{"before":"Firma","after":"Firma ' || n || ' ApS"}}', ${now} - (${links} - n) * 100 from number;
    insert into delivery (monitor, entity, change, events, state, attempts, next_at, status, error, created_at, ended_at)
      ${numbers} select ${monitor}, ${entity}, n + 1, '["name"]', case n % 100 when 0 then 'failed' else 'done' end, 1 + n % 3, 0,
        case n % 100 when 0 then 500 else 204 end, case n % 100 when 0 then 'answered 500' end,
        ${now} - (${links} - n) * 100, ${now} - (${links} - n) * 100 + n % 5000 from number;
    insert into attempt (delivery, at, took, number, status, fault, answer)
      select seq, created_at, 20, 1, 500, null, 'Internal Server Error' from delivery where attempts > 1;
    commit`);
  db.close();
}
