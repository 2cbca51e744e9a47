/**
 * Two daemons on one PostgreSQL. The first is frozen (SIGSTOP) amid its calls for a record's properties, note and parent
 * and for the monitoring of a company; the second does that work, with newer events; then the first is woken (SIGCONT).
 */
import { expect, test } from 'vitest';
import { hasArrivals } from '../../src/connector/intake/arrivals.ts';
import { endLink, linkRecord } from '../../src/connector/links/links.ts';
import { payloadOf, type Updates } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, postWebhook, startCrms, watchStore } from '../support/fixture.ts';
import { historyLines } from '../support/history.ts';
import { holdingProxy } from '../support/holding-proxy.ts';
import { serveService } from '../support/service.ts';
import { newStoreUrl } from '../support/stores.ts';
import { ENTITY, OTHER, reported } from './company.ts';

const WAITING = { timeout: 120_000, interval: 20 };
const THIRD = 'CVR-1-10000003';
const QUEUES = ['monitoring', 'note:hubspot', 'parent:hubspot', 'sync:hubspot'];
const owner = { entityId: OTHER, name: 'Luftkastel Holding ApS', type: 'Company', ownership: '66.67-90' };

/** The whole company, owned by nobody else. */
function whole() {
  const { updates } = samplePayload({ now: 0 });
  const mine: Updates = {
    ...updates,
    name: { before: null, after: 'A ApS' },
    ownership: { added: [owner], removed: [], changed: [] },
  };
  return payloadOf(ENTITY, '2026-03-02T06:00:00.000Z', mine);
}

const bankrupt = reported(
  { name: { before: 'A ApS', after: 'B ApS' }, status: { before: 'NORMAL', after: 'UNDER KONKURS' } },
  8,
);
const sold = reported(
  { name: { before: 'B ApS', after: 'C ApS' }, ownership: { added: [], removed: [owner], changed: [] } },
  9,
);

const link = async (store: Store, recordId: string, entity: string) =>
  store.write((tx) => linkRecord(tx, { provider: 'hubspot', recordId, entity, sendUpdate: false, now: Date.now() }));

/** What waits in these queues, or is being worked on. */
async function behind({ db }: Store): Promise<readonly string[]> {
  const arrives = await hasArrivals(db);
  const lanes = await db
    .selectFrom('lane')
    .selectAll()
    .where('queue', 'in', ['apply', ...QUEUES])
    .execute();
  const waiting = lanes.map(({ queue, key, error }) => `${queue} ${key} ${error ?? ''}`.trim());
  return arrives ? ['arrivals', ...waiting] : waiting;
}

/** The queues of which a daemon has a lane in hand. */
async function claimedQueues({ db }: Store): Promise<ReadonlySet<string>> {
  const lanes = await db.selectFrom('lane').select('queue').where('fence', 'is not', null).execute();
  return new Set(lanes.map(({ queue }) => queue));
}

/** Every value that history says was written to the name, in order. */
async function names({ db }: Store, recordId: string): Promise<readonly (string | null)[]> {
  const written = (await historyLines(db)).filter(
    ({ record_id, property, outcome }) => record_id === recordId && property === 'name' && outcome === 'written',
  );
  return written.map(({ old, now }) => `${JSON.stringify(old)} -> ${JSON.stringify(now)}`);
}

interface Step {
  readonly step: string;
  /** The calls at which the daemon is frozen, one of each at least, and whether the CRM or the service has done what they ask. */
  readonly calls: readonly RegExp[];
  readonly when: 'before' | 'after';
  /** Whether the held calls arrive only when the other daemon has done its work. */
  readonly late: boolean;
  readonly history: readonly string[];
}

const STEPS: readonly Step[] = [
  {
    step: 'before the answers to its reads',
    calls: [/batch\/read$/, /^POST .*thirdparty/],
    when: 'after',
    late: false,
    history: ['"A ApS" -> "C ApS"'],
  },
  {
    step: 'between what its writes did and their answers',
    calls: [/batch\/update$/, /\/notes$/, /^PUT .*associations/, /^POST .*thirdparty/],
    when: 'after',
    late: false,
    history: ['"A ApS" -> "B ApS"', '"B ApS" -> "C ApS"'],
  },
  {
    step: 'with writes under way that arrive after those of the other',
    calls: [/batch\/update$/, /^PUT .*associations/, /^POST .*thirdparty/],
    when: 'before',
    late: true,
    history: ['"A ApS" -> "C ApS"', '"C ApS" -> "B ApS"', '"B ApS" -> "C ApS"'],
  },
];

