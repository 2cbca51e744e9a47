/** `match index`: creates the company index, from a file or from the service's copy of the register. */
import { statSync } from 'node:fs';
import { type FillDeps, type Filled, fillFromFile, rebuildIndex } from '../../match/index/fill.ts';
import { readIndexState } from '../../match/index/state.ts';
import { readRegisterEntries } from '../../service/register/watch/index-entry.ts';
import type { Store } from '../../store/store.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, optional, UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { FILE_SOURCES } from './need-index.ts';

const PARTIAL = 'The index is partial, because it has fewer than 500,000 companies: a unique name proves less.';
const PROBLEMS_SHOWN = 20;
const EVERY_MS = 5_000;

export const index = defineCommand({
  name: 'index',
  examples: ['match index companies.csv', 'match index --rebuild'],
  audit: 'index.make',
  about: 'make the company index that records are compared with; continues where it was stopped',
  args: { file: optional('companies as CSV or JSON lines; see docs/match.md for the columns') },
  options: { rebuild: flag('rebuild it from what the service has loaded of the register') },
  run: (context, { file }, { rebuild }) => {
    if (rebuild === (file !== undefined))
      throw new UsageError(`give a file of companies, or --rebuild: ${FILE_SOURCES}`);
    if (file !== undefined && statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      throw new UsageError(`there is no file ${file}: ${FILE_SOURCES}`);
    return withStore(context, (store) => make(context, store, file), { create: file !== undefined });
  },
});

async function make(context: CommandContext, store: Store, file: string | undefined): Promise<ExitCode> {
  const began = Date.now();
  const deps = { store, now: Date.now, report: reporter(context), onProblem: problems(context) };
  const filled = await (file === undefined
    ? rebuildIndex(deps, readRegisterEntries, context.signal)
    : fillFromFile(deps, file, context.signal));
  const seconds = Math.round((Date.now() - began) / 1_000);
  const isPartial = (await readIndexState(store.db))?.isPartial === true;
  context.output.result(
    { ...filled, seconds, isPartial },
    isPartial ? `${textOf(filled, seconds)}\n${PARTIAL}` : textOf(filled, seconds),
  );
  return filled.problems > 0 ? 3 : 0;
}

const textOf = ({ entries, problems: count }: Filled, seconds: number): string =>
  `Indexed ${entries} companies and production units in ${seconds} s.${count === 0 ? '' : ` ${count} lines could not be read.`}`;

/** Logs the first lines that are not companies, and counts the rest. */
function problems({ log }: CommandContext): FillDeps['onProblem'] {
  let count = 0;
  return ({ line, problem }) => {
    count += 1;
    if (count <= PROBLEMS_SHOWN) log.warn({ line }, `line ${line}: ${problem}`);
  };
}

function reporter({ log }: CommandContext): FillDeps['report'] {
  let next = Date.now() + EVERY_MS;
  return ({ entries, position }) => {
    if (Date.now() < next) return;
    next = Date.now() + EVERY_MS;
    log.info({ entries, position }, `indexed ${entries} companies and production units`);
  };
}
