/** `alerts`: what cvrsync tells by mail or webhook. */
import { digestOf } from '../config/schema/alerts.ts';
import { placeOf } from '../halves.ts';
import type { Ground } from '../operations/definition/operation.ts';
import { CHANNELS, testAlert } from '../operations/installation/alert-test.ts';
import { type DigestNeeds, type DigestPreview, previewDigest } from '../operations/installation/digest.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed, UsageError } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { operationCommand, performHere } from './operations/operation-command.ts';

const opened = async (
  context: CommandContext,
  parts: readonly string[],
  work: (ground: Ground & DigestNeeds) => Promise<ExitCode>,
): Promise<ExitCode> => {
  const config = await context.config(parts);
  return withStore(context, (store) => work({ store, now: Date.now, digest: () => digestOf(config, placeOf(config)) }));
};

const digest = operationCommand(previewDigest, {
  name: 'digest',
  examples: ['alerts digest', 'alerts digest --language da'],
  open: (context, work) => opened(context, [], work),
  show({ output, json }, preview: DigestPreview, deps) {
    if (json) return output.result(previewDigest.view?.(preview, deps));
    output.line(preview.text);
    if (!preview.isOn) output.line('\nIt is off: set alerts.digest to have it once a week.');
  },
});

const test = defineCommand({
  name: 'test',
  examples: ['alerts test mail', 'alerts test webhook --digest'],
  operation: testAlert.name,
  about: `${testAlert.about}; exit code 1 if it was not sent`,
  args: { channel: needed('the channel: webhook or mail') },
  options: { digest: flag('send the weekly digest of the last seven days') },
  run: (context, { channel: given }, options) => {
    const channel = CHANNELS.find((each) => each === given);
    if (channel === undefined) throw new UsageError(`there is no channel ${given}: name ${CHANNELS.join(' or ')}`);
    return opened(context, ['alerts', 'service.smtp'], async (ground) => {
      const sent = await performHere(testAlert, { channel, ...options }, ground);
      const text = sent.error === null ? `Sent by ${channel}.` : `Not sent by ${channel}: ${sent.error}`;
      context.output.result(sent, text);
      return sent.error === null ? 0 : 1;
    });
  },
});

export const command = defineCommand({
  name: 'alerts',
  about: 'show what cvrsync tells operators by mail or webhook, and test that: digest, test',
  commands: [digest, test],
});