/** Where the other daemon took the lane over before it heard of C, it wrote B first, and had every right to. */
function joined(steps: readonly (string | null)[], history: readonly string[]): readonly (string | null)[] {
  const [first, second, ...rest] = steps;
  const isTwo = first === '"A ApS" -> "B ApS"' && second === '"B ApS" -> "C ApS"';
  return isTwo && history[0] === '"A ApS" -> "C ApS"' ? ['"A ApS" -> "C ApS"', ...rest] : steps;
}

test.each(STEPS)(
  'frozen $step, the daemon spoils nothing: properties, note, parent and monitoring end exact',
  {
    timeout: 180_000,
  },
  async ({ calls, when, late, history }) => {
    const [crms, service] = [await startCrms(), await serveService()];
    const [crm, upstream] = [await holdingProxy(crms.hubspot.url), await holdingProxy(service.url)];
    const url = await newStoreUrl('postgres');
    await (await openStore(url)).close();
    const store = await watchStore(url);
    const config = configFor(crms, url, {
      leaseSeconds: 5,
      connections: { hubspot: { baseUrl: crm.url, notes: ['status'], parent: true } },
      upstream: { baseUrl: upstream.url, accessKey: service.accessKey, requestsPerMinute: 6_000 },
    });
    const [child, parent, third] = ['A ApS', 'D ApS', 'E ApS'].map((name) => crms.hubspot.add({ name }));
    if (child === undefined || parent === undefined || third === undefined) throw new Error('there are three records');
    const first = await daemonWith(config);
    await first.start();
    await link(store, child, ENTITY);
    await postWebhook(`${first.url}/webhook`, whole());
    await expect.poll(() => behind(store), WAITING).toEqual([]);

    const holds = calls.flatMap((call) => [crm, upstream].map((server) => server.hold(call, when)));
    const held = () => holds.flatMap((hold) => hold.held);
    const expected = QUEUES.filter((queue) => !late || queue !== 'note:hubspot');
    const missing = async () => {
      const claimed = await claimedQueues(store);
      return [
        ...calls.filter((call) => !held().some((one) => call.test(one))).map(String),
        ...expected.filter((queue) => !claimed.has(queue)),
      ];
    };
    await link(store, parent, OTHER);
    await link(store, third, THIRD);
    await postWebhook(`${first.url}/webhook`, bankrupt);
    await expect.poll(missing, WAITING).toEqual([]);
    first.signal('SIGSTOP');
    for (const hold of holds) {
      hold.stop();
      if (!late) hold.release();
    }

    const second = await daemonWith(config);
    await second.start();
    await postWebhook(`${second.url}/webhook`, sold);
    const unlinked = {
      provider: 'hubspot',
      recordId: third,
      state: 'removed',
      reason: 'asked',
      now: Date.now(),
    } as const;
    await store.write((tx) => endLink(tx, unlinked));
    await expect.poll(() => behind(store), WAITING).toEqual([]);
    for (const hold of holds) hold.release();
    first.signal('SIGCONT');

    const lost = () => [
      ...new Set(
        first.log.filter((line) => line.includes('process froze')).map((line) => String(JSON.parse(line).queue)),
      ),
    ];
    await expect
      .poll(
        () =>
          lost()
            .filter((queue) => expected.includes(queue))
            .sort(),
        WAITING,
      )
      .toEqual(expected);
    await expect.poll(() => behind(store), WAITING).toEqual([]);
    expect(crms.hubspot.get(child)).toMatchObject({ name: 'C ApS', cvr_name: 'C ApS' });
    expect(crms.hubspot.notes(child)).toHaveLength(1);
    expect(crms.hubspot.parent(child)).toBeNull();
    expect(service.items('hubspot').toSorted()).toEqual([`${ENTITY} ${child}`, `${OTHER} ${parent}`].sort());
    expect(joined(await names(store, child), history)).toEqual(history);
    expect(await (await fetch(`${first.adminUrl}/metrics`)).text()).toMatch(/cvrsync_lease_lost_total [3-9]/);
  },
);
