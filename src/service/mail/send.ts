/** The way to the mail server: hands over one mail at a time and says what became of it. */
import type { Transporter } from 'nodemailer';
import { causeOf } from './refusal.ts';
import { needsUtf8, offersUtf8 } from './smtp-utf8.ts';

/** A mail as it is handed over. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** With its angle brackets; the same for every try of the same mail. */
  readonly messageId: string;
  /** In ASCII, fewer than 998 letters each with their names: they are not folded. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What became of a mail. Errors are for people: the server's words, never a secret. */
export type Sent =
  | { readonly kind: 'sent' }
  /** For good: the server does not take this mail. */
  | { readonly kind: 'rejected'; readonly error: string }
  /** Nobody is at the address, the server says. */
  | { readonly kind: 'nobody'; readonly error: string }
  /** For now. `certain`: it was surely not taken; `server`: no mail would have been. */
  | { readonly kind: 'later'; readonly error: string; readonly certain: boolean; readonly server: boolean };

/** How an error begins if the server refuses this service as the sender, whoever the recipient is. */
export const SENDER_REFUSED = 'the mail server refuses the sender';

export interface Mailer {
  /** Never throws; an abort is `later`. */
  send(letter: Letter, signal: AbortSignal): Promise<Sent>;
  /** Connects and logs in; says why it cannot, undefined where it can. Sends nothing. */
  verify(signal: AbortSignal): Promise<string | undefined>;
  /** Ends all connections. */
  close(): void;
}

export interface MailerOptions {
  /** `smtp://user:password@host:port` or `smtps://…`. */
  readonly url: string;
  /** Sender of all mail: an address, or a name with one. */
  readonly from: string;
  /** Ms for the whole of one mail. Default 60,000. */
  readonly deadlineMs?: number;
}

const CONNECTIONS = 4;
const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;

/**
 * Opens nothing: the mail library is loaded, and connections are made, with the first mail. Throws where the sender is no
 * address: mail would go out from nobody.
 */
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
          // As an address of its own, and not as text: nothing in it can name a second one.
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
        return judge(error);
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
            const sent = judge(error);
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
 * The library would fold a long value behind its name. Some servers sign the folded line in another shape than they send it in,
 * and some receivers keep the fold in the link that ends the mail (https://github.com/nodemailer/nodemailer/issues/1654).
 */
const onOneLine = (headers: Readonly<Record<string, string>>): Record<string, { prepared: boolean; value: string }> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      { prepared: true, value: value.replaceAll(/[\r\n]+/g, ' ') },
    ]),
  );

/** Why the server cannot take the address of the recipient or ours, if one needs SMTPUTF8. The library would send it all the same. */
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
    // A connection that was idle may be dead: its mail takes another one, once.
    maxRequeues: 1,
    idleTimeout: 30_000,
    connectionTimeout: Math.min(CONNECT_MS, deadlineMs),
    greetingTimeout: Math.min(CONNECT_MS, deadlineMs),
    dnsTimeout: Math.min(CONNECT_MS, deadlineMs),
    socketTimeout: Math.min(30_000, deadlineMs),
  });
}

const later = (error: string, certain: boolean, server: boolean): Sent => ({ kind: 'later', error, certain, server });

/** What an error of the library means for the mail (codes: nodemailer's; replies: RFC 5321, 4.2.1). */
function judge(error: unknown): Sent {
  if (!(error instanceof Error)) return later(String(error), false, true);
  const { code, command, responseCode: reply, response, syscall } = fieldsOf(error);
  const text = (typeof response === 'string' && response !== '' ? response : error.message).slice(0, 300);
  if (code === 'EENVELOPE' && command === 'API') return judgeAddress(text);
  const isAboutMail = code === 'EMESSAGE' || (code === 'EENVELOPE' && command !== 'MAIL FROM');
  const isAnswer = typeof reply === 'number';
  if (isAboutMail && isAnswer && isFinal(reply)) return judgeRefusal(text, command === 'RCPT TO');
  if (code === 'EMESSAGE' && !isAnswer) return { kind: 'rejected', error: text };
  const certain = isAnswer || syscall === 'connect' || code === 'EDNS';
  const isSender = command === 'MAIL FROM' && isAnswer && isFinal(reply);
  return later(isSender ? `${SENDER_REFUSED}: ${text}` : text, certain, !isAboutMail || reply === 421 || reply === 530);
}

/** A server that does not take the sender does so for now: whoever corrects that loses no mail. */
function judgeRefusal(text: string, isOfRecipient: boolean): Sent {
  const cause = causeOf(text);
  if (cause === 'sender') return later(`${SENDER_REFUSED}: ${text}`, true, false);
  return { kind: cause === 'address' && isOfRecipient ? 'nobody' : 'rejected', error: text };
}

/** What the library refused before it asked the server: an address that is none, the recipient's or, by configuration, ours. */
const judgeAddress = (text: string): Sent =>
  /sender/i.test(text) ? later(`${text}: check service.smtp.from`, true, true) : { kind: 'nobody', error: text };

/** 503: the session is out of step; 530: the server wants a login. Neither is about the recipient. */
const isFinal = (reply: number): boolean => reply >= 500 && reply !== 503 && reply !== 530;

const fieldsOf = (error: Error): Readonly<Record<string, unknown>> => ({ ...error });
