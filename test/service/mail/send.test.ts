import { describe, expect, test, vi } from 'vitest';
import { queueNotice } from '../../../src/service/mail/queue.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { addMonitor, MONITOR, mailRows, mailWorker, tell } from './fixture.ts';
import { startMailServer } from './mail-server.ts';

const at = (text: string): number => Date.parse(text);

/** A clock that stands until it is set. */
function stillClock(text: string) {
  let now = at(text);
  return {
    now: () => now,
    set(next: string) {
      now = at(next);
    },
  };
}

describe.each(SUITE_ENGINES)('mail on %s', (engine) => {
  test('has all open changes in one immediate mail, and marks them as sent', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    await tell(store, Date.now());
    await tell(store, Date.now(), {
      entity: 'CVR-1-99000002',
      name: 'Eksempelhavn Bageri A/S',
      updates: { phoneNumber: { before: '11111111', after: '22222222' }, fax: { before: '1', after: '2' } },
      events: ['phoneNumber'],
    });
    const { worker } = mailWorker(store, office.url, Date.now);
    await worker.drained();

    expect(office.mails).toHaveLength(1);
    const [mail] = office.mails;
    expect(mail?.from).toBe('vagt@example.dk');
    expect(mail?.to).toEqual(['bo@example.dk']);
    expect(mail?.headers.get('to')).toBe('bo@example.dk');
    expect(mail?.headers.get('from')).toBe('CVR-overvågning <vagt@example.dk>');
    expect(mail?.headers.get('subject')).toBe('2 ændringer i 2 virksomheder: Kunder i Jylland');
    expect(mail?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(mail?.headers.get('list-unsubscribe')).toMatch(/^<https:\/\/sync\.example\.dk\/unsubscribe\?token=\S+>$/);
    expect(mail?.text).toContain('Telefon: 11111111 → 22222222');
    expect(mail?.text).not.toContain('Telefax');
    expect(mail?.html).toContain('https://register.example.dk/enhed/virksomhed/99000001');
    const rows = await mailRows(store);
    expect(rows.every(({ sent_at, failed_at }) => sent_at !== null && failed_at === null)).toBe(true);
    expect(mail?.headers.get('message-id')).toBe(`<${rows[0]?.message}@example.dk>`);
    expect(await store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
  });

  test('recipients and monitors get separate mails', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    await addMonitor(store, 'other', 'Leverandører');
    await tell(store, Date.now(), { recipients: ['bo@example.dk', 'ida@example.dk'] });
    await tell(store, Date.now(), { monitor: 'other' });
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect(office.mails.map(({ to }) => to.join()).sort()).toEqual([
      'bo@example.dk',
      'bo@example.dk',
      'ida@example.dk',
    ]);
  });

  test('a daily mail waits for its hour, also over the start of summer time', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    const clock = stillClock('2026-03-28T12:00:00Z');
    await tell(store, clock.now(), { frequency: 'daily' });
    const { worker } = mailWorker(store, office.url, clock.now);
    await worker.drained();
    clock.set('2026-03-29T04:59:59Z');
    await tell(store, clock.now(), { frequency: 'daily', entity: 'CVR-1-99000002', name: 'Fiktivby El ApS' });
    await worker.drained();
    expect(office.mails).toHaveLength(0);
    // 07:00 in Copenhagen is 05:00 UTC from this morning on, an hour earlier than yesterday.
    clock.set('2026-03-29T05:00:00Z');
    await vi.waitFor(() => expect(office.mails).toHaveLength(1), 120_000);
    expect(office.mails[0]?.text).toContain('Fiktivby El ApS');
    await worker.drained();
    expect(await store.db.selectFrom('lane').selectAll().execute()).toEqual([]);

    // What comes after the hour waits for the next, and in October that is an hour later again.
    clock.set('2026-10-24T05:00:01Z');
    await tell(store, clock.now(), { frequency: 'daily' });
    clock.set('2026-10-25T05:59:59Z');
    await worker.drained();
    expect(office.mails).toHaveLength(1);
    clock.set('2026-10-25T06:00:00Z');
    await vi.waitFor(() => expect(office.mails).toHaveLength(2), 120_000);
  });

  test('a queued digest is sent at once if its monitor becomes immediate', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    const clock = stillClock('2026-06-01T12:00:00Z');
    await tell(store, clock.now(), { frequency: 'daily' });
    await tell(store, clock.now(), { entity: 'CVR-1-99000002', name: 'Demodal Byg ApS' });
    const { worker } = mailWorker(store, office.url, clock.now);
    await worker.drained();
    expect(office.mails.map(({ text }) => text.includes('Demodal'))).toEqual([true]);
    expect((await mailRows(store)).map(({ sent_at }) => sent_at !== null)).toEqual([false, true]);
    clock.set('2026-06-02T05:00:00Z');
    await vi.waitFor(() => expect(office.mails).toHaveLength(2), 120_000);
  });

  test('a notice is sent at once, alone, with its own text', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    await tell(store, Date.now());
    await store.write((tx) =>
      queueNotice(
        tx,
        {
          monitor: MONITOR,
          recipients: ['bo@example.dk'],
          subject: 'Webhook svarer ikke',
          text: 'Første afsnit.\n\nAndet <afsnit>.',
        },
        Date.now(),
      ),
    );
    await mailWorker(store, office.url, Date.now).worker.drained();
    const notice = office.mails.find(({ headers }) => headers.get('subject') === 'Webhook svarer ikke');
    expect(office.mails).toHaveLength(2);
    expect(notice?.text).toContain('Første afsnit.\n\nAndet <afsnit>.');
    expect(notice?.html).toContain('Andet &lt;afsnit&gt;.');
  });

  test('a mail that may have been sent is repeated unchanged, without later changes', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    await tell(store, Date.now());
    // The process ended between the mail server's answer and the mark.
    await store.write((tx) => tx.updateTable('mail').set({ message: 'kept' }).execute());
    await tell(store, Date.now(), { entity: 'CVR-1-99000002', name: 'Demodal Byg ApS' });
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect(office.mails.map(({ headers }) => headers.get('message-id'))).toEqual([
      '<kept@example.dk>',
      expect.not.stringContaining('kept'),
    ]);
    expect(office.mails.map(({ text }) => text.includes('Demodal'))).toEqual([false, true]);
  });

  test('a recipient who unsubscribed later, or whose monitor is gone, gets nothing', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    await tell(store, Date.now(), { recipients: ['bo@example.dk', 'ida@example.dk'] });
    await tell(store, Date.now(), { monitor: 'gone' });
    await store.write((tx) =>
      tx.insertInto('unsubscribed').values({ monitor: MONITOR, recipient: 'bo@example.dk', at: 1 }).execute(),
    );
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect(office.mails.map(({ to }) => to.join())).toEqual(['ida@example.dk']);
    expect((await mailRows(store)).map(({ error }) => error)).toEqual([
      'unsubscribed',
      null,
      'the monitor was removed',
    ]);
  });

  test('nothing waits without a mail server: notices are logged, changes given up', async () => {
    const store = await newStore(engine);
    await addMonitor(store);
    await tell(store, Date.now());
    await store.write((tx) =>
      queueNotice(
        tx,
        { monitor: MONITOR, recipients: ['a@x.dk'], subject: 'Webhook svarer ikke', text: 't' },
        Date.now(),
      ),
    );
    const { worker, logged } = mailWorker(store, undefined, Date.now);
    await worker.drained();
    expect(logged.map(({ message }) => message)).toEqual(['Webhook svarer ikke']);
    expect((await mailRows(store)).map(({ error }) => error)).toEqual(Array(2).fill('no mail server is configured'));
    expect(await store.db.selectFrom('lane').selectAll().execute()).toEqual([]);
  });

  test('thousands of changes make one mail of bounded size that counts the rest', async () => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await addMonitor(store);
    for (let index = 0; index < 400; index++)
      await tell(store, Date.now(), { entity: `CVR-1-${99_000_000 + index}`, name: `Selskab ${index} ApS` });
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect(office.mails).toHaveLength(1);
    expect(office.mails[0]?.headers.get('subject')).toBe('400 ændringer: Kunder i Jylland');
    expect(office.mails[0]?.text).toContain('Og 350 ændringer mere');
    expect((await mailRows(store)).filter(({ sent_at }) => sent_at !== null)).toHaveLength(400);
  });
});
