/** `send`: posts a sample payload to a webhook, as the monitoring service would. */
import { randomUUID } from 'node:crypto';
import { Value } from 'typebox/value';
import { isConfigured } from '../config/load-file.ts';
import { recordsOf } from '../connector/links/links.ts';
import { linkKey } from '../connector/names/queues.ts';
import { openClient } from '../http/outbound/client.ts';
import { HttpFault } from '../http/outbound/fault.ts';
import { type Auth, authSchema, signRequest } from '../protocol/auth.ts';
import { EVENT_NAMES } from '../protocol/events.ts';
import { type Payload, writePayload } from '../protocol/payload.ts';
import { samplePayload } from '../protocol/sample/stream.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import { commandActor } from './arguments/actor.ts';
import { readEntity } from './arguments/entity.ts';
import { storeExists, withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed, oneOf, text, texts, UsageError } from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';

/** The most characters of an answer to print. */
const MOST_SHOWN = 1_000;

export const command = defineCommand({
  name: 'send',
  examples: [
    'send http://127.0.0.1:8080/webhook --event name',
    'send https://hooks.example.com/cvr --header "X-Webhook-Key: abc"',
  ],
  about: 'post a sample payload to a webhook; its values are invented, and dated now',
  args: { url: needed('address of the webhook') },
  options: {
    entity: text(
      'send the invented values as those of this company, such as CVR-1-12345678 (default: of an invented company); asks first if a record is linked to it',
      'id',
    ),
    event: oneOf(EVENT_NAMES, 'send this event (default: a full state)'),
    header: texts("header to send, such as 'X-Webhook-Key: secret'; may be repeated", 'name: value'),
    secret: text('sign it with this secret of Standard Webhooks (whsec_...)', 'secret'),
    yes: flag('do not ask'),
  },
  run: async (context, { url }, { entity, event, header, secret, yes }): Promise<ExitCode> => {
    const address = readAddress(url);
    const entityId = entity === undefined ? undefined : readEntity(entity, context.log);
    const target = { url: address, auth: readSecret(secret), headers: Object.fromEntries(header.map(readHeader)) };
    const now = Date.now();
    const payload = samplePayload({
      now,
      seed: now,
      ...(entityId !== undefined && { entityId }),
      ...(event !== undefined && { event }),
    });
    const sample = { entityId: payload.entityId, event: event ?? null };
    const records = entityId === undefined ? [] : await linkedRecords(context, entityId);
    if (records.length > 0 && !(await isConfirmed(context, yes, payload.entityId, records))) {
      context.output.result({ ...sample, accepted: false, records }, 'Nothing was sent.');
      return 1;
    }
    const posting = post(context, target, payload);
    const answer = await (records.length > 0 ? recorded(context, sample, posting) : posting);
    const remedy = answer.accepted && records.length > 0 ? [remedyOf(payload.entityId)] : [];
    context.output.result({ ...answer, ...sample, records }, [...linesOf(answer, sample), ...remedy].join('\n'));
    return answer.accepted ? 0 : 1;
  },
});

interface Sample {
  readonly entityId: string;
  /** Null for a full state. */
  readonly event: string | null;
}

/** Asks before sending invented values for a company that has linked records. */
function isConfirmed(
  context: CommandContext,
  yes: boolean,
  entity: string,
  records: readonly string[],
): Promise<boolean> {
  const linked = `${records.join(', ')} ${records.length === 1 ? 'is' : 'are'} linked to it`;
  const damage =
    'if this address is the webhook of this installation, cvrsync overwrites the values in the CRM with them, until the register changes the same field again';
  const question = `Send invented values as those of ${entity}? ${linked}: ${damage}. ${remedyOf(entity)}`;
  return confirmMany(context, yes, question, 'name a company that no record is linked to');
}

const remedyOf = (entity: string): string =>
  `To put the records right: cvrsync facts forget ${entity}, which requests the true state from the service, and says what to do if there is none.`;

/** The records of this installation that are linked to a company; none without a configured installation. */
async function linkedRecords(context: CommandContext, entity: string): Promise<readonly string[]> {
  if (!isConfigured({ file: context.configFile, env: context.env })) return [];
  if (!storeExists((await context.config([])).store)) return [];
  const links = await withStore(context, ({ db }) => recordsOf(db, [entity]));
  return links.map(({ provider, record_id }) => linkKey(provider, record_id));
}

/** Records in the audit that a sample was sent for a linked company. Omits the address, which may hold a secret. */
async function recorded(
  context: CommandContext,
  { entityId, event }: Sample,
  posting: Promise<Answer>,
): Promise<Answer> {
  const entry = { actor: commandActor(), via: 'command', action: 'sample.send', subject: entityId } as const;
  const detail = { event: event ?? 'full state' };
  const record = (result: string): Promise<void> =>
    withStore(context, (store) => store.write((tx) => recordAudit(tx, { ...entry, detail, result }, Date.now()))).catch(
      (err) => context.log.warn({ err }, `the audit could not keep that sample.send was ${result}`),
    );
  try {
    const answer = await posting;
    await record(answer.accepted ? 'done' : 'failed');
    return answer;
  } catch (error) {
    await record('failed');
    throw error;
  }
}

interface Target {
  readonly url: string;
  readonly auth: Auth;
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly accepted: boolean;
  /** The beginning of the answer's body, on one line. */
  readonly answer: string;
}

const linesOf = ({ status, accepted, answer }: Answer, { entityId, event }: Sample): readonly string[] => [
  `${status} ${accepted ? 'accepted' : 'not accepted'}: ${event ?? 'full state'} of ${entityId}`,
  ...(answer === '' ? [] : [answer]),
];

/** Posts a payload once. Throws without an answer. */
async function post(
  { env, signal }: CommandContext,
  { url, auth, headers }: Target,
  payload: Payload,
): Promise<Answer> {
  const body = JSON.stringify(writePayload(payload));
  const signed = signRequest(auth, { id: `msg_${randomUUID()}`, timestampMs: Date.now(), body });
  const client = openClient({ env });
  try {
    const answer = await client.http({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...signed, ...headers },
      body,
      signal,
      timeoutMs: 15_000,
    });
    return {
      status: answer.status,
      accepted: answer.status >= 200 && answer.status < 300,
      answer: answer.body.slice(0, MOST_SHOWN).replaceAll(/\p{Cc}+/gu, ' '),
    };
  } catch (error) {
    if (error instanceof HttpFault) throw new Error('The payload was not delivered', { cause: error });
    throw error;
  } finally {
    await client.close();
  }
}

function readAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`${text} is not an address such as http://127.0.0.1:8080/webhook`);
}

function readSecret(secret: string | undefined): Auth {
  if (secret === undefined) return { method: 'None' };
  const auth = { method: 'Signature', secret };
  // Do not quote the secret.
  if (!Value.Check(authSchema, auth)) throw new UsageError('the secret is not of the form whsec_ and base64');
  return auth;
}

function readHeader(given: string): readonly [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):([\t -~]*)$/.exec(given.trim()) ?? [];
  // Do not quote it: it may hold a secret.
  if (name === undefined || value === undefined) throw new UsageError("a header is not of the form 'name: value'");
  return [name.toLowerCase(), value.trim()];
}
