/** `leave`: ends everything that cvrsync does in a CRM. */
import { readFile } from 'node:fs/promises';
import { namedFile } from '../../config/load-file.ts';
import { parseConfig } from '../../config/parse.ts';
import { linesOf } from '../../config/place.ts';
import { LEAVE } from '../../connector/leave/leave-task.ts';
import { requestLeave } from '../../operations/connector/leaving.ts';
import { confirmRun, showRun } from '../../operations/installation/runs.ts';
import { countItems } from '../../runtime/runs/run-items.ts';
import { findRun, type StoredRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { nameIn, needConnector } from '../arguments/record-argument.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { countOf } from '../cli/count-of.ts';
import { performHere } from '../operations/operation-command.ts';
import { openLines } from '../progress/carry-out-run.ts';
import { leaver } from './carry-out.ts';
import { countLines } from './counts.ts';

/** The most results to show a person; `--json` and `runs show` show more. */
const SHOWN = 50;

export const command = defineCommand({
  name: 'leave',
  examples: ['leave hubspot --dry-run', 'leave hubspot --undo --remove-properties'],
  about: 'leave a CRM: end its links and all work there; asks first with counts; `return` comes back',
  args: { provider: needed('the connection, as it is named in the configuration') },
  options: {
    undo: flag('restore what cvrsync replaced, in properties that still hold what it wrote'),
    removeProperties: flag('remove the properties that cvrsync created, if they hold nothing that others wrote'),
    dryRun: flag('show what would be done, and do nothing'),
    yes: flag('leave without asking'),
  },
  run: async (context, { provider: given }, { undo, removeProperties, dryRun, yes }) => {
    const connector = await needConnector(context);
    const provider = nameIn(given, connector);
    return withStore<ExitCode>(context, async (store) => {
      const ground = { store, now: Date.now, crms: connector.providers };
      const { id } = await performHere(requestLeave, { provider, undo, removeProperties }, ground);
      const carryOut = leaver(context, store);
      const previewed = await carryOut(id);
      // Continues a run that has begun.
      if (previewed.stage === 'run') return report(context, store, previewed);
      if (previewed.state !== 'done') return failed(context, previewed);
      const counts = await countItems(store.db, id);
      if (dryRun) return preview(context, store, id);
      for (const line of countLines(counts)) context.output.line(line);
      if (!(await confirmMany(context, yes, questionOf(provider, counts), 'try it first with --dry-run'))) return 0;
      await performHere(confirmRun, { run: id }, ground);
      return report(context, store, await carryOut(id));
    });
  },
});

function questionOf(provider: string, counts: ReadonlyMap<string, number>): string {
  const [links, values, properties] = ['link', 'restored', 'property'].map((kind) => counts.get(kind) ?? 0);
  const parts = [
    `end ${countOf(links ?? 0, 'link')}`,
    ...(values ? [`restore ${countOf(values, 'value')}`] : []),
    ...(properties ? [`remove ${countOf(properties, 'property', 'properties')}`] : []),
  ];
  return `Leave ${provider}: ${parts.join(', ')}?`;
}

async function preview(context: CommandContext, store: Store, id: number): Promise<ExitCode> {
  const shown = await show(store, id);
  if (context.json) context.output.result({ dryRun: true, ...shown });
  else {
    for (const line of countLines(await countItems(store.db, id))) context.output.line(line);
    context.output.line('Nothing was changed.');
  }
  return 0;
}

const show = (store: Store, id: number) => performHere(showRun, { run: id, limit: SHOWN }, { store, now: Date.now });

function failed({ output, json }: CommandContext, { id, error, state }: StoredRun<unknown>): ExitCode {
  if (json) output.result({ run: id, state, error });
  output.line(`Nothing was changed: the preview ${error === null ? `was ${state}` : `failed: ${error}`}`);
  return 1;
}

/** What was done, and what is left of the connection. */
async function report(context: CommandContext, store: Store, run: StoredRun<unknown>): Promise<ExitCode> {
  const { output, json } = context;
  const counts = await countItems(store.db, run.id);
  const open = [...counts].filter(([kind]) => !LEAVE.fine.includes(kind));
  const code = run.state !== 'done' ? 1 : open.length > 0 ? 3 : 0;
  const provider = providerOf((await findRun(store.db, run.id)) ?? run);
  const rest = await linesToRemove(context, provider);
  if (json) {
    output.result({ ...(await show(store, run.id)), linesToRemove: rest ?? null });
    return code;
  }
  for (const line of countLines(counts)) output.line(line);
  if (open.length > 0) {
    const { items } = await show(store, run.id);
    const shown = items.filter(({ result }) => open.some(([kind]) => kind === result));
    output.table(
      shown.map(({ result, record, property, reason }) => ({
        what: `${provider}${record === undefined ? '' : `:${record}`}${property === undefined ? '' : ` ${property}`}`,
        result: String(result),
        reason: String(reason ?? ''),
      })),
    );
  }
  for (const line of endingLines(context, run, provider, rest)) output.line(line);
  return code;
}

const providerOf = ({ input }: StoredRun<unknown>): string => String(Object(input).provider);

function endingLines(
  context: CommandContext,
  run: StoredRun<unknown>,
  provider: string,
  rest: string | undefined,
): readonly string[] {
  const { state, error, input } = run;
  const { undo, removeProperties } = Object(input);
  const again = commandLine(context, `leave ${provider}`, { undo, removeProperties });
  const back = `To come back: cvrsync return ${provider}`;
  switch (state) {
    case 'done':
      return [
        `${provider} is left. Its records stay as they are, and cvrsync keeps their history.`,
        ...(rest === undefined ? [] : [`Take it out of the configuration: ${rest}.`]),
        back,
      ];
    case 'failed':
      return [
        `Leaving ${provider} failed: ${error}`,
        `It is stopped, and the rest is not done. To continue: ${again}`,
        back,
      ];
    case 'cancelled':
      return [`Cancelled: what was done stays done, and ${provider} is stopped. To continue: ${again}`, back];
    default:
      return openLines(run, again);
  }
}

/** Where the connection is in the file; undefined if it is absent. */
async function linesToRemove(context: CommandContext, provider: string): Promise<string | undefined> {
  await context.config([]);
  const file = namedFile({ file: context.configFile, env: context.env });
  const text = await readFile(file, 'utf8').catch(() => '');
  const parsed = parseConfig(text);
  const lines = parsed.ok ? linesOf(parsed.document, text, `connector.providers.${provider}`) : undefined;
  if (lines === undefined) return undefined;
  const [first, last] = lines;
  return `connector.providers.${provider}, ${first === last ? `line ${first}` : `lines ${first} to ${last}`} of ${file}`;
}
