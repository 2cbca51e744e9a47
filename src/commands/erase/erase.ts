/** `erase`: removes a company or a person from the store. */

import { recordAudit } from '../../runtime/operators/audit.ts';
import { liftErasure } from '../../store/erasure/erasures.ts';
import type { Store } from '../../store/store.ts';
import { commandActor } from '../arguments/actor.ts';
import { readEntity } from '../arguments/entity.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { type Erasure, erase, previewErasure } from './erase-entity.ts';

export const command = defineCommand({
  name: 'erase',
  examples: ['erase CVR-1-10000001 --dry-run', 'erase CVR-3-4000000009'],
  about: 'erase a company or a person from all tables, after a preview; it stays erased until you lift that',
  args: { entity: needed('the company: CVR-1-12345678, or its CVR number; or a person: CVR-3-…') },
  options: {
    dryRun: flag('show what cvrsync would erase, and change nothing'),
    yes: flag('erase without asking'),
    lift: flag('let cvrsync store data about it again from now on'),
    compact: flag(
      'also rewrite the file of an SQLite store, so that free pages hold nothing about it; cvrsync writes nothing meanwhile',
    ),
  },
  run: async (context, { entity: text }, { dryRun, yes, lift, compact }) => {
    const entity = readEntity(text, context.log);
    return withStore(context, async (store): Promise<ExitCode> => {
      if (lift) return liftIt(context, store, entity);
      const preview = await previewErasure(store.db, entity, context.signal);
      if (dryRun) return report(context, { entity, ...preview, isDone: false });
      if (!yes) show(context, preview);
      const rows = preview.tables.reduce((sum, { deleted, anonymised }) => sum + deleted + anonymised, 0);
      const question = `Erase ${entity} from ${rows} rows of the store? This cannot be undone.`;
      if (!(await confirmMany(context, yes, question, 'see what would go with --dry-run'))) return 1;
      const options = { now: Date.now, actor: commandActor(), signal: context.signal };
      const done = await erase(store, entity, options);
      if (compact) await store.compact();
      return report(context, { entity, ...done, isDone: true });
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
  context.output.result({ entity, lifted }, `From now on cvrsync stores data about ${entity} again.`);
  return 0;
}

interface Erased extends Erasure {
  readonly entity: string;
  readonly isDone: boolean;
}

function report(context: CommandContext, { entity, isDone, ...erasure }: Erased): ExitCode {
  const { output } = context;
  if (context.json) output.result({ entity, dryRun: !isDone, ...erasure }, '');
  else {
    show(context, erasure);
    output.line(isDone ? `${entity} is erased, and stays so.` : 'Nothing was erased.');
  }
  return 0;
}

function show({ output }: CommandContext, { tables, records }: Erasure): void {
  output.table(
    tables.map((one) => ({ ...one })),
    'The store holds nothing about it.',
  );
  if (records.length > 0)
    output.line(`cvrsync writes nothing to the CRM: these records stay as they are: ${records.join(', ')}.`);
}
