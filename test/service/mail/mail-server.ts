/** A real mail server for tests, on a port of its own, and the mails it received. */
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** By lower-case name, unfolded and decoded. */
  readonly headers: ReadonlyMap<string, string>;
  /** Names of the headers as often as they stand there. */
  readonly names: readonly string[];
  readonly text: string;
  readonly html: string;
  /** As it came, byte for byte, in Latin 1. */
  readonly raw: string;
  /** Whether the client asked for SMTPUTF8. */
  readonly utf8: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly url: string;
  readonly mails: Received[];
  close(): Promise<void>;
}

/** What a server answers in place of success. */
export const refusal = (code: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode: code });

export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<MailServer> {
  const mails: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const raw = Buffer.concat(chunks).toString('latin1');
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          utf8: mailFrom !== false && Object.hasOwn(mailFrom.args || {}, 'SMTPUTF8'),
          raw,
          ...parse(raw),
        });
        done();
      });
    },
    ...options,
  });
  // Clients that go away in the middle are part of the tests.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= new Promise((resolve) => server.close(() => resolve())));
  onTestFinished(close);
  return { port: taken, url: `smtp://127.0.0.1:${taken}`, mails, close };
}

function parse(raw: string): Pick<Received, 'headers' | 'names' | 'text' | 'html'> {
  const { headers, names, body } = split(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '')?.[1];
  const parts = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1);
  const texts = parts.map((part) => {
    const { headers: own, body: encoded } = split(part.replace(/^\r\n/, ''));
    return { type: own.get('content-type') ?? '', text: decode(encoded, own.get('content-transfer-encoding') ?? '') };
  });
  const find = (type: string): string => texts.find((one) => one.type.startsWith(type))?.text ?? '';
  return { headers, names, text: find('text/plain'), html: find('text/html') };
}

function split(raw: string) {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), words(line.slice(colon + 1).trim())];
  });
  return { headers: new Map(pairs), names: pairs.map(([name]) => name), body: raw.slice(end + 4) };
}

/** Encoded words of headers: RFC 2047. */
const words = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, encoded: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(encoded, 'base64').toString('latin1')
        : quoted(encoded.replaceAll('_', ' ')),
    )
    .replace(/[\u0080-\u00ff]+/g, (bytes) => Buffer.from(bytes, 'latin1').toString('utf8'));

const quoted = (text: string): string =>
  text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function decode(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8');
  return Buffer.from(encoding === 'quoted-printable' ? quoted(text) : text, 'latin1')
    .toString('utf8')
    .replaceAll('\r\n', '\n');
}
