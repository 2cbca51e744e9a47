/** `send`: posts a sample payload to a webhook, as the monitoring service would. */
import { randomUUID } from 'node:crypto';
import { Value } from 'typebox/value';
import { openClient } from '../http/outbound/client.ts';
import { HttpFault } from '../http/outbound/fault.ts';
import { type Auth, authSchema, signRequest } from '../protocol/auth.ts';
import { EVENT_NAMES } from '../protocol/events.ts';
import { writePayload } from '../protocol/payload.ts';
import { samplePayload } from '../protocol/sample/stream.ts';
import { readEntity } from './arguments/entity.ts';
import { defineCommand, needed, oneOf, text, texts, UsageError } from './cli/command.ts';

/** Characters of an answer that are printed. */
const MOST_SHOWN = 1_000;

export const command = defineCommand({
  name: 'send',
  about: 'post a sample payload to a webhook',
  args: { url: needed('address of the webhook') },
  options: {
    entity: text('send the data of this company, such as CVR-1-12345678 (default: an invented company)', 'id'),
    event: oneOf(EVENT_NAMES, 'send this event (default: the full state of the company)'),
    header: texts("header to send, such as 'X-Webhook-Key: secret'; may be repeated", 'name: value'),
    secret: text('sign it with this secret of Standard Webhooks (whsec_...)', 'secret'),
  },
  run: async (context, { url }, { entity, event, header, secret }) => {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UsageError(`${url} is not an address such as http://127.0.0.1:8080/webhook`);
    const entityId = entity === undefined ? undefined : readEntity(entity, context.log);
    const now = Date.now();
    const payload = samplePayload({
      now,
      seed: now,
      ...(entityId !== undefined && { entityId }),
      ...(event !== undefined && { event }),
    });
    const body = JSON.stringify(writePayload(payload));
    const auth = readSecret(secret);
    const headers = {
      'content-type': 'application/json',
      ...signRequest(auth, { id: `msg_${randomUUID()}`, timestampMs: now, body }),
      ...Object.fromEntries(header.map(readHeader)),
    };
    const client = openClient({ env: context.env });
    try {
      const { signal } = context;
      const answer = await client.http({ method: 'POST', url, headers, body, signal, timeoutMs: 15_000 });
      const accepted = answer.status >= 200 && answer.status < 300;
      const shown = answer.body.slice(0, MOST_SHOWN).replaceAll(/\p{Cc}+/gu, ' ');
      context.output.result(
        { status: answer.status, accepted, entityId: payload.entityId, event: event ?? null, answer: shown },
        `${answer.status} ${accepted ? 'accepted' : 'not accepted'}: ${event ?? 'full state'} of ${payload.entityId}${shown && `\n${shown}`}`,
      );
      return accepted ? 0 : 1;
    } catch (error) {
      if (error instanceof HttpFault) throw new Error('The payload was not delivered', { cause: error });
      throw error;
    } finally {
      await client.close();
    }
  },
});

function readSecret(secret: string | undefined): Auth {
  if (secret === undefined) return { method: 'None' };
  const auth = { method: 'Signature', secret };
  // Not quoted either.
  if (!Value.Check(authSchema, auth)) throw new UsageError('the secret is not of the form whsec_ and base64');
  return auth;
}

function readHeader(given: string): readonly [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):([\t -~]*)$/.exec(given.trim()) ?? [];
  // Not quoted: it may hold a secret.
  if (name === undefined || value === undefined) throw new UsageError("a header is not of the form 'name: value'");
  return [name.toLowerCase(), value.trim()];
}
