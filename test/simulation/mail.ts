/**
 * The mail server of a world. Each mail that nodemailer's pool would send leaves as a request of the world's network, with its
 * delays and troubles, as undici's agent hands over requests: no SMTP is spoken here, which `test/service/mail` does.
 */
import { createTransport } from 'nodemailer';
import type MailMessage from 'nodemailer/lib/mailer/mail-message.js';
import { Agent, errors } from 'undici';
import type { EmulatorHandler } from '../../providers/kit/emulator/emulator.ts';

export interface Letter {
  /** The Message-ID. */
  readonly id: string;
  readonly text: string;
}

export interface MailServer {
  /** All that came in, repeats too, in order. */
  readonly letters: Letter[];
  readonly handle: EmulatorHandler;
}

/** To whom the receiver's monitor sends mail. */
export const RECIPIENT = 'ida@receiver.sim';
export const MAIL_HOST = 'mail';

export function openMailServer(): MailServer {
  const letters: Letter[] = [];
  return {
    letters,
    handle({ body }) {
      letters.push(JSON.parse(body));
      return { status: 204 };
    },
  };
}

type Callback = (error: Error | null, info?: object) => void;

/** Has every pool of nodemailer send through the world's network, until what it returns is called. */
export function sendThroughWorld(): () => void {
  const pool: unknown = createTransport({ pool: true, host: MAIL_HOST }).transporter;
  const pools: unknown = Object.getPrototypeOf(pool);
  if (typeof pools !== 'object' || pools === null) throw new Error('nodemailer has no pool');
  const before = Object.getOwnPropertyDescriptor(pools, 'send');
  const agent = new Agent();
  function send({ data }: MailMessage, callback: Callback): void {
    const letter: Letter = { id: String(data.messageId), text: String(data.text) };
    hand(agent, letter, Reflect.get(data, 'signal')).then(
      (error) => callback(error ?? null, { messageId: letter.id }),
      (error: unknown) => callback(asLost(error)),
    );
  }
  Object.defineProperty(pools, 'send', { configurable: true, writable: true, value: send });
  return () => void (before === undefined || Object.defineProperty(pools, 'send', before));
}

/** Hands a letter over; returns what the server says instead of taking it. */
async function hand(agent: Agent, letter: Letter, signal: unknown): Promise<Error | undefined> {
  const { statusCode, body } = await agent.request({
    ...{ origin: `http://${MAIL_HOST}.sim`, path: '/', method: 'POST', body: JSON.stringify(letter) },
    ...(signal instanceof AbortSignal && { signal }),
  });
  await body.text();
  if (statusCode < 300) return undefined;
  return Object.assign(new Error('421 try again later'), { code: 'EPROTOCOL', responseCode: 421 });
}

/** As nodemailer says that a connection failed, or was lost. */
function asLost(error: unknown): Error {
  const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
  const text = error instanceof errors.UndiciError ? error.code : String(error);
  return Object.assign(new Error(text), { code: 'ESOCKET', syscall: isRefused ? 'connect' : 'read' });
}
