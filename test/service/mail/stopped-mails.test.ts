/** Recipients who get no mail of a monitor: they unsubscribed, or the mail server refuses them or our sender. */
import { describe, expect, test } from 'vitest';
import { conditionsOf } from '../../../src/alerts/conditions.ts';
import { observe } from '../../../src/alerts/observe.ts';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { causeOf } from '../../../src/service/mail/refusal.ts';
import { endMail, readMailStop, readStoppedMails, resumeMail } from '../../../src/service/mail/stopped-mails.ts';
import { updateMonitor } from '../../../src/service/monitors/monitors.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { addMonitor, MONITOR, mailRows, mailWorker, secrets, tell } from './fixture.ts';
import { refusal, startMailServer } from './mail-server.ts';

const GONE = 'Gone@example.dk';
const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 2, 9);

/** A mail server that answers every recipient so, and a monitor that tells one of them of changes. */
async function refused(engine: (typeof ENGINES)[number], answer: { text: string | undefined }) {
  const store = await newStore(engine);
  let [asked, now] = [0, START];
  const office = await startMailServer({
    onRcptTo: (_address, _session, done) => {
      asked += 1;
      done(answer.text === undefined ? undefined : refusal(550, answer.text));
    },
  });
  await addMonitor(store);
  const { worker, logged } = mailWorker(store, office.url, () => now);
  return {
    store,
    office,
    logged,
    asked: () => asked,
    now: () => now,
    /** A change is told, after so long. */
    async tellAfter(ms: number) {
      now += ms;
      await tell(store, now, { recipients: [GONE] });
      await worker.drained();
    },
    stopped: () => readStoppedMails(store.db, MONITOR),
    review: () => readReview(store.db, now, { kinds: ['mail'] }),
    alerts: async () => conditionsOf(await observe(store, now, 100), THRESHOLDS, now).map(({ key }) => key),
    worker,
  };
}
const THRESHOLDS = { reviewOver: 100, registerBehindMinutes: 60 };
const NO_SUCH_USER = '5.1.1 No such user here';

describe.each(SUITE_ENGINES)('a refusal of an address, on %s', (engine) => {
  test('is in review and alerts from the first one on, and ends the mail only after days', async () => {
    const { tellAfter, asked, stopped, review, alerts, store } = await refused(engine, { text: NO_SUCH_USER });
    await tellAfter(0);
    expect(await stopped()).toMatchObject([{ recipient: 'gone@example.dk', refusals: 1, retryAt: START + DAY }]);
    expect(await review()).toMatchObject([
      { id: `mail/${MONITOR}`, reason: expect.stringContaining('1 address'), verbs: ['retry', 'drop'] },
    ]);
    expect(await alerts()).toEqual([`mail:${MONITOR}`]);
    // Many changes within a day are one try.
    await tellAfter(DAY / 2);
    expect(asked()).toBe(1);
    for (const _ of [1, 2]) await tellAfter(DAY);
    expect([asked(), (await mailRows(store)).filter(({ failed_at }) => failed_at !== null)]).toEqual([3, []]);
    await tellAfter(DAY);
    expect(await stopped()).toMatchObject([{ refusals: 4, retryAt: null, bounced: expect.stringContaining('5.1.1') }]);
    expect((await mailRows(store)).every(({ failed_at }) => failed_at !== null)).toBe(true);
    expect(await review()).toMatchObject([{ reason: expect.stringContaining('has ended') }]);
    // Nothing more is queued, nor asked.
    const queued = (await mailRows(store)).length;
    await tellAfter(DAY);
    expect([asked(), (await mailRows(store)).length]).toEqual([4, queued]);
  });

  test('is deleted once the address accepts mail, and what waited arrives', async () => {
    const answer: { text: string | undefined } = { text: NO_SUCH_USER };
    const { tellAfter, office, stopped, review, alerts } = await refused(engine, answer);
    await tellAfter(0);
    await tellAfter(DAY);
    answer.text = undefined;
    await tellAfter(DAY);
    expect(office.mails).toHaveLength(1);
    expect([await stopped(), await review(), await alerts()]).toEqual([[], [], []]);
  });

  test('is answered in review: retry sends at once, drop ends the mail', async () => {
    const answer: { text: string | undefined } = { text: NO_SUCH_USER };
    const { tellAfter, office, stopped, review, store, now, worker } = await refused(engine, answer);
    await tellAfter(0);
    const resolve = (verb: 'retry' | 'drop') => store.write((tx) => resolveReview(tx, verb, `mail/${MONITOR}`, now()));
    expect(await resolve('retry')).toMatchObject({ kind: 'done' });
    await worker.drained();
    expect(await stopped()).toMatchObject([{ refusals: 1 }]);
    expect(await resolve('drop')).toMatchObject({ kind: 'done' });
    await worker.drained();
    expect(await stopped()).toMatchObject([{ retryAt: null }]);
    expect(await review()).toEqual([]);
    expect((await mailRows(store))[0]).toMatchObject({ failed_at: expect.any(Number) });
    expect(office.mails).toEqual([]);
  });

  test('is deleted once the address is no longer a recipient', async () => {
    const { tellAfter, stopped, store, now } = await refused(engine, { text: NO_SUCH_USER });
    await tellAfter(0);
    await store.write((tx) => updateMonitor(tx, MONITOR, { emails: ['bo@example.dk'] }, { secrets, now: now() }));
    expect(await stopped()).toEqual([]);
  });
});

