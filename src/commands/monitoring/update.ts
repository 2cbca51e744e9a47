/** `monitoring update`: asks the service for the whole state of every linked company. */
import { askAllFullUpdates } from '../../connector/monitoring/ask-all.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, UsageError } from '../cli/command.ts';

export const update = defineCommand({
  name: 'update',
  audit: 'monitoring.update',
  about: 'ask the service for the whole state of every linked company, as after a restore; the daemon makes the calls',
  run: async (context) => {
    const { connector } = await context.config([]);
    if (connector === undefined) throw new UsageError('the configuration has no connector section');
    const companies = await withStore(context, (store) => askAllFullUpdates(store, Date.now, context.signal));
    context.output.result({ companies }, `The daemon asks the service for the whole state of ${companies} companies.`);
    return 0;
  },
});
