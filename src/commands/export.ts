/** `export`: all that the store keeps about a company or a person. */
import { readEntity } from './arguments/entity.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, needed } from './cli/command.ts';
import { type KeptRows, readKeptRows } from './erase/erase.ts';

export const command = defineCommand({
  name: 'export',
  audit: 'entity.export',
  about: 'print every row that is about a company or a person, or names it, as JSON',
  args: { entity: needed('the company: CVR-1-12345678, or its CVR number; or a person: CVR-3-…') },
  run: async (context, { entity: text }) => {
    const entity = readEntity(text, context.log);
    return withStore(context, async (store): Promise<ExitCode> => {
      const tables: Record<string, KeptRows['rows']> = {};
      for await (const { table, rows } of readKeptRows(store.db, entity, context.signal)) tables[table] = rows;
      const kept = { entity, at: new Date().toISOString(), tables };
      context.output.result(kept);
      return 0;
    });
  },
});
