/** A mail server on loopback that keeps what it is sent, to show it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface Mailbox {
  /** smtp://127.0.0.1:… */
  readonly url: string;
  /** Called with the source text of each mail. */
  onMail: (source: string) => void;
  close(): Promise<void>;
}

/** Opens one; it takes any mail from anybody on this machine. */
export async function openMailbox(): Promise<Mailbox> {
  const mailbox = { url: '', onMail: (_source: string): void => undefined, close };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1_000,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mailbox.onMail(Buffer.concat(chunks).toString('utf8'));
        done();
      });
    },
  });
  function close(): Promise<void> {
    return new Promise((resolve) => server.close(() => resolve()));
  }
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  mailbox.url = `smtp://127.0.0.1:${port}`;
  return mailbox;
}
