/** Unsubscribed and bouncing recipients: no more mail until somebody adds them again. */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { endedReason, endMail, readStoppedMails, resumeMail } from '../../../src/service/mail/stopped-mails.ts';
import { addBounces } from '../../../src/store/migrations/bounce-tables.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { addMonitor, MONITOR, mailRows, mailWorker, tell } from './fixture.ts';
import { refusal, startMailServer } from './mail-server.ts';

const GONE = 'Gone@example.dk';

/** Two changes told to a recipient whom the server refuses; what was queued, and what stands in the way of more. */
async function refusedTwice(answer: string) {
  const store = await newStore('sqlite');
  let asked = 0;
  const office = await startMailServer({
    onRcptTo: (_address, _session, done) => {
      asked += 1;
      done(refusal(550, answer));
    },
  });
  await addMonitor(store);
  const { worker } = mailWorker(store, office.url, Date.now);
  for (let round = 0; round < 2; round += 1) {
    await tell(store, Date.now(), { recipients: [GONE] });
    await worker.drained();
  }
  return { store, asked, rows: await mailRows(store), ended: await readStoppedMails(store.db, MONITOR) };
}

describe('a hard bounce', () => {
  test.each(['5.1.1 No such user here', 'No such user here', '5.2.1 Mailbox disabled'])(
    'stops mail to that address: %s',
    async (answer) => {
      const { store, asked, rows, ended } = await refusedTwice(answer);
      expect([asked, rows.length]).toEqual([1, 1]);
      expect(ended).toMatchObject([{ recipient: 'gone@example.dk', bounced: expect.stringContaining(answer) }]);
      expect(await endedReason(store.db, MONITOR, GONE)).toMatch(/^the address bounced: /u);
    },
  );

  test.each(['5.7.1 Relaying denied', '5.7.26 Unauthenticated mail', 'relay not permitted', '5.2.2 Mailbox full'])(
    'is none where the server refuses us, or only for now: %s',
    async (answer) => {
      const { asked, ended } = await refusedTwice(answer);
      expect([asked, ended]).toEqual([2, []]);
    },
  );
});

describe.each(ENGINES)('a recipient whose mail ended, on %s', (engine) => {
  test('has it again once somebody resubscribes it, and keeps the first reason until then', async () => {
    const store = await newStore(engine);
    await addMonitor(store);
    await store.write((tx) => endMail(tx, MONITOR, GONE, { now: 5 }));
    await store.write((tx) => endMail(tx, MONITOR, GONE, { now: 6, bounced: '550 no' }));
    expect(await readStoppedMails(store.db, MONITOR)).toEqual([{ recipient: 'gone@example.dk', at: 5, bounced: null }]);
    expect(await store.write((tx) => resumeMail(tx, MONITOR, 'GONE@example.dk'))).toBe(true);
    expect(await endedReason(store.db, MONITOR, GONE)).toBeUndefined();
    expect(await store.write((tx) => resumeMail(tx, MONITOR, GONE))).toBe(false);
  });

  test('of an earlier version had unsubscribed', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await sql`alter table unsubscribed drop column bounced`.execute(tx);
      await sql`insert into unsubscribed (monitor, recipient, at) values (${MONITOR}, 'a@b.dk', 5)`.execute(tx);
      await addBounces(tx, engine);
    });
    expect(await endedReason(store.db, MONITOR, 'a@b.dk')).toBe('unsubscribed');
  });
});
