import { describe, expect, onTestFinished, test } from 'vitest';
import { type EmulatorAnswer, serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { startWorker } from '../../../src/runtime/worker.ts';
import { type GazetteDeps, pollGazette } from '../../../src/service/feeds/gazette.ts';
import { pollTask } from '../../../src/service/feeds/poll.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { articles, everything, know, noticeDeps } from '../news/notices.ts';

const DECREE = '14a1d71df21558e5ade0214f90482cdc';
const CLAIMS = '24295ca1259a5876ba7bf8ef496feed6';

interface Notice {
  readonly number: string;
  readonly day: string;
  readonly kind?: string;
  readonly title?: string;
  readonly cvr?: string;
  readonly summary?: readonly { name: string; value: string }[];
  readonly groups?: readonly { name: string; fields: readonly { name: string; value: string }[] }[];
  readonly document?: unknown;
  readonly section?: string;
}

const field = (name: string, value: string) => ({ name, value, type: 'text' });
const debtor = (name: string, cvr: string) => ({
  name: 'Skyldner(e)',
  fields: [field('Navn', name), field('CVR-nr.', cvr), field('Adresse', 'Prøvegade 4'), field('By', 'Aarhus C')],
});
const court = {
  name: 'Skifteret',
  fields: [field('Skifteret', 'Skifteretten i Eksempelby'), field('Sagsnummer', 'SKS 99-1/2026')],
};

/** The gazette's site, with what a test has it publish. */
async function gazette(notices: Notice[]) {
  const pageSize = 2;
  const emulator = await serveEmulator(({ url }): EmulatorAnswer => {
    if (url.pathname === '/api/messagesearch') {
      const { m, fromDate, toDate, page } = Object.fromEntries(url.searchParams);
      const found = notices.filter(
        ({ kind = DECREE, day }) => kind === m && day >= (fromDate ?? '') && day <= (toDate ?? ''),
      );
      const at = Number(page) * pageSize;
      return {
        status: 200,
        body: {
          pageCount: Math.ceil(found.length / pageSize),
          resultCount: found.length,
          results: found
            .slice(at, at + pageSize)
            .map(({ number, day, title = 'Uden titel', cvr, summary, section }) => ({
              sectionName: section ?? 'Konkursboer',
              messageNumber: number,
              published: `${day}T00:00:00`,
              title,
              summary: summary ?? (cvr === undefined ? [] : [{ name: 'CVR-nr.', value: cvr }]),
            })),
        },
      };
    }
    const notice = notices.find(({ number }) => url.pathname === `/api/message/${number}`);
    if (notice === undefined) return { status: 404 };
    const { number, title = 'Uden titel', cvr = '', groups = [debtor(title, cvr), court] } = notice;
    return {
      status: 200,
      body: { messageNumber: number, title, document: notice.document ?? JSON.stringify({ fieldgroups: groups }) },
    };
  });
  onTestFinished(() => emulator.close());
  const fetched = () => emulator.calls.map(({ path }) => path).filter((path) => path.startsWith('/api/message/'));
  return { ...emulator, fetched };
}

const settingsOf = (baseUrl: string): GazetteDeps['settings'] => ({
  baseUrl,
  pollSeconds: 1_800,
  gazetteProvider: 'Gazette',
  callsPerSecond: 1_000,
});
const stays = new AbortController().signal;
/** Goes on from the time it was set to: the pace of calls is kept by it. */
const clockAt = (text: string) => {
  let ahead = Date.parse(text) - Date.now();
  return {
    now: () => Date.now() + ahead,
    set(next: string) {
      ahead = Date.parse(next) - Date.now();
    },
  };
};

describe.each(SUITE_ENGINES)('the gazette on %s', (engine) => {
  test('a notice becomes an article about its company, once, with news of it', async () => {
    const store = await newStore(engine);
    await know(store, 'CVR-1-99000011', 'Papirtiger Software A/S');
    const site = await gazette([
      { number: 'S21112026-1', day: '2026-11-21', title: 'PAPIRTIGER SOFTWARE A/S', cvr: '99000011' },
      { number: 'S21112026-2', day: '2026-11-21', kind: CLAIMS, title: 'Luftkastel <Byg> ApS', cvr: '99 00 00 22' },
    ]);
    const clock = clockAt('2026-11-21T10:00:00Z');
    const deps = noticeDeps(store, clock.now, settingsOf(site.url));
    await pollGazette(deps, stays);
    await pollGazette(deps, stays);

    const [first, second, ...more] = await articles(store);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      id: 'gazette S21112026-1 99000011',
      entity: 'CVR-1-99000011',
      name: 'Papirtiger Software A/S',
      kind: 'article',
      timestamp: '2026-11-20T23:00:00.000Z',
      article: {
        source: 'Gazette',
        headline: 'Konkursdekret: PAPIRTIGER SOFTWARE A/S',
        tagline: 'Skifteretten i Eksempelby',
        time: '2026-11-20T23:00:00.000Z',
        link: `${site.url}/messages/S21112026-1`,
      },
    });
    expect(second).toMatchObject({ entity: 'CVR-1-99000022', name: 'Luftkastel <Byg> ApS' });
    expect(second?.article.content).toContain('<li>Navn: Luftkastel &lt;Byg&gt; ApS</li>');
    expect(second?.article.content).toContain('SKS 99-1/2026');
    expect(second?.article.content).not.toContain('Prøvegade');
    const items = await store.db.selectFrom('news').select('type').execute();
    expect(items).toEqual([{ type: 400 }, { type: 400 }]);
    expect(site.fetched()).toHaveLength(2);
    expect(deps.rings()).toBe(2);
  });

  test('resumes where it stopped, over days without notices, and includes late notices', async () => {
    const store = await newStore(engine);
    const notices: Notice[] = [{ number: 'OLD-1', day: '2026-11-20', cvr: '99000011' }];
    const site = await gazette(notices);
    const clock = clockAt('2026-11-21T10:00:00Z');
    const deps = noticeDeps(store, clock.now, settingsOf(site.url));
    const told = async () => (await articles(store)).map(({ id }) => id.split(' ')[1]);
    await pollGazette(deps, stays);
    expect(await told()).toEqual([]);
    for (let number = 1; number <= 5; number++)
      notices.push({ number: `N-${number}`, day: '2026-11-24', cvr: '99000011' });
    clock.set('2026-12-02T10:00:00Z');
    await pollGazette(deps, stays);
    expect(await told()).toEqual(['N-1', 'N-2', 'N-3', 'N-4', 'N-5']);
    notices.unshift({ number: 'LATE', day: '2026-11-30', cvr: '99000011' });
    clock.set('2026-12-02T10:30:00Z');
    await pollGazette(deps, stays);
    expect(await told()).toEqual(['N-1', 'N-2', 'N-3', 'N-4', 'N-5', 'LATE']);
    const kept = await store.db.selectFrom('kv').select('value').where('key', '=', 'news gazette').executeTakeFirst();
    expect(JSON.parse(kept?.value ?? '')).toEqual({ from: '2026-11-29', seen: { LATE: '2026-11-30' } });
  });

  test('stores nothing of a notice without a company, and no personal number', async () => {
    const store = await newStore(engine);
    const person = { name: 'Skyldner(e)', fields: [field('Navn', 'Skitse Nulrup'), field('CPR-nr.', '010190-1234')] };
    const firm = {
      name: 'Skyldner(e)',
      fields: [
        field('Navn', 'Skitse Blankær v/ Dumma'),
        field('CPR-nr.', '020291-2345'),
        field('CVR-nr.', '99000033'),
        field('Fødselsdato', '02.02.91'),
      ],
    };
    const lawyer = {
      name: 'Kurator',
      fields: [
        field('Navn', 'Advokat Papir'),
        field('CVR-nr.', '99000044'),
        field('Note', 'se 030392-3456 og 0303923456'),
      ],
    };
    const site = await gazette([
      {
        number: 'P-1',
        day: '2026-11-21',
        title: 'Skitse Nulrup',
        summary: [field('CPR-nr.', '010190-1234')],
        groups: [person],
      },
      { number: 'P-2', day: '2026-11-21', title: 'Skitse Nulrup', groups: [person, lawyer] },
      { number: 'P-3', day: '2026-11-21', title: 'Firma 020291-2345', groups: [firm, lawyer] },
    ]);
    const deps = noticeDeps(store, clockAt('2026-11-21T10:00:00Z').now, settingsOf(site.url));
    await pollGazette(deps, stays);
    expect((await articles(store)).map(({ entity }) => entity)).toEqual(['CVR-1-99000033']);
    // What a search already shows to be a person's is not even fetched.
    expect(site.fetched()).toEqual(['/api/message/P-2', '/api/message/P-3']);
    const stored = await everything(store);
    expect(stored).toContain('Skitse Blankær');
    expect(stored).not.toMatch(/010190|020291|030392|02\.02\.91|Nulrup/);
    await pollGazette(deps, stays);
    expect(site.fetched()).toHaveLength(2);
  });
});

