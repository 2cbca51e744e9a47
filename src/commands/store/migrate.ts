/** `migrate`: brings the store's tables up to this version. */
import { redact } from '../../config/redact.ts';
import { configSchema } from '../../config/schema/schema.ts';
import { openStore } from '../../store/engines/open.ts';
import { defineCommand } from '../cli/command.ts';

export const command = defineCommand({
  name: 'migrate',
  examples: ['migrate'],
  about: "bring the store's tables up to this version; safe to repeat",
  run: async (context) => {
    const { store: url } = await context.config([]);
    const store = await openStore(url);
    const { engine } = store;
    await store.close();
    const shown = String(redact(configSchema.properties.store, url));
    context.output.result({ store: shown, engine }, `${shown} is up to date.`);
    return 0;
  },
});
