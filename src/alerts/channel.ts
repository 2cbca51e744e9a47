/** Sends alerts by webhook, in the format of Slack and compatible services, and by mail. */
import { createGuard } from '../http/outbound/guard.ts';
import { redirectText } from '../http/outbound/headers.ts';
import { errorText } from '../protocol/text/error-text.ts';
import { openWebhookClient } from '../service/delivery/post.ts';
import { domainOf } from '../service/mail/address.ts';
import { openMailer } from '../service/mail/send.ts';
import type { DigestSettings } from './digest.ts';
import { type AlertMessage, slackText } from './message.ts';

/** The section `alerts` of the configuration, with the effective mail server. */
export interface AlertSettings {
  readonly webhook?: string;
  readonly allow: readonly string[];
  readonly mail?: { readonly to: readonly string[]; readonly url: string; readonly from: string };
  readonly reviewOver: number;
  readonly registerBehindMinutes: number;
  /** Off if absent. */
  readonly digest?: Omit<DigestSettings, 'timeZone'>;
}

export interface Channel {
  readonly name: 'webhook' | 'mail';
  /** Returns why the message was not sent. Every attempt at one message has the same `id`. */
  send(message: AlertMessage, id: string, signal: AbortSignal): Promise<string | undefined>;
  /** Tests the connection without sending a message. */
  verify(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly found: string }>;
  close(): Promise<void>;
}

export function openChannels({ webhook, allow, mail }: AlertSettings): readonly Channel[] {
  return [
    ...(webhook === undefined ? [] : [webhookChannel(webhook, allow)]),
    ...(mail === undefined ? [] : [mailChannel(mail)]),
  ];
}

interface WebhookAnswer {
  readonly status: number;
  readonly text: string;
}

function webhookChannel(url: string, allow: readonly string[]): Channel {
  const client = openWebhookClient(createGuard({ allow }));
  const address = new URL(url);
  const { host } = address;
  // The path is a secret, and faults and redirects may quote it.
  const withoutPath = (text: string) => (address.pathname === '/' ? text : text.replaceAll(address.pathname, '/…'));
  const call = async (method: 'GET' | 'POST', signal: AbortSignal, body?: string): Promise<WebhookAnswer | string> => {
    const headers = { 'content-type': 'application/json' };
    try {
      const answer = await client.http({ method, url, signal, ...(body !== undefined && { headers, body }) });
      const { status } = answer;
      const redirect = redirectText(address, status, answer.headers);
      return { status, text: withoutPath(`answered ${status}${redirect && `, a redirect${redirect}`}`) };
    } catch (error) {
      signal.throwIfAborted();
      const said = withoutPath(errorText(error));
      return said.includes('ADDRESS_REFUSED') ? `${said}; to allow it, add it to alerts.allow` : said;
    }
  };
  return {
    name: 'webhook',
    async send({ text }, _id, signal) {
      const answer = await call('POST', signal, JSON.stringify({ text: slackText(text) }));
      if (typeof answer === 'string') return `${host}: ${answer}`;
      return answer.status >= 200 && answer.status < 300 ? undefined : `${host} ${answer.text}`;
    },
    async verify(signal) {
      const answer = await call('GET', signal);
      if (typeof answer === 'string') return { ok: false, found: `${host}: ${answer}` };
      return { ok: answer.status < 500, found: `the webhook at ${host} is reached (to a GET it ${answer.text})` };
    },
    close: () => client.close(),
  };
}

function mailChannel({ to, url, from }: NonNullable<AlertSettings['mail']>): Channel {
  const mailer = openMailer({ url, from });
  const domain = domainOf(from) ?? 'cvrsync.invalid';
  return {
    name: 'mail',
    async send({ subject, text }, id, signal) {
      const html = `<pre>${slackText(text)}</pre>`;
      const letter = { subject: subject.slice(0, 200), text, html, headers: { 'Auto-Submitted': 'auto-generated' } };
      const sends = to.map((address, index) =>
        mailer.send({ ...letter, to: address, messageId: `<alert-${id}-${index}@${domain}>` }, signal),
      );
      const results = await Promise.all(sends);
      // One accepted mail is enough: a retry would send it to the others twice.
      if (results.some(({ kind }) => kind === 'sent')) return undefined;
      const [first] = results;
      return first === undefined || first.kind === 'sent' ? undefined : first.error;
    },
    async verify(signal) {
      const error = await mailer.verify(signal);
      return error === undefined
        ? { ok: true, found: 'the mail server answers and accepts the connection' }
        : { ok: false, found: error };
    },
    close: async () => mailer.close(),
  };
}
