/**
 * A large store on either engine, filled by SQL alone: links with facts, decisions, differences, overrides, everything that
 * waits for a person, runs with results, and monitors with items and deliveries. Nothing of it is due.
 */

import { keepCounts } from '../../src/connector/backfill/rows/counts.ts';
import { freshRun, newOwner, putRun } from '../../src/connector/backfill/rows/progress.ts';
import { createOperator } from '../../src/runtime/operators/operators.ts';
import { startSession } from '../../src/runtime/operators/sessions.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Engine } from '../../src/store/store.ts';
import { engineAt, runInBulk } from './bulk.ts';

/** The first company's number. */
export const FIRST = 20_000_000;
/** Monitors have ids that are counted, so that SQL can name them. */
export const monitorId = (at: number): string => `${MONITOR}${String(at).padStart(12, '0')}`;
const MONITOR = '00000000-0000-4000-8000-';

/** How much there is of everything; the rest follows from the links. */
export interface Sizes {
  readonly links: number;
  readonly decisions: number;
  /** Differences, and as many matches and entries of review. */
  readonly waiting: number;
  /** Holds and releases. */
  readonly overrides: number;
  readonly monitors: number;
}

/** Rows from which inserts select: the numbers `n` from 0. */
const numbers = (engine: Engine, count: number): string =>
  engine === 'postgres'
    ? `generate_series(0::bigint, ${count - 1}) as number (n)`
    : `(with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count}) select n from number) as number`;

/** A table of the numbers from 0. */
export const numbersTo = (count: number): string =>
  `with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count})`;

/** The cookie of an admin who is signed in. */
export async function adminCookie(url: string): Promise<string> {
  const store = await openStore(url);
  const session = await store.write(async (tx) => {
    await createOperator(tx, { name: 'bench', role: 'admin' }, Date.now());
    return startSession(tx, { operator: 'bench', agent: 'bench' }, Date.now());
  });
  await store.close();
  return `cvrsync_session=${session}`;
}

/** An insert of many rows. */
type Rows = readonly [table: string, columns: string, count: number, values: string];

/** Fills a store that has no rows; its key is the service's. */
export async function fillStore(url: string, sizes: Sizes, key: Buffer): Promise<void> {
  await makeMonitors(url, sizes.monitors, key);
  const rows = [...connectorRows(sizes), ...recordRows(sizes), ...serviceRows(sizes), ...runtimeRows(sizes)];
  const engine = engineAt(url);
  const inserts = rows.map(
    ([table, columns, count, values]) =>
      `insert into ${table} (${columns}) select ${values} from ${numbers(engine, Math.max(1, Math.round(count)))}`,
  );
  const tables = [...new Set(rows.map(([table]) => table))];
  // What a daemon counted on the empty store.
  await runInBulk(url, tables, ['delete from activity', ...inserts, ...failedAttempts]);
  await makePlan(url, sizes.links);
}

/** What the rows of the scan are a plan of. */
async function makePlan(url: string, records: number): Promise<void> {
  const store = await openStore(url);
  const begun = freshRun(newOwner(), { trust: 'crm', sendUpdate: false, match: 'cvr_number' }, now);
  const run = { ...begun, phase: 'planned', end: records, scanned: records } as const;
  await store.write((tx) => putRun(tx, 'hubspot', run, now));
  await keepCounts(store, 'hubspot', run, Date.now);
  await store.close();
}

async function makeMonitors(url: string, count: number, key: Buffer): Promise<void> {
  const store = await openStore(url);
  const context = { secrets: openSecrets(key), now: Date.now() };
  await store.write(async (tx) => {
    for (let at = 0; at < count; at++)
      await createMonitor(
        tx,
        { name: `Monitor ${at}`, url: 'http://127.0.0.1:9/', target: 'items' },
        { ...context, id: monitorId(at) },
      );
  });
  await store.close();
}

const now = Date.now();
const entity = `'CVR-1-' || (${FIRST} + n)`;
/** Record ids in another order than the companies, as life has it. */
const recordOf = (links: number): string => `cast(9000000000 + (n * 7919) % ${links} as text)`;
const HUBSPOT = "'hubspot'";
const DAY = 86_400_000;

