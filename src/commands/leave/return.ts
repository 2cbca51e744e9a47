/** `return`: returns to a CRM that was left. */
import { returnTo } from '../../operations/connector/leaving.ts';
import { nameIn, needConnector } from '../arguments/record-argument.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import { countOf } from '../cli/count-of.ts';
import { performHere, previewHere } from '../operations/operation-command.ts';

export const command = defineCommand({
  name: 'return',
  examples: ['return hubspot'],
  operation: returnTo.name,
  about: 'come back to a CRM that was left: restart the links that ended then; asks first with the count',
  args: { provider: needed('the connection, as it is named in the configuration') },
  options: { yes: flag('return without asking') },
  run: async (context, { provider: given }, { yes }) => {
    const connector = await needConnector(context);
    const provider = nameIn(given, connector);
    return withStore<ExitCode>(context, async (store) => {
      const ground = { store, now: Date.now, crms: connector.providers, signal: context.signal };
      const { count } = await previewHere(returnTo, { provider }, ground);
      const question = `Return to ${provider}, and restart ${countOf(count, 'link')} with the monitoring of the companies?`;
      if (!(await confirmMany(context, yes, question, 'leave it as it is'))) return 0;
      const done = await performHere(returnTo, { provider }, ground);
      context.output.result(
        done,
        [
          `cvrsync works in ${provider} again: ${countOf(done.count, 'link')} restarted.`,
          `Records that came meanwhile: cvrsync backfill ${provider} --dry-run. Values that leaving restored stay on hold: cvrsync hold list --provider ${provider}`,
        ].join('\n'),
      );
      return 0;
    });
  },
});