describe('a refusal of the sender', () => {
  test.each([
    '5.1.8 <vagt@example.dk>: Sender address rejected: Domain not found',
    '5.1.7 Bad sender address syntax',
    'Sender verify failed',
    '5.1.1 <vagt@example.dk>: Sender address rejected: undeliverable address',
    '5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    'rejected because 192.0.2.1 is in a black list at rbl.example',
    'sorry, your envelope sender is in my badmailfrom list (#5.7.1)',
    '5.7.1 Relaying denied',
    '5.7.26 Unauthenticated mail',
    'relay not permitted',
  ])('is an outage, and ends nothing: %s', async (text) => {
    const answer: { text: string | undefined } = { text };
    const { tellAfter, stopped, review, alerts, store, office, logged, worker } = await refused('sqlite', answer);
    await tellAfter(0);
    expect(await stopped()).toEqual([]);
    expect((await mailRows(store))[0]).toMatchObject({ failed_at: null });
    expect(await alerts()).toEqual(['mail:sender']);
    const [entry] = await review();
    expect(entry?.reason).toContain('the mail server refuses the sender');
    expect(entry?.reason).not.toContain('vagt@');
    expect(logged).toMatchObject([{ message: expect.stringContaining('refuses the sender') }]);
    answer.text = undefined;
    await tellAfter(20 * 60_000);
    await worker.drained();
    expect(office.mails).toHaveLength(1);
    expect([await alerts(), await review()]).toEqual([[], []]);
  });
});

test.each([
  ['550 5.1.1 <bob@b.dk>: Recipient address rejected: User unknown in relay recipient table', 'address'],
  ['550 No such user here', 'address'],
  ['550 5.2.1 Mailbox disabled', 'address'],
  ['550 sorry, no mailbox here by that name (#5.1.1 - chkusr)', 'address'],
  ['550 5.1.10 RESOLVER.ADR.RecipientNotFound', 'address'],
  ['552 5.2.2 Mailbox full', 'mail'],
  ['554 5.6.0 Looks like spam', 'mail'],
  ['550 5.4.1 Recipient address rejected: Access denied', 'mail'],
  ['550 Requested action not taken: mailbox unavailable\nReject due to policy restrictions', 'sender'],
] as const)('the reply %j is about the %s', (reply, cause) => {
  expect(causeOf(reply)).toBe(cause);
});

describe.each(SUITE_ENGINES)('a recipient whose mail ended, on %s', (engine) => {
  test('gets mail again once somebody resubscribes it, and keeps the first reason until then', async () => {
    const store = await newStore(engine);
    await addMonitor(store);
    await store.write((tx) => endMail(tx, MONITOR, GONE, { now: 5 }));
    await store.write((tx) => endMail(tx, MONITOR, GONE, { now: 6, bounced: '550 no' }));
    expect(await readStoppedMails(store.db, MONITOR)).toEqual([
      { recipient: 'gone@example.dk', at: 5, bounced: null, refusals: 0, retryAt: null },
    ]);
    expect(await store.write((tx) => resumeMail(tx, MONITOR, 'GONE@example.dk', 7))).toBe(true);
    expect(await readMailStop(store.db, MONITOR, GONE, 9)).toBeUndefined();
    expect(await store.write((tx) => resumeMail(tx, MONITOR, GONE, 8))).toBe(false);
  });
});