/** Companies with their facts, events, links in every state, and every decision. */
function connectorRows({ links, decisions }: Sizes): readonly Rows[] {
  const record = recordOf(links);
  const state = `case n % 50 when 0 then 'conflict' else 'active' end`;
  const line = `'[["' || case n % 3 when 0 then 'phone' when 1 then 'name' else 'cvr_name' end || '","phone","1' || n || '","2' || n || '",null]]'`;
  return [
    [
      'link',
      'provider, record_id, entity, state, desired, observed, created_at, updated_at',
      links,
      `${HUBSPOT}, ${record}, ${entity}, ${state}, 'on', case n % 50 when 1 then 'refused' else 'on' end, ${now - 365 * DAY}, ${now} - n`,
    ],
    ...['name', 'phone'].map(
      (field): Rows => [
        'fact',
        'entity, field, value, clock, seq',
        links,
        `${entity}, '${field}', '{"scalar":"${field === 'name' ? 'Firma' : '10'} ' || n || '"}', '2025-12-01T00:00:00.000Z', n`,
      ],
    ),
    [
      'receipt',
      'dedupe_key, entity, timestamp, body, received_at, applied_at, quarantined',
      links,
      `'event ' || n, ${entity}, '2026-01-01T00:00:00.000Z', '{"entityId":"' || ${entity} || '","timestamp":"2026-01-01T00:00:00.000Z","updates":{"name":{"before":"A","after":"B"}}}', ${now} - (${links} - n) * 1000, ${now}, case n % 50 when 2 then 'dated ahead' end`,
    ],
    [
      'history',
      'provider, record_id, entity, at, seq, rule, outcome, lines',
      decisions,
      `${HUBSPOT}, cast(9000000000 + ((n % ${links}) * 7919) % ${links} as text), 'CVR-1-' || (${FIRST} + n % ${links}), ${now} - (${decisions} - n) * 1000, n % ${links} + 1, ` +
        `case n % 4 when 0 then 'register' when 1 then 'always' when 2 then 'ours' else 'edited' end, case n % 4 when 3 then 'kept' else 'written' end, ${line}`,
    ],
    ['written', 'provider, record_id, properties', links, `${HUBSPOT}, ${record}, '{"phone":["1",1]}'`],
    ['parent', 'provider, record_id, owner, parent_id', links / 10, `${HUBSPOT}, ${record}, ${entity}, '1'`],
    [
      'note',
      'provider, record_id, marker, seq, entity, subject, body, at, state, note_id, done_at',
      links / 10,
      `${HUBSPOT}, ${record}, 'm' || n, n, ${entity}, 'New name', 'It has a new name', ${now} - n, 'done', '' || n, ${now} - n`,
    ],
  ];
}

