/** `alerts`: what cvrsync tells by mail or webhook. */
import { digestOf } from '../config/schema/alerts.ts';
import { placeOf } from '../halves.ts';
import { type DigestPreview, previewDigest } from '../operations/digest.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand } from './cli/command.ts';
import { operationCommand } from './operations/operation-command.ts';

const digest = operationCommand(previewDigest, {
  name: 'digest',
  examples: ['alerts digest', 'alerts digest --language da'],
  open: async (context, work) => {
    const config = await context.config([]);
    return withStore(context, (store) =>
      work({ store, now: Date.now, digest: () => digestOf(config, placeOf(config)) }),
    );
  },
  show({ output, json }, preview: DigestPreview, deps) {
    if (json) return output.result(previewDigest.view?.(preview, deps));
    output.line(preview.text);
    if (!preview.isOn) output.line('\nIt is off: set alerts.digest to have it once a week.');
  },
});

export const command = defineCommand({
  name: 'alerts',
  about: 'show what cvrsync tells operators by mail or webhook: digest',
  commands: [digest],
});
