/** Sends mails to the mail server, one at a time. */
import type { Transporter } from 'nodemailer';
import { causeOf } from './refusal.ts';
import { needsUtf8, offersUtf8 } from './smtp-utf8.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** With angle brackets; equal for every attempt. */
  readonly messageId: string;
  /** In ASCII, below 998 characters with the name: they are not folded. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The outcome of a mail. Errors hold the server's words, never a secret. */
export type Sent =
  | { readonly kind: 'sent' }
  | { readonly kind: 'rejected'; readonly error: string }
  | { readonly kind: 'nobody'; readonly error: string }
  /** `certain`: the server certainly did not accept the mail; `server`: it would have accepted no mail. */
  | { readonly kind: 'later'; readonly error: string; readonly certain: boolean; readonly server: boolean };

/** Prefix of the error if the server refuses the sender, whoever the recipient is. */
export const SENDER_REFUSED = 'the mail server refuses the sender';

export interface Mailer {
  /** Never throws; an abort gives `later`. */
  send(letter: Letter, signal: AbortSignal): Promise<Sent>;
  /** Connects and logs in without sending; returns why it cannot. */
  verify(signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

export interface MailerOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  readonly from: string;
  /** 60,000 by default. */
  readonly deadlineMs?: number;
}

const CONNECTIONS = 4;
const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;

/** Opens a mailer that connects with the first mail. Throws if the sender is not an address. */
export function openMailer(options: MailerOptions): Mailer {
  if (!/^[^\s<>@]+@[^\s<>@]+$|<[^\s<>@]+@[^\s<>@]+>\s*$/.test(options.from))
    throw new Error('service.smtp.from is no address: write it as mail@example.com, or as Name <mail@example.com>');
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  let opened: Promise<Transporter> | undefined;

  return {
    async send(letter, signal) {
      opened ??= openTransport(options, deadlineMs);
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), deadlineMs);
      const onAbort = () => late.abort();
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) late.abort();
      try {
        const transport = await opened;
        const refused = await refusedForUtf8(options, letter.to, late.signal);
        if (refused !== undefined) return refused;
        await transport.sendMail({
          from: options.from,
          // A structured address, so that its text cannot name a second one.
          to: { name: '', address: letter.to },
          subject: letter.subject,
          text: letter.text,
          html: letter.html,
          headers: onOneLine(letter.headers),
          messageId: letter.messageId,
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: late.signal,
        });
        return { kind: 'sent' };
      } catch (error) {
        if (late.signal.aborted && !signal.aborted)
          return later(`the mail server did not take it within ${deadlineMs} ms`, false, true);
        return outcomeOf(error);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    async verify(signal) {
      opened ??= openTransport(options, deadlineMs);
      const gone = Promise.withResolvers<string>();
      const onAbort = () => gone.resolve('did not answer in time');
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      try {
        const transport = await opened;
        const tried = transport.verify().then(
          () => undefined,
          (error: unknown) => {
            const sent = outcomeOf(error);
            return sent.kind === 'sent' ? undefined : sent.error;
          },
        );
        return await Promise.race([tried, gone.promise]);
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    close() {
      opened?.then(
        (transport) => transport.close(),
        () => undefined,
      );
    },
  };
}

/**
 * Prevents folding. Some servers sign the folded line differently from how they send it, and some receivers keep the
 * fold in the link that ends the mail (https://github.com/nodemailer/nodemailer/issues/1654).
 */
const onOneLine = (headers: Readonly<Record<string, string>>): Record<string, { prepared: boolean; value: string }> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      { prepared: true, value: value.replaceAll(/[\r\n]+/g, ' ') },
    ]),
  );

/**
 * Why the server cannot accept the recipient's or the sender's address, if one needs SMTPUTF8. The library would send
 * it anyway.
 */
async function refusedForUtf8(
  { url, from }: MailerOptions,
  to: string,
  signal: AbortSignal,
): Promise<Sent | undefined> {
  const isOurs = needsUtf8(from);
  if (!(isOurs || needsUtf8(to)) || (await offersUtf8(url, CONNECT_MS, signal))) return undefined;
  const reason = 'does not offer SMTPUTF8, which an address with such letters before the @ needs';
  if (isOurs) return later(`${SENDER_REFUSED}: it ${reason}: check service.smtp.from`, true, true);
  return { kind: 'nobody', error: `the mail server ${reason}` };
}

async function openTransport({ url }: MailerOptions, deadlineMs: number): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    // An idle connection may be dead: the mail goes out once more on another.
    maxRequeues: 1,
    idleTimeout: 30_000,
    connectionTimeout: Math.min(CONNECT_MS, deadlineMs),
    greetingTimeout: Math.min(CONNECT_MS, deadlineMs),
    dnsTimeout: Math.min(CONNECT_MS, deadlineMs),
    socketTimeout: Math.min(30_000, deadlineMs),
  });
}

const later = (error: string, certain: boolean, server: boolean): Sent => ({ kind: 'later', error, certain, server });

/** The outcome of an error (codes: nodemailer's; replies: RFC 5321, 4.2.1). */
function outcomeOf(error: unknown): Sent {
  if (!(error instanceof Error)) return later(String(error), false, true);
  const { code, command, responseCode: reply, response, syscall } = fieldsOf(error);
  const text = (typeof response === 'string' && response !== '' ? response : error.message).slice(0, 300);
  if (code === 'EENVELOPE' && command === 'API') return outcomeOfAddress(text);
  const isAboutMail = code === 'EMESSAGE' || (code === 'EENVELOPE' && command !== 'MAIL FROM');
  const isAnswer = typeof reply === 'number';
  if (isAboutMail && isAnswer && isFinal(reply)) return outcomeOfRefusal(text, command === 'RCPT TO');
  if (code === 'EMESSAGE' && !isAnswer) return { kind: 'rejected', error: text };
  const certain = isAnswer || syscall === 'connect' || code === 'EDNS';
  const isSender = command === 'MAIL FROM' && isAnswer && isFinal(reply);
  return later(isSender ? `${SENDER_REFUSED}: ${text}` : text, certain, !isAboutMail || reply === 421 || reply === 530);
}

/** A refused sender is temporary, so no mail is lost if the operator corrects it. */
function outcomeOfRefusal(text: string, isOfRecipient: boolean): Sent {
  const cause = causeOf(text);
  if (cause === 'sender') return later(`${SENDER_REFUSED}: ${text}`, true, false);
  return { kind: cause === 'address' && isOfRecipient ? 'nobody' : 'rejected', error: text };
}

/**
 * An address that the library refused before it asked the server: the recipient's or, by configuration, the sender's.
 */
const outcomeOfAddress = (text: string): Sent =>
  /sender/i.test(text) ? later(`${text}: check service.smtp.from`, true, true) : { kind: 'nobody', error: text };

/** 503 (bad sequence) and 530 (login required) do not concern the recipient. */
const isFinal = (reply: number): boolean => reply >= 500 && reply !== 503 && reply !== 530;

const fieldsOf = (error: Error): Readonly<Record<string, unknown>> => ({ ...error });