/** What waits for a person or was decided by one, of single records. */
function recordRows({ links, waiting, overrides }: Sizes): readonly Rows[] {
  const record = recordOf(links);
  const other = `cast(9000000000 + ((n + ${Math.round(links / 2)}) * 7919) % ${links} as text)`;
  const property = `case n % 4 when 0 then 'phone' when 1 then 'name' when 2 then 'city' else 'zip' end`;
  const candidate = `{"company":"' || (${FIRST} + n) || '","name":"Firma ' || n || ' ApS","weight":90,"findings":[{"evidence":"name-same"}],"strong":1,"ended":null,"successor":null,"score":97}`;
  const matched = `'{"recordId":"' || (8000000000 + n) || '","position":' || (n + 1) || ',"confidence":"likely","record":{"name":"Firma ' || n || '"},"candidates":[${candidate}]}'`;
  return [
    // Differences, and values that the CRM refuses.
    [
      'property_state',
      'provider, record_id, property, kept, offered, kept_at',
      waiting,
      `${HUBSPOT}, ${record}, ${property}, '"1' || n || '"', '"2' || n || '"', ${now} - n`,
    ],
    [
      'property_state',
      'provider, record_id, property, refused, refused_reason',
      waiting / 5,
      `${HUBSPOT}, ${other}, 'industry', '"' || n || '"', 'not an option'`,
    ],
    [
      'override',
      'provider, record_id, property, kind, once, until, reason, created_at',
      overrides,
      `${HUBSPOT}, ${recordOf(overrides)}, case n % 5 when 0 then '*' when 1 then 'p' || (n % 40) else 'phone' end, case n % 9 when 1 then 'release' else 'hold' end, 0, ` +
        `case n % 3 when 0 then ${now} + (n + 600) * 1000 end, 'asked by the customer', ${now} - n`,
    ],
    [
      'match_result',
      'provider, record_id, position, confidence, entity, body, suggested_at',
      waiting,
      `${HUBSPOT}, '' || (8000000000 + n), n + 1, 'likely', '' || (${FIRST} + n), ${matched}, case n % 2 when 0 then ${now} - n end`,
    ],
    [
      'scan',
      'provider, purpose, record_id, position, name, entity, verdict, action, state',
      links,
      `${HUBSPOT}, 'backfill', ${record}, n, 'Firma ' || n, ${entity}, case n % 40 when 7 then 'ambiguous' else 'matched' end, case n % 9 when 0 then 'skip' else 'link' end, 'planned'`,
    ],
    ['review_answer', 'subject, verb, at, replaced', waiting, `'lane/sync/' || n, 'drop', ${now} - n * 1000, '{}'`],
    [
      'quarantine',
      'received_at, source, subject, reason, body',
      400,
      `${now} - n, case n % 2 when 0 then 'webhook' else 'register' end, '1', 'no JSON', '{' || n`,
    ],
  ];
}

/** What the service found and sent. */
function serviceRows({ links, monitors }: Sizes): readonly Rows[] {
  const digits = `'000000000000' || (n % ${monitors})`;
  const monitor = `'${MONITOR}' || substr(${digits}, length(${digits}) - 11)`;
  const created = `${now} - (${links} - n) * 100`;
  return [
    ['item', 'monitor, entity, record_id, added_at', links, `${monitor}, ${entity}, '', ${now} - n`],
    [
      'snapshot',
      'entity, body, digest, loaded_at, updated_at',
      links,
      `${entity}, '{"entity":"' || ${entity} || '","name":"Firma ' || n || ' ApS"}', 'd' || n, '2026-01-01T00:00:00.000Z', ${now}`,
    ],
    [
      'change',
      'id, entity, name, kind, timestamp, updates, created_at',
      links,
      `'change ' || n, ${entity}, 'Firma ' || n || ' ApS', 'register', '2026-01-01T00:00:00Z', '{"name":{"before":"Firma","after":"Firma ' || n || ' ApS"}}', ${created}`,
    ],
    // One of a hundred failed, one waits for its next attempt.
    [
      'delivery',
      'monitor, entity, change, events, state, attempts, next_at, status, error, created_at, ended_at',
      links,
      `${monitor}, ${entity}, n + 1, '["name"]', case n % 100 when 0 then 'failed' when 50 then 'due' else 'done' end, 1 + n % 3, case n % 100 when 50 then ${now + 365 * DAY} else 0 end, ` +
        `case n % 50 when 0 then 500 else 204 end, case n % 50 when 0 then 'answered 500' end, ${created}, case n % 100 when 50 then null else ${created} + n % 5000 end`,
    ],
    [
      'mail',
      'monitor, recipient, kind, change, body, created_at, sent_at',
      links / 10,
      `${monitor}, 'ida@example.com', 'immediate', n + 1, '{"events":["name"]}', ${now} - n, ${now}`,
    ],
    [
      'second_reading',
      'entity, origin, body, digest, loaded_at, differs, differs_since',
      links / 10,
      `${entity}, 'datafordeler', '{}', 'd', '2026-01-01T00:00:00.000Z', case n % 20 when 0 then 'name' end, case n % 20 when 0 then ${now} - n end`,
    ],
    [
      'unsubscribed',
      'monitor, recipient, at, bounced, in_review',
      monitors,
      `${monitor}, 'bo' || n || '@example.com', ${now} - n, '550 no', case n % 5 when 0 then 1 else 0 end`,
    ],
    [
      'api_key',
      'id, name, hash, scopes, created_at',
      100,
      `'key ' || n, 'Key ' || n, 'hash ' || n, '["monitoring"]', ${now}`,
    ],
  ];
}

