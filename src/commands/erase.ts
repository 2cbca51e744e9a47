/** `erase`: takes a company or a person out of the store. */

import { recordAudit } from '../runtime/operators/audit.ts';
import { liftErasure } from '../store/erasure/erasures.ts';
import type { Store } from '../store/store.ts';
import { commandActor } from './arguments/actor.ts';
import { readEntity } from './arguments/entity.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { erase, previewErasure, type TableErasure } from './erase/erase.ts';

export const command = defineCommand({
  name: 'erase',
  about: 'erase a company or a person from all tables, after a preview; it stays erased until you lift that',
  args: { entity: needed('the company: CVR-1-12345678, or its CVR number; or a person: CVR-3-…') },
  options: {
    dryRun: flag('show what cvrsync would erase, and change nothing'),
    yes: flag('erase without asking'),
    lift: flag('let cvrsync keep again what it is told of it from now on'),
    compact: flag(
      'also rewrite the file of an SQLite store, so that free pages hold nothing of it; nobody writes meanwhile',
    ),
  },
  run: async (context, { entity: text }, { dryRun, yes, lift, compact }) => {
    const entity = readEntity(text, context.log);
    return withStore(context, async (store): Promise<ExitCode> => {
      if (lift) return liftIt(context, store, entity);
      const preview = await previewErasure(store.db, entity, context.signal);
      const records = await recordsOf(store, entity);
      if (dryRun) return report(context, { entity, tables: preview, records, isDone: false });
      if (!yes) context.output.table(preview.map((one) => ({ ...one })));
      const rows = preview.reduce((sum, { deleted, anonymised }) => sum + deleted + anonymised, 0);
      const question = `Erase ${entity} from ${rows} rows of the store? This cannot be undone.`;
      if (!(await confirmMany(context, yes, question, 'see what would go with --dry-run'))) return 1;
      const options = { now: Date.now, actor: commandActor(), signal: context.signal };
      const tables = await erase(store, entity, options);
      if (compact) await store.compact();
      return report(context, { entity, tables, records, isDone: true });
    });
  },
});

async function liftIt(context: CommandContext, store: Store, entity: string): Promise<ExitCode> {
  const lifted = await store.write(async (tx) => {
    const lifted = await liftErasure(tx, entity);
    const entry = { actor: commandActor(), via: 'command', action: 'entity.lift-erasure', subject: entity } as const;
    if (lifted) await recordAudit(tx, { ...entry, result: 'done' }, Date.now());
    return lifted;
  });
  if (!lifted) throw new Error(`${entity} is not erased`);
  context.output.result({ entity, lifted }, `From now on cvrsync keeps again what it is told of ${entity}.`);
  return 0;
}

const recordsOf = async ({ db }: Store, entity: string): Promise<readonly string[]> => {
  const rows = await db.selectFrom('link').select(['provider', 'record_id']).where('entity', '=', entity).execute();
  return rows.map(({ provider, record_id: id }) => `${provider}:${id}`);
};

interface Erased {
  readonly entity: string;
  readonly tables: readonly TableErasure[];
  readonly records: readonly string[];
  readonly isDone: boolean;
}

function report(context: CommandContext, { entity, tables, records, isDone }: Erased): ExitCode {
  const { output } = context;
  if (context.json) output.result({ entity, dryRun: !isDone, tables, records }, '');
  else {
    output.table(
      tables.map((one) => ({ ...one })),
      'The store holds nothing of it.',
    );
    output.line(isDone ? `${entity} is erased, and stays so.` : 'Nothing was erased.');
    if (records.length > 0)
      output.line(`cvrsync writes nothing to the CRM: these records stay as they are: ${records.join(', ')}.`);
  }
  return 0;
}
