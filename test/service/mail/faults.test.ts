import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { handClock } from '../../support/clock.ts';
import { newStore } from '../../support/stores.ts';
import { addMonitor, mailRows, mailWorker, tell } from './fixture.ts';
import { refusal, startMailServer } from './mail-server.ts';

const HOUR = 3_600_000;
/** As long as whatever else is awaited: by itself `vi.waitFor` gives up after a second. */
const soon = { timeout: 120_000, interval: 20 };

describe('a mail server that', () => {
  test('is down for hours loses nothing: all that waited is one mail afterwards', async () => {
    const store = await newStore('sqlite');
    const clock = handClock();
    const office = await startMailServer();
    const { port } = office;
    await office.close();
    await addMonitor(store);
    await tell(store, clock.now());
    const { logged } = mailWorker(store, `smtp://127.0.0.1:${port}`, clock.now);
    const tries = () => logged.filter(({ message }) => message.startsWith('the mail server does not take')).length;
    for (let hour = 1; hour <= 5; hour++) {
      await vi.waitFor(() => expect(tries()).toBeGreaterThanOrEqual(hour), soon);
      await tell(store, clock.now(), { entity: `CVR-1-9900010${hour}`, name: `Attrapgård ${hour} ApS` });
      clock.forward(HOUR);
    }
    const back = await startMailServer({}, port);
    clock.forward(HOUR);
    await vi.waitFor(() => expect(back.mails).toHaveLength(1), soon);
    expect(back.mails[0]?.headers.get('subject')).toBe('6 ændringer i 6 virksomheder: Kunder i Jylland');
    await vi.waitFor(
      async () => expect((await mailRows(store)).every(({ sent_at }) => sent_at !== null)).toBe(true),
      soon,
    );
  });

  test('stays down for days loses mails that are three days old, and no newer ones', async () => {
    const store = await newStore('sqlite');
    const clock = handClock();
    await addMonitor(store);
    await tell(store, clock.now());
    const { logged } = mailWorker(store, 'smtp://127.0.0.1:1', clock.now);
    const tries = () => logged.filter(({ message }) => message.startsWith('the mail server does not take')).length;
    for (let turn = 1; turn <= 12; turn++) {
      await vi.waitFor(() => expect(tries()).toBeGreaterThanOrEqual(turn), soon);
      clock.forward(7 * HOUR);
      if (turn === 9) await tell(store, clock.now());
    }
    await vi.waitFor(async () => expect((await mailRows(store))[0]?.failed_at).not.toBeNull(), soon);
    const [old, young] = await mailRows(store);
    expect(old?.error).toContain('ECONNREFUSED');
    expect(young).toMatchObject({ sent_at: null, failed_at: null });
    expect(logged.some(({ message }) => message === 'mail was given up')).toBe(true);
  });

  test.each([
    ['says nothing', (_: Socket) => undefined],
    ['greets and then says nothing', (socket: Socket) => void socket.write('220 here\r\n')],
    [
      'trickles',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('220-'), 20);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s costs no more than the deadline', async (_, serve) => {
    const store = await newStore('sqlite');
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await addMonitor(store);
    await tell(store, Date.now());
    const { logged } = mailWorker(store, `smtp://127.0.0.1:${port}`, Date.now, { deadlineMs: 300 });
    await vi.waitFor(() => expect(logged.length).toBe(1), soon);
    const [row] = await mailRows(store);
    expect(row).toMatchObject({ sent_at: null, failed_at: null });
    await vi.waitFor(async () => {
      const [lane] = await store.db.selectFrom('lane').selectAll().execute();
      expect(lane).toMatchObject({ attempts: 1, fence: null });
    }, soon);
  });

  test.each([
    ['gets it again under the same id', 0],
    ['and then takes none for a while gets it again under the same id', 2],
  ])('takes a mail and is cut off before it answers %s', async (_, refusals) => {
    const store = await newStore('sqlite');
    const clock = handClock();
    let cuts = 1;
    let refused = 0;
    const ids: string[] = [];
    const office = await startMailServer({
      onMailFrom: (_address, _session, done) =>
        ids.length > 0 && refused++ < refusals ? done(refusal(421, 'come back later')) : done(),
      onData(stream, _, done) {
        let raw = '';
        stream.on('data', (chunk: Buffer) => {
          raw += chunk.toString('latin1');
        });
        stream.on('end', () => {
          ids.push(/^message-id: (.*)$/im.exec(raw)?.[1] ?? '');
          if (cuts-- <= 0) return done();
          sockets.at(-1)?.destroy();
        });
      },
    });
    const sockets: Socket[] = [];
    // A relay in front, so that the connection can be cut under the server.
    const relay = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      const far = connect(office.port, '127.0.0.1');
      far.on('error', () => socket.destroy());
      socket.on('close', () => far.destroy());
      socket.pipe(far).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    });
    const address = relay.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await addMonitor(store);
    await tell(store, clock.now());
    mailWorker(store, `smtp://127.0.0.1:${port}`, clock.now);
    for (let attempts = 1; attempts <= 1 + refusals; attempts++) {
      await vi.waitFor(async () => {
        const [lane] = await store.db.selectFrom('lane').selectAll().execute();
        expect(lane).toMatchObject({ attempts, fence: null });
      }, soon);
      clock.forward(HOUR);
    }
    await vi.waitFor(async () => expect((await mailRows(store))[0]?.sent_at).not.toBeNull(), soon);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toMatch(/^<.+@example\.dk>$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

test('a worker that is stopped in the middle puts its lane back, and the next one sends the mail', async () => {
  const store = await newStore('sqlite');
  const server = createServer((socket) => void socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await addMonitor(store);
  await tell(store, Date.now());
  const { worker } = mailWorker(store, `smtp://127.0.0.1:${port}`, Date.now);
  await vi.waitFor(async () => expect((await mailRows(store))[0]?.message).not.toBeNull(), soon);
  await worker.stop(0);
  const office = await startMailServer();
  await mailWorker(store, office.url, Date.now).worker.drained();
  expect(office.mails).toHaveLength(1);
});

test('no name, address or subject adds a header, a recipient or a tag', async () => {
  const store = await newStore('sqlite');
  const office = await startMailServer();
  await addMonitor(store, 'm', 'Vagt\r\nBcc: snu@example.com\r\n\r\n<b>x');
  await tell(store, Date.now(), {
    monitor: 'm',
    name: 'Fup ApS\r\nBcc: alle@example.com\r\nX-Evil: 1\r\n\r\n<script>alert(1)</script>\u202e',
    updates: { purpose: { before: '<img src=x onerror=alert(1)>', after: 'A\r\n.\r\nMAIL FROM:<x@y.z>' } },
    recipients: ['ida@example.dk'],
  });
  await tell(store, Date.now(), {
    monitor: 'm',
    recipients: ['a@example.dk>\r\nRCPT TO:<b@example.com', 'x@y.dk, z@y.dk'],
  });
  const { worker } = mailWorker(store, office.url, Date.now);
  await worker.drained();
  const [mail] = office.mails.filter(({ to }) => to.includes('ida@example.dk'));
  expect(mail?.to).toEqual(['ida@example.dk']);
  expect(mail?.names.filter((name) => name === 'bcc' || name === 'x-evil')).toEqual([]);
  expect(mail?.headers.get('subject')).toBe(
    'Fup ApS Bcc: alle@example.com X-Evil: 1 <script>alert(1)</script>: Formål',
  );
  expect(mail?.html).not.toMatch(/<script|<img|<b>x/);
  expect(mail?.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(mail?.text).toContain('→ A\n    .\n    MAIL FROM:<x@y.z>');
  const everyone = office.mails.flatMap(({ to }) => to);
  expect(everyone.filter((address) => /^(?:b@example\.com|z@y\.dk|x@y\.dk)$/.test(address))).toEqual([]);
});
