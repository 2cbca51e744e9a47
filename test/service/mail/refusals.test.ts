import { describe, expect, test, vi } from 'vitest';
import { USUAL_DIGEST } from '../../../src/service/mail/digest-hour.ts';
import { handClock, stillClock } from '../../support/clock.ts';
import { newStore } from '../../support/stores.ts';
import { addMonitor, mailRows, mailWorker, tell } from './fixture.ts';
import { refusal, startMailServer } from './mail-server.ts';

/** As long as whatever else is awaited: by itself `vi.waitFor` gives up after a second. */
const soon = { timeout: 120_000, interval: 20 };

describe('a mail server that', () => {
  test('refuses one recipient permanently stops no mail of the others', async () => {
    const store = await newStore('sqlite');
    const office = await startMailServer({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('gone') ? refusal(550, '5.1.1 No such user here') : undefined),
    });
    await addMonitor(store);
    await tell(store, Date.now(), { recipients: ['gone@example.dk', 'ida@example.dk'] });
    const { worker } = mailWorker(store, office.url, Date.now);
    await worker.drained();
    expect(office.mails.map(({ to }) => to.join())).toEqual(['ida@example.dk']);
    const rows = await mailRows(store);
    expect(rows.map(({ sent_at, failed_at }) => [sent_at !== null, failed_at !== null])).toEqual([
      [false, false],
      [true, false],
    ]);
    const [lane] = await store.db.selectFrom('lane').selectAll().execute();
    expect(lane).toMatchObject({ key: expect.stringContaining('gone@'), error: null });
    expect(lane?.due_at).toBeGreaterThan(Date.now() + 86_000_000);
  });

  test('refuses one recipient for now gets that mail again, while others get theirs', async () => {
    const store = await newStore('sqlite');
    const clock = handClock();
    let refusals = 2;
    const office = await startMailServer({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('full') && refusals-- > 0 ? refusal(452, '4.2.2 Mailbox full') : undefined),
    });
    await addMonitor(store);
    await tell(store, clock.now(), { recipients: ['full@example.dk', 'ida@example.dk'] });
    const { worker } = mailWorker(store, office.url, clock.now);
    await worker.drained();
    expect(office.mails.map(({ to }) => to.join())).toEqual(['ida@example.dk']);
    const [lane] = await store.db.selectFrom('lane').selectAll().execute();
    expect(lane).toMatchObject({ attempts: 1, error: expect.stringContaining('Mailbox full') });
    clock.forward(10 * 60_000);
    await vi.waitFor(() => expect(refusals).toBe(0), soon);
    await worker.drained();
    clock.forward(10 * 60_000);
    await vi.waitFor(
      () => expect(office.mails.map(({ to }) => to.join())).toEqual(['ida@example.dk', 'full@example.dk']),
      soon,
    );
  });

  test('answers 421 gets the mail once, after a pause', async () => {
    const store = await newStore('sqlite');
    const clock = handClock();
    let refusals = 3;
    const office = await startMailServer({
      onMailFrom: (_, __, done) => done(refusals-- > 0 ? refusal(421, '4.3.2 Service shutting down') : undefined),
    });
    await addMonitor(store);
    await tell(store, clock.now());
    const { worker, logged } = mailWorker(store, office.url, clock.now);
    for (let refused = 1; refused <= 3; refused++) {
      await vi.waitFor(() => expect(logged.length).toBe(refused), soon);
      expect(office.mails).toHaveLength(0);
      clock.forward(10 * 60_000);
    }
    expect(logged[0]?.details).toMatchObject({ error: expect.stringContaining('421') });
    await vi.waitFor(() => expect(office.mails).toHaveLength(1), soon);
    await worker.drained();
    expect(office.mails).toHaveLength(1);
  });

  test('refuses our sender does not end the mail of a recipient', async () => {
    const store = await newStore('sqlite');
    // Stands still: on a busy machine the second attempt would come before the first was seen.
    const clock = stillClock();
    const office = await startMailServer({
      onMailFrom: (_, __, done) => done(refusal(550, '5.7.1 Sender not allowed')),
    });
    await addMonitor(store);
    await tell(store, clock.now());
    const { logged } = mailWorker(store, office.url, clock.now);
    await vi.waitFor(() => expect(logged.length).toBeGreaterThan(0), soon);
    await vi.waitFor(
      async () => expect((await store.db.selectFrom('lane').selectAll().execute())[0]?.attempts).toBe(1),
      soon,
    );
    expect((await mailRows(store))[0]).toMatchObject({ sent_at: null, failed_at: null });
  });

  test('refuses our password is reported without it, and no mail is given up', async () => {
    const store = await newStore('sqlite');
    const asked: (string | undefined)[] = [];
    let password = 'nyt-kodeord';
    const office = await startMailServer({
      disabledCommands: ['STARTTLS'],
      authMethods: ['PLAIN'],
      onAuth(auth, _, done) {
        asked.push(auth.username);
        if (auth.password === password) done(null, { user: 'vagt' });
        else done(refusal(535, '5.7.8 Authentication failed'));
      },
    });
    await addMonitor(store);
    await tell(store, Date.now());
    const clock = handClock();
    const { logged } = mailWorker(store, `smtp://vagt:gammelt-kodeord@127.0.0.1:${office.port}`, clock.now);
    await vi.waitFor(() => expect(logged.length).toBe(1), soon);
    expect(JSON.stringify(logged)).toContain('Authentication failed');
    expect(JSON.stringify(logged)).not.toContain('kodeord');
    expect((await mailRows(store))[0]).toMatchObject({ sent_at: null, failed_at: null, message: null });
    password = 'gammelt-kodeord';
    clock.forward(10 * 60_000);
    await vi.waitFor(() => expect(office.mails).toHaveLength(1), soon);
    expect(asked).toEqual(['vagt', 'vagt']);
  });

  test('refuses the content loses only that mail', async () => {
    const store = await newStore('sqlite');
    const office = await startMailServer({
      onData(stream, _, done) {
        stream.resume();
        stream.on('end', () => done(refusal(554, '5.6.0 Looks like spam')));
      },
    });
    await addMonitor(store);
    await tell(store, Date.now());
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect((await mailRows(store))[0]?.error).toContain('Looks like spam');
    expect(await store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
  });
});

test.each(['', 'nobody', 'a@b@c', 'Vagt <>', 'x\r\nBcc: y@z.dk'])(
  'the sender %j is refused at the start',
  async (from) => {
    const store = await newStore('sqlite');
    const smtp = { url: 'smtp://127.0.0.1:1', from, ...USUAL_DIGEST };
    expect(() => mailWorker(store, undefined, Date.now, { smtp })).toThrow('service.smtp.from is no address');
  },
);