test('several companies in one notice get an article each', async () => {
  const store = await newStore('sqlite');
  const both = {
    name: 'Skyldner(e)',
    fields: [
      field('Navn', 'Et ApS'),
      field('CVR-nr.', '99000011'),
      field('Navn', 'To ApS'),
      field('CVR-nr.', '99000022'),
    ],
  };
  const site = await gazette([{ number: 'M-1', day: '2026-11-21', title: 'Et ApS m.fl.', groups: [both] }]);
  await pollGazette(noticeDeps(store, clockAt('2026-11-21T10:00:00Z').now, settingsOf(site.url)), stays);
  expect((await articles(store)).map(({ entity, name }) => [entity, name])).toEqual([
    ['CVR-1-99000011', 'Et ApS'],
    ['CVR-1-99000022', 'To ApS'],
  ]);
});

test('a notice that is unreadable, of another section, or without a valid number delays no other and is retried', async () => {
  const store = await newStore('sqlite');
  const notices: Notice[] = [
    { number: '../evil', day: '2026-11-21', cvr: '99000011' },
    { number: 'B-1', day: '2026-11-21', cvr: '99000011', document: '{"fieldgroups":[' },
    { number: 'B-2', day: 'someday', cvr: '99000011' },
    { number: 'B-4', day: '2026-11-21', cvr: '99000011', section: 'Dødsboer' },
    { number: 'B-3', day: '2026-11-21', cvr: '99000011' },
  ];
  const site = await gazette(notices);
  const deps = noticeDeps(store, clockAt('2026-11-21T10:00:00Z').now, settingsOf(site.url));
  await pollGazette(deps, stays);
  expect((await articles(store)).map(({ id }) => id)).toEqual(['gazette B-3 99000011']);
  expect(deps.warnings).toHaveLength(1);
  expect(site.fetched()).toEqual(['/api/message/B-1', '/api/message/B-3']);
  notices[1] = { number: 'B-1', day: '2026-11-21', cvr: '99000011' };
  await pollGazette(deps, stays);
  expect((await articles(store)).map(({ id }) => id)).toEqual(['gazette B-3 99000011', 'gazette B-1 99000011']);
});

