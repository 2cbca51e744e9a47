/** Addresses with letters outside of ASCII, and headers that no server folds: a real mail server, byte for byte. */
import { describe, expect, test } from 'vitest';
import { USUAL_DIGEST } from '../../../src/service/mail/digest-hour.ts';
import { openMailer } from '../../../src/service/mail/send.ts';
import { endMail, readStoppedMails } from '../../../src/service/mail/stopped-mails.ts';
import { createMonitor, getMonitor, updateMonitor } from '../../../src/service/monitors/monitors.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { addMonitor, MONITOR, mailRows, mailWorker, secrets, tell } from './fixture.ts';
import { startMailServer } from './mail-server.ts';

const IDA = 'ida@blåbærgrød.example';
const IDA_ASCII = 'ida@xn--blbrgrd-fxak7p.example';

describe.each(SUITE_ENGINES)('an address with letters outside of ASCII on %s', (engine) => {
  test('in its domain gets mail from a server that supports only ASCII', async () => {
    const store = await newStore(engine);
    const office = await startMailServer({ hideSMTPUTF8: true });
    await addMonitor(store);
    await tell(store, Date.now(), { recipients: [IDA] });
    await mailWorker(store, office.url, Date.now).worker.drained();
    const [mail] = office.mails;
    expect(mail?.raw).toMatch(new RegExp(`^To: ${IDA_ASCII}\\r$`, 'm'));
    expect([mail?.utf8, (await mailRows(store)).map(({ sent_at }) => sent_at !== null)]).toEqual([false, [true]]);
  });

  test('equals its ASCII spelling, in a monitor and in a stopped mail', async () => {
    const store = await newStore(engine);
    const context = { secrets, now: Date.now() };
    const emails = [IDA_ASCII, IDA, 'Bo@Example.com', 'ida@BLÅBÆRGRØD.example'];
    const input = { name: 'Kunder', url: null, target: 'all' as const, emails };
    const { id } = await store.write((tx) => createMonitor(tx, input, context));
    const stored = async () => (await getMonitor(store.db, secrets, id))?.emails;
    expect(await stored()).toEqual([IDA, 'Bo@Example.com']);
    await store.write((tx) => endMail(tx, id, IDA_ASCII, { now: Date.now() }));
    await store.write((tx) => updateMonitor(tx, id, { emails: [IDA_ASCII] }, context));
    expect(await stored()).toEqual([IDA]);
    expect((await readStoppedMails(store.db, id)).map(({ recipient }) => recipient)).toEqual([IDA]);
    const office = await startMailServer();
    await tell(store, Date.now(), { monitor: id, recipients: [IDA, 'bo@example.dk'] });
    await mailWorker(store, office.url, Date.now).worker.drained();
    expect(office.mails.map(({ to }) => to)).toEqual([['bo@example.dk']]);
  });

  test('before the @ gets mail if the server offers SMTPUTF8, and is otherwise refused with the reason', async () => {
    const store = await newStore(engine);
    await addMonitor(store);
    await tell(store, Date.now(), { recipients: ['bø@example.dk', 'ida@example.dk'] });
    const narrow = await startMailServer({ hideSMTPUTF8: true });
    const { worker } = mailWorker(store, narrow.url, Date.now);
    await worker.drained();
    // It would take the next mail, too.
    await worker.stop(1_000);
    expect(narrow.mails.map(({ to }) => to)).toEqual([['ida@example.dk']]);
    expect(await readStoppedMails(store.db, MONITOR)).toMatchObject([
      { recipient: 'bø@example.dk', bounced: expect.stringContaining('does not offer SMTPUTF8') },
    ]);
    await tell(store, Date.now(), { monitor: MONITOR, recipients: ['bø@blåbærgrød.example'] });
    const wide = await startMailServer();
    await mailWorker(store, wide.url, Date.now).worker.drained();
    expect(wide.mails.map(({ to, utf8 }) => [...to, utf8])).toEqual([['bø@blåbærgrød.example', true]]);
  });
});

describe('a sender with letters outside of ASCII', () => {
  const letter = { to: 'ida@example.dk', subject: 'a', text: 'b', html: 'c', messageId: '<1@b.example>', headers: {} };
  const send = async (url: string, from: string) => {
    const mailer = openMailer({ url, from });
    const sent = await mailer.send(letter, new AbortController().signal);
    mailer.close();
    return sent;
  };

  test('before the @ is an outage if the server does not offer SMTPUTF8', async () => {
    const office = await startMailServer({ hideSMTPUTF8: true });
    expect(await send(office.url, 'Vågt <vågt@example.dk>')).toMatchObject({
      kind: 'later',
      server: true,
      error: expect.stringMatching(/^the mail server refuses the sender: .*SMTPUTF8.*service\.smtp\.from/),
    });
    expect(office.mails).toEqual([]);
    expect(await send(office.url, 'Vågt <vagt@blåbærgrød.example>')).toEqual({ kind: 'sent' });
    expect(office.mails[0]?.raw).toContain('<vagt@xn--blbrgrd-fxak7p.example>');
  });

  test('before the @ waits if the server cannot be asked', async () => {
    expect(await send('smtp://127.0.0.1:1', 'vågt@example.dk')).toMatchObject({ kind: 'later', server: true });
  });
});

test('the unsubscribe link is on one line of its header, however long', async () => {
  const store = await newStore('sqlite');
  const office = await startMailServer();
  await addMonitor(store);
  const recipient = `${'langt-navn.'.repeat(5)}ida@${'et-langt-domaene.'.repeat(10)}example`;
  await tell(store, Date.now(), { recipients: [recipient] });
  const from = `vagt@${'afdeling.'.repeat(8)}blåbærgrød.example`;
  await mailWorker(store, office.url, Date.now, {
    publicUrl: 'https://blåbærgrød.example/cvr/',
    smtp: { url: office.url, from, ...USUAL_DIGEST },
  }).worker.drained();
  const raw = office.mails[0]?.raw ?? '';
  const host = 'xn--blbrgrd-fxak7p.example';
  expect(raw).toMatch(
    new RegExp(`^List-Unsubscribe: <https://${host}/cvr/unsubscribe\\?token=[\\w-]{300,}\\.[\\w-]+>\\r$`, 'm'),
  );
  expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  expect(office.mails[0]?.headers.get('message-id')).toMatch(new RegExp(`^<\\S+@${'afdeling.'.repeat(8)}${host}>$`));
  for (const line of raw.slice(0, raw.indexOf('\r\n\r\n')).split('\r\n')) expect(line.length).toBeLessThan(998);
});