/** Attempts of what was tried more than once. */
const failedAttempts: readonly string[] = [
  `insert into attempt (delivery, at, took, number, status, fault, answer)
    select seq, created_at, 20, 1, 500, 'answered 500', 'Internal Server Error' from delivery where attempts > 1`,
  "insert into attempt (delivery, at, took, number, status, done) select seq, created_at, 20, 2, 204, 1 from delivery where state = 'done'",
];

/** Work that waits or was parked, runs with results, what people did, and the counts of the charts. */
function runtimeRows({ links, waiting }: Sizes): readonly Rows[] {
  const record = recordOf(links);
  const item = `'{"provider":"hubspot","record":"' || n || '","entity":"' || ${entity} || '","property":"phone","from":"1","to":"2"}'`;
  return [
    [
      'lane',
      'queue, key, due_at, marks, attempts, since, error, parked_at',
      links,
      `'edits:hubspot', ${record}, ${now + 365 * DAY}, 1, 0, ${now}, null, null`,
    ],
    [
      'lane',
      'queue, key, due_at, marks, attempts, since, error, parked_at',
      waiting / 2,
      `case n % 2 when 0 then 'sync:hubspot' else 'note:hubspot' end, ${record}, null, 1, 9, ${now} - n, 'the CRM refuses it', ${now} - n`,
    ],
    [
      'run',
      'task, input, stage, state, actor_kind, actor, via, created_at, started_at, ended_at, done, total, counts',
      500,
      `'undo', '{"entity":"CVR-1-' || (${FIRST} + n) || '"}', 'run', 'done', 'operator', 'ida', 'page', ${now} - (500 - n) * 600000, ${now}, ${now}, ${links}, ${links}, '{"restored":${links * 0.98},"edited":${links / 100},"gone":${links / 100}}'`,
    ],
    [
      'run_item',
      'run, key, kind, detail',
      links,
      `500, '["hubspot","' || n || '","phone"]', case n % 100 when 0 then 'edited' when 1 then 'gone' else 'restored' end, ${item}`,
    ],
    [
      'audit',
      'at, actor_kind, actor, via, action, subject, result',
      links / 10,
      `${now} - (${Math.round(links / 10)} - n) * 1000, 'operator', 'ida', 'page', 'review.keep', 'hubspot:' || n, 'done'`,
    ],
    ...(['hour', 'day'] as const).flatMap((span) =>
      [
        'written',
        'kept',
        'refused',
        'received',
        'sent',
        'failed',
        'behind',
        'linked',
        'failing',
        'left',
        'differing',
      ].map(
        (kind): Rows => [
          'activity',
          'span, kind, subject, at, count',
          span === 'hour' ? 2_160 : 731,
          `'${span}', '${kind}', '${['received', 'sent', 'failed', 'behind'].includes(kind) ? '' : 'hubspot'}', ${now - (now % 3_600_000)} - n * ${span === 'hour' ? 3_600_000 : DAY}, n % 1000`,
        ],
      ),
    ),
    [
      'config_version',
      'digest, accepted_at, accepted_by, digests, content',
      100,
      `'digest ' || n, ${now} - (100 - n) * ${DAY}, 'ida', '{}', '{}'`,
    ],
    ['operator', 'name, role, token_hash, created_at', 50, `'operator ' || n, 'viewer', 'hash ' || n, ${now}`],
    [
      'session',
      'hash, operator, agent, created_at, seen_at, ends_at',
      200,
      `'hash ' || n, 'operator ' || (n % 50), 'a browser', ${now} - n, ${now}, ${now + DAY}`,
    ],
    // No CRM is called: its account is paused.
    ['rate_limit', 'key, next_at, blocked_until, reason, blocked_since', 1, `'hubspot/*', 0, ${8e15}, 'bench', ${now}`],
  ];
}
