import { recordStep } from '../../runtime/operators/audit.ts';
import type { Tx } from '../../store/store.ts';
import { type Command, type ExitCode, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { commandActor } from './actor.ts';
import { storeExists, withStore } from './with-store.ts';

export interface Given {
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

const RESULTS: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'failed',
  2: 'refused',
  3: 'done, but for records that need a person',
};

/**
 * Runs a command that needs many transactions, with its entry in the audit: stored before it begins, so that one that is killed
 * left its trace, and completed with its result. A failing audit is only a warning.
 */
export async function audited(
  context: CommandContext,
  command: Command,
  { args, options }: Given,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const action = actionOf(command, options);
  if (action === undefined || options['dryRun'] === true) return run();
  const subject = Object.values(args)
    .flat()
    .filter((each) => each !== undefined)
    .join(' ')
    .slice(0, 200);
  const detail = shownOptions(command, options);
  const entry = { actor: commandActor(), via: 'command', action, subject: subject || undefined, detail } as const;
  const at = Date.now();
  const record = async (result: string, before?: number): Promise<number | undefined> => {
    if (!storeExists((await context.config([])).store)) return undefined;
    return withStore(context, (store) =>
      store.write(async (tx) =>
        recordStep(tx, { ...entry, result }, { now: at, before: await stillThere(tx, before, at) }),
      ),
    );
  };
  const begun = await record('begun').catch(() => undefined);
  const finish = async (result: string): Promise<void> => {
    await record(result, begun).catch((err) =>
      context.log.warn({ err }, `the audit could not keep that ${action} was ${result}`),
    );
  };
  try {
    const code = await run();
    await finish(RESULTS[code]);
    return code;
  } catch (error) {
    await finish(error instanceof UsageError ? RESULTS[2] : 'failed');
    throw error;
  }
}

/** Finds the entry again: a restore replaces the store, and the new one does not have it. */
async function stillThere(tx: Tx, id: number | undefined, at: number): Promise<number | undefined> {
  if (id === undefined) return undefined;
  const row = await tx.selectFrom('audit').select('id').where('id', '=', id).where('at', '=', at).executeTakeFirst();
  return row?.id;
}

const actionOf = ({ audit }: Command, options: Given['options']): string | undefined => {
  if (audit === undefined || typeof audit === 'string') return audit;
  return options[audit.where] === undefined || options[audit.where] === false ? undefined : audit.action;
};

/** Options whose texts are names; any other text may be a secret. */
const NAMES: ReadonlySet<string> = new Set(['id', 'name', 'n', 'time']);

/** The given options; of texts that may be secret, only that they were given. */
function shownOptions(
  { options: specs }: Command,
  options: Given['options'],
): Readonly<Record<string, unknown>> | undefined {
  const given = Object.entries(options).filter(
    ([name, value]) =>
      value !== undefined && value !== false && JSON.stringify(value) !== JSON.stringify(specs[name]?.default),
  );
  const shown = given.map(([name, value]) => {
    const isName = typeof value !== 'string' || NAMES.has(specs[name]?.value ?? '');
    return [name, isName && !Array.isArray(value) ? value : 'given'] as const;
  });
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}
