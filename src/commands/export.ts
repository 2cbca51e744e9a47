/** `export`: all that the store keeps about a company or a person. */
import { readEntity } from './arguments/entity.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from './cli/command.ts';
import { type KeptRows, readKeptRows } from './export/kept-rows.ts';
import { unitsOf } from './export/units.ts';

export const command = defineCommand({
  name: 'export',
  audit: 'entity.export',
  about: 'print all that is kept about a company or a person, as JSON',
  args: { entity: needed('the company: CVR-1-12345678, or its CVR number; or a person: CVR-3-…') },
  options: { mentions: flag('also rows of others that name it; always so for persons; reads the whole store') },
  run: async (context, { entity: text }, { mentions }) => {
    const entity = readEntity(text, context.log);
    return withStore(context, async (store): Promise<ExitCode> => {
      const tables: Record<string, KeptRows['rows']> = {};
      const entities = [entity, ...(await unitsOf(store.db, entity))];
      for await (const { table, rows } of readKeptRows(store.db, entities, {
        mentions: mentions || entity.startsWith('CVR-3-'),
      })) {
        context.signal.throwIfAborted();
        tables[table] = rows;
      }
      const kept = { entity, at: new Date().toISOString(), tables };
      context.output.result(kept);
      return 0;
    });
  },
});
