/** Tests a channel of the alerts: sends one message that says so, or the current weekly digest. */
import { hostname } from 'node:os';
import Type, { type Static } from 'typebox';
import { type AlertSettings, openChannels } from '../../alerts/channel.ts';
import type { AlertMessage } from '../../alerts/message.ts';
import { nullable } from '../../service/routes/schemas.ts';
import {
  type Done,
  defineOperation,
  type Ground,
  type Moment,
  type OperationCaller,
  perform,
} from '../definition/operation.ts';
import { type DigestNeeds, digestNow } from './digest.ts';

export const CHANNELS = ['webhook', 'mail'] as const;

const LIMIT_MS = 20_000;

const result = Type.Object({
  channel: Type.Enum(CHANNELS),
  error: nullable(Type.String({ description: 'Why it was not sent; null if the channel took it' })),
});

export const testAlert = defineOperation({
  name: 'alert.test',
  role: 'admin',
  about: 'send a test by a channel of the alerts: a message that says so, or the weekly digest as it is now',
  more: 'It goes to everybody who gets the alerts there. What is sent when stays as it is.',
  input: Type.Object({
    channel: Type.Enum(CHANNELS, { description: 'Which channel' }),
    digest: Type.Boolean({ default: false, description: 'Send the weekly digest of the last seven days' }),
  }),
  api: {
    method: 'POST',
    path: '/alerts/test',
    operationId: 'testAlert',
    status: 200,
    answer: result,
    examples: [{ channel: 'webhook', digest: true }],
  },
  async read(_db, { channel: name, digest }, context: DigestNeeds & Moment): Promise<Done<Static<typeof result>>> {
    const { alerts } = context.digest();
    const channels = alerts === undefined ? [] : openChannels(alerts);
    try {
      const channel = channels.find((each) => each.name === name);
      if (channel === undefined) return { value: { channel: name, error: `alerts.${name} is not configured` } };
      const message = digest ? await digestNow(context) : trial(context.digest().place);
      const id = `test-${context.now}`;
      const error = (await channel.send(message, id, AbortSignal.timeout(LIMIT_MS))) ?? null;
      const audit = { subject: name, detail: digest ? { digest } : undefined, result: error ?? 'sent' };
      return { value: { channel: name, error }, audit };
    } finally {
      await Promise.all(channels.map((each) => each.close()));
    }
  },
});

/** Tests each channel of alerts that no daemon has in force yet. */
export async function testChannels(
  { alerts, timeZone, ...ground }: Ground & { readonly alerts: AlertSettings; readonly timeZone: string },
  caller: OperationCaller,
): Promise<readonly Static<typeof result>[]> {
  const digest = () => ({ place: hostname(), dashboard: undefined, language: undefined, timeZone, alerts });
  const tests: Static<typeof result>[] = [];
  for (const channel of CHANNELS.filter((each) => alerts[each] !== undefined))
    tests.push(await perform(testAlert, { channel, digest: false }, { ...ground, digest }, caller));
  return tests;
}

const trial = (place: string): AlertMessage => ({
  subject: 'cvrsync: a test of the alerts',
  text: `This is a test: cvrsync at ${place} reaches you here when something needs a person. Nothing is wrong.`,
});
