/** `config diff`, `apply`, `history` and `rollback`: what a changed configuration would write, and accepting it. */
import type { Config } from '../../config/load.ts';
import { partsOf } from '../../configuration.ts';
import { openCrm } from '../../connector/crm/crm.ts';
import { type PreviewExample, totalsText } from '../../connector/proposals/preview.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import type { Ground } from '../../operations/definition/operation.ts';
import {
  applyConfig,
  type ConfigDiff,
  type ConfigNeeds,
  type CountedDiff,
  diffConfig,
  listConfigVersions,
  type Rollback,
  rollbackConfig,
} from '../../operations/installation/configuration.ts';
import type { VersionEntry } from '../../runtime/config-versions.ts';
import type { Store } from '../../store/store.ts';
import { needProvider } from '../arguments/with-monitoring.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, optional, UsageError } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { timeCell } from '../cli/when.ts';
import { operationCommand, performHere } from '../operations/operation-command.ts';

const args = { provider: optional('the connection, as the configuration names it (default: all)') };

type Deps = Ground & ConfigNeeds;

/** Opens the store and the configured connections. A daemon may be using the store. */
async function withConfig(context: CommandContext, work: (deps: Deps) => Promise<ExitCode>): Promise<ExitCode> {
  const config = await context.config();
  const client = openClient({ env: context.env });
  try {
    return await withStore(context, (store) =>
      work({ ...needsOf(config, store, client.http), signal: context.signal }),
    );
  } finally {
    await client.close();
  }
}

function needsOf(config: Config, store: Store, http: ReturnType<typeof openClient>['http']): Deps {
  const now = Date.now;
  const providers = config.connector?.providers ?? [];
  const deps = { store, http, metrics: createMetrics(), now };
  const configuration: ConfigNeeds['configuration'] = {
    rules: () => providers,
    parts: () => partsOf(config, { store, now }),
    openCrm: async (name) => openCrm({ ...deps, isTrial: true }, needProvider({ providers }, name)),
  };
  return { store, now, configuration };
}

/** The difference. Throws if the connection does not exist and nothing waits for it. */
async function readDiff(context: CommandContext, deps: Deps, provider: string | undefined): Promise<ConfigDiff> {
  const input = provider === undefined ? {} : { provider };
  const diff: ConfigDiff = await performHere(diffConfig, input, deps);
  context.signal.throwIfAborted();
  const providers = (await context.config()).connector?.providers ?? [];
  if (provider !== undefined && diff.proposals.length === 0) needProvider({ providers }, provider);
  return diff;
}

function show({ output }: CommandContext, { proposal, preview, trouble }: CountedDiff): void {
  const { name, changes, accepted, version, isAside } = proposal;
  const of = version === undefined ? '' : `, back to version ${version}`;
  output.line(`${name}${of}, accepted ${new Date(accepted.at).toISOString().slice(0, 19)}Z by ${accepted.by}:`);
  if (isAside) output.line('  A rollback set these rules of the file aside: they count only if you apply them.');
  for (const { subject, before, after } of changes)
    output.line(`  ${subject}: ${before ?? 'not there'} → ${after ?? 'not there'}`);
  if (preview === undefined) {
    output.line(`  cvrsync could not count what it would write: ${trouble}`);
    return;
  }
  output.line(`  ${totalsText(preview)}`);
  for (const { property, writes, replaced, edits, later } of preview.properties)
    output.line(`  ${property}: ${writes} written, ${replaced} replaced, ${edits} of them people's, ${later} later`);
  for (const example of preview.examples) output.line(`  ${exampleLine(name, example)}`);
}

const exampleLine = (name: string, { record, property, before, after, isEdit }: PreviewExample): string =>
  `${name}:${record} ${property}: ${JSON.stringify(before)} → ${JSON.stringify(after)}${isEdit ? ' (a person wrote it)' : ''}`;

/** The differences that need no acceptance. */
function showDifferences({ output }: CommandContext, { settings, daemons }: ConfigDiff): void {
  if (settings.length > 0) output.line(`Accepted without asking, once a daemon reads the file: ${settings.join(', ')}`);
  for (const { name, differs } of daemons)
    output.line(`The daemon ${name} has a file that differs from the accepted configuration: ${differs.join(', ')}`);
}

