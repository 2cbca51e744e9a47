/** `export`: prints everything that the store holds about a company or a person. */
import { readEntity } from '../arguments/entity.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, needed } from '../cli/command.ts';
import type { OutputPage } from '../cli/output.ts';
import { type EntityRows, readEntityRows } from './erase-entity.ts';

export const command = defineCommand({
  name: 'export',
  examples: ['export CVR-1-10000001 > company.json'],
  audit: 'entity.export',
  about: 'print every row that is about a company or a person, or names it, as JSON',
  args: { entity: needed('the company: CVR-1-12345678, or its CVR number; or a person: CVR-3-…') },
  run: async (context, { entity: text }) => {
    const entity = readEntity(text, context.log);
    return withStore(context, async (store): Promise<ExitCode> => {
      const head = { entity, at: new Date().toISOString() };
      await context.output.lists(head, 'tables', pagesOf(readEntityRows(store.db, entity, context.signal)));
      return 0;
    });
  },
});

async function* pagesOf(kept: AsyncIterable<EntityRows>): AsyncGenerator<OutputPage> {
  for await (const { table, rows } of kept) yield { list: table, rows };
}