test('an outage during a poll keeps the published notices, and the rest follows at the next poll', async () => {
  const store = await newStore('sqlite');
  const notices = Array.from({ length: 3 }, (_, at) => ({ number: `N-${at}`, day: '2026-11-21', cvr: '99000011' }));
  const site = await gazette(notices);
  const deps = noticeDeps(store, clockAt('2026-11-21T10:00:00Z').now, settingsOf(site.url));
  site.fault({ match: 'GET /api/message/N-1', action: { kind: 'status', status: 503 } });
  await expect(pollGazette(deps, stays)).rejects.toThrow('the gazette was answered with 503');
  expect(await articles(store)).toHaveLength(1);
  site.fault({ match: 'GET /api/messagesearch', action: { kind: 'cut' } });
  await expect(pollGazette(deps, stays)).rejects.toThrow('cut off');
  site.fault({ match: 'GET /api/messagesearch', action: { kind: 'status', status: 200, body: '<html>' } });
  await expect(pollGazette(deps, stays)).rejects.toThrow('no search result');
  await pollGazette(deps, stays);
  expect(await articles(store)).toHaveLength(3);
  expect(site.fetched().filter((path) => path.endsWith('N-0'))).toHaveLength(1);
});

test('the lane of the gazette waits as long as the gazette asks for, and then polls regularly', async () => {
  const store = await newStore('sqlite');
  const site = await gazette([]);
  const clock = clockAt('2026-11-21T10:00:00Z');
  const deps = noticeDeps(store, clock.now, settingsOf(site.url));
  site.fault({ match: 'messagesearch', action: { kind: 'status', status: 429, headers: { 'retry-after': '7200' } } });
  await store.write((tx) => mark(tx, 'watch', ['gazette'], clock.now()));
  const worker = startWorker({
    store,
    wakeUp: createWakeUp(),
    queue: 'watch',
    batch: 1,
    concurrency: 1,
    now: clock.now,
    log: { error: () => undefined },
    run: async ([claim], signal) => {
      if (claim !== undefined) await pollTask(deps, pollGazette)(claim, signal);
    },
  });
  onTestFinished(() => worker.stop(100));
  const due = async () => {
    const row = await store.db.selectFrom('lane').select(['due_at', 'attempts']).executeTakeFirstOrThrow();
    return { at: new Date(row.due_at ?? 0).toISOString().slice(0, 16), attempts: row.attempts };
  };
  await worker.drained();
  expect(await due()).toEqual({ at: '2026-11-21T12:00', attempts: 1 });
  clock.set('2026-11-21T12:01:00Z');
  await worker.drained();
  expect(await due()).toEqual({ at: '2026-11-21T12:31', attempts: 0 });
});

test('the gazette is called at most once a second', async () => {
  const store = await newStore('sqlite');
  const site = await gazette([]);
  const { callsPerSecond: _, ...settings } = settingsOf(site.url);
  const stop = new AbortController();
  const started = Date.now();
  const polling = pollGazette(noticeDeps(store, Date.now, settings), stop.signal).catch(() => undefined);
  await expect.poll(() => site.calls.length).toBeGreaterThanOrEqual(3);
  stop.abort();
  await polling;
  expect((site.calls[2]?.at ?? 0) - started).toBeGreaterThan(1_900);
});
