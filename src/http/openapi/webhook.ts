/**
 * Describes the webhook of the service for the OpenAPI document: payload, headers, signature, an example for each
 * event.
 */
import { signatureHeaders, signingKey } from '../../protocol/auth.ts';
import { EVENT_NAMES, type EventName } from '../../protocol/events.ts';
import { type WireOptions, wireNameOf, writePayload } from '../../protocol/payload.ts';
import { payloadSchema } from '../../protocol/payload-schema.ts';
import { samplePayload } from '../../protocol/sample/stream.ts';

const EXAMPLE_SECRET = 'whsec_Y3Zyc3luYy1leGFtcGxlLXNlY3JldC1mb3ItZG9jcw==';
const EXAMPLE_ID = 'msg_pO4lYt1dWmZ0Vb3sS7kqQw2nXc9uR5hE8jAaFgTyLxI';
const EXAMPLE_TIME = Date.UTC(2026, 2, 1, 9, 14, 2);

export interface SentNames extends WireOptions {
  /** Type name of production units; `Place` by default. */
  readonly placeType?: string;
}

const exampleOf = (event: EventName, { placeType, ...wire }: SentNames): object => {
  const options = { event, entityId: 'CVR-1-10000001', now: EXAMPLE_TIME };
  return writePayload(samplePayload({ ...options, placeType }), wire);
};

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'The id of the delivery, the same at every attempt: ignore one that you already have',
  'webhook-timestamp':
    'The time of this attempt, in seconds since 1970: refuse a time that is more than five minutes off',
  'webhook-signature':
    '`v1,` and the signature; several of them, separated by blanks, while a secret is rotated: one must match. Absent if the receiver has no signing secret, as in a `testwebhook`. The example signs the example of `name`, as JSON without blanks',
  'webhook-attempt': '1, 2, ...',
  'webhook-test': '`true` for a test; else absent',
};

const NOT_ALWAYS: ReadonlySet<string> = new Set(['webhook-signature', 'webhook-test']);

const DESCRIPTION = `One POST for each change, per monitor and company in the order of the changes.

Verify it first: \`webhook-signature\` holds the HMAC-SHA256 of \`webhook-id\`, \`.\`, \`webhook-timestamp\`, \`.\` and the bytes of the body, in base64, under the signing secret of the monitor (what follows \`whsec_\`, decoded from base64), as Standard Webhooks specifies. The secret of the example is \`${EXAMPLE_SECRET}\`. The monitor may also add a header, Basic or Bearer credentials.

Answer 200 to 299 within 15 s, once you have stored the event. After any other answer cvrsync tries again for three days; 410 disables the monitor. \`updates\` names every event; ignore those with \`updated: false\`.`;

/** The value of `webhooks` in the OpenAPI document. Expensive: it makes an example of each event. */
export function describeWebhooks(names: SentNames): object {
  const body = JSON.stringify(exampleOf('name', names));
  const signed = signatureHeaders([signingKey(EXAMPLE_SECRET)], { id: EXAMPLE_ID, timestampMs: EXAMPLE_TIME, body });
  const values: Readonly<Record<string, string>> = { ...signed, 'webhook-attempt': '1', 'webhook-test': 'true' };
  const parameters = Object.entries(HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    required: !NOT_ALWAYS.has(name),
    schema: { type: 'string' },
    example: values[name],
  }));
  const examples = EVENT_NAMES.map((event) => {
    const name = wireNameOf(event, names);
    return [name, { summary: name, value: exampleOf(event, names) }] as const;
  });
  return {
    companyEvent: {
      post: {
        operationId: 'companyEvent',
        summary: 'A delivery to the webhook of a monitor or job',
        description: DESCRIPTION,
        tags: ['webhook'],
        security: [],
        parameters,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: payloadSchema(names), examples: Object.fromEntries(examples) } },
        },
        responses: {
          '2XX': { description: 'The event is accepted' },
          410: { description: 'The receiver wants no more events: cvrsync disables the monitor' },
          default: { description: 'cvrsync sends the event again later, and not before `Retry-After`' },
        },
      },
    },
  };
}