const NOTHING = 'The configuration decides as the accepted rules do.';

export const diff = defineCommand({
  name: 'diff',
  examples: ['config diff', 'config diff hubspot --json'],
  about: diffConfig.about,
  operation: diffConfig.name,
  args,
  run: (context, { provider }) =>
    withConfig(context, async (deps) => {
      const found = await readDiff(context, deps, provider);
      if (context.json) context.output.result(diffConfig.view?.(found, deps));
      else {
        if (found.proposals.length === 0) context.output.line(NOTHING);
        for (const each of found.proposals) show(context, each);
        showDifferences(context, found);
      }
      return found.proposals.some(({ proposal }) => !proposal.isAside) ? 3 : 0;
    }),
});

export const apply = defineCommand({
  name: 'apply',
  examples: ['config apply', 'config apply hubspot --yes'],
  about: applyConfig.about,
  operation: applyConfig.name,
  args,
  options: { yes: flag('accept without asking') },
  run: (context, { provider }, { yes }) =>
    withConfig(context, async (deps) => {
      const { proposals } = await readDiff(context, deps, provider);
      // A change that was set aside is applied only by its name.
      const asked = proposals.filter(({ proposal }) => !proposal.isAside || provider !== undefined);
      const accepted: string[] = [];
      for (const each of asked) {
        const { name, id } = each.proposal;
        show(context, each);
        if (!(await confirmMany(context, yes, `Accept this for ${name}?`, 'look first with cvrsync config diff')))
          continue;
        await performHere(applyConfig, { provider: name, change: id }, deps, 'run cvrsync config diff');
        accepted.push(name);
      }
      context.output.result({ accepted, waiting: asked.length - accepted.length }, applied(asked.length, accepted));
      return accepted.length === asked.length ? 0 : 3;
    }),
});

function applied(asked: number, accepted: readonly string[]): string {
  if (asked === 0) return NOTHING;
  if (accepted.length === 0) return 'Nothing was accepted.';
  return `Accepted for ${accepted.join(', ')}. A running daemon decides all linked records by it within seconds; no restart is needed.`;
}

export const history = operationCommand(listConfigVersions, {
  name: 'history',
  examples: ['config history --limit 5'],
  open: withConfig,
  show({ output, json }, versions: readonly VersionEntry[], deps) {
    if (json) return output.result(listConfigVersions.view?.(versions, deps));
    const rows = versions.map(({ id, acceptedAt, acceptedBy, digest }) => {
      return { version: id, accepted: timeCell(acceptedAt), by: acceptedBy, digest };
    });
    output.table(rows, 'No configuration was accepted yet: the first start of a daemon accepts it.');
  },
});

export const rollback = defineCommand({
  name: 'rollback',
  examples: ['config rollback', 'config rollback 3'],
  about: rollbackConfig.about,
  operation: rollbackConfig.name,
  args: { version: optional('the version, as cvrsync config history lists it (default: the one before)') },
  run: (context, { version }) =>
    withConfig(context, async (deps) => {
      const given = version === undefined ? await versionBefore(deps) : Number(version);
      if (!Number.isSafeInteger(given) || given < 1)
        throw new UsageError('the version is a number of cvrsync config history');
      const proposed = await performHere(rollbackConfig, { version: given }, deps, 'see cvrsync config history');
      const { proposals } = await readDiff(context, deps, undefined);
      if (!context.json) for (const each of proposals) if (each.proposal.version === given) show(context, each);
      context.output.result(proposed, rolledBack(proposed));
      return 0;
    }),
});

function rolledBack({ version, providers, settings }: Rollback): string {
  if (providers.length === 0) return 'No former version is proposed any more.';
  const rest = `Only the file changes what else differs from version ${version}: ${settings.join(', ')}.`;
  const proposed = 'Proposed, and nothing is written yet: cvrsync config apply accepts it.';
  return settings.length === 0 ? proposed : `${proposed} ${rest}`;
}

async function versionBefore(deps: Deps): Promise<number> {
  const [, before] = await performHere(listConfigVersions, { limit: 2 }, deps);
  if (before === undefined) throw new UsageError('there is no former version');
  return before.id;
}
