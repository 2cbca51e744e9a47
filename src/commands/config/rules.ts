/** `config diff` and `config apply`: preview and accept what a changed configuration would write into linked records. */

import { type CrmConfig, type CrmDeps, openCrm } from '../../connector/crm/crm.ts';
import { type PreviewExample, type RulePreview, shownTotals } from '../../connector/proposals/preview.ts';
import { findProposal, previewProposal, type RuleProposal } from '../../connector/proposals/proposals.ts';
import { acceptProposed } from '../../connector/rules/accepted.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store } from '../../store/open.ts';
import { commandActor } from '../arguments/actor.ts';
import { needConnector } from '../arguments/record-argument.ts';
import { connectionPart, needProvider } from '../arguments/with-monitoring.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, optional } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';

const args = { provider: optional('the connection, as the configuration names it (default: all)') };

/** A proposal, with what it would write or why that could not be counted. */
interface Counted {
  readonly proposal: RuleProposal;
  readonly preview?: RulePreview;
  readonly trouble?: string;
}

/** Finds and counts the proposals of the file, for work on a store that the daemon may be using. */
async function withCounted(
  context: CommandContext,
  only: string | undefined,
  work: (store: Store, counted: readonly Counted[]) => Promise<ExitCode>,
): Promise<ExitCode> {
  const connector = await needConnector(context);
  const configured = only === undefined ? connector.providers : [needProvider(connector, only)];
  await context.config([...configured.map(({ name }) => connectionPart(name)), 'admin.publicUrl']);
  const client = openClient({ env: context.env });
  try {
    return await withStore(context, async (store) => {
      const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now };
      const counted: Counted[] = [];
      for (const provider of configured) {
        const proposal = await findProposal(store.db, provider);
        if (proposal !== undefined) counted.push(await countOne(deps, provider, proposal, context.signal));
      }
      return work(store, counted);
    });
  } finally {
    await client.close();
  }
}

async function countOne(
  deps: CrmDeps,
  provider: CrmConfig,
  proposal: RuleProposal,
  signal: AbortSignal,
): Promise<Counted> {
  try {
    const crm = await openCrm(deps, provider);
    return { proposal, preview: await previewProposal(deps, crm, proposal, signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { proposal, trouble: errorText(error) };
  }
}

const asDocument = ({ proposal: { name, id, changes, accepted }, preview, trouble }: Counted) => {
  const { by, at } = accepted;
  return { provider: name, change: id, changes, accepted: { by, at: new Date(at).toISOString() }, preview, trouble };
};

function show({ output }: CommandContext, { proposal, preview, trouble }: Counted): void {
  const { name, changes, accepted } = proposal;
  output.line(`${name}, accepted ${new Date(accepted.at).toISOString().slice(0, 19)}Z by ${accepted.by}:`);
  for (const { subject, before, after } of changes)
    output.line(`  ${subject}: ${before ?? 'not there'} → ${after ?? 'not there'}`);
  if (preview === undefined) {
    output.line(`  cvrsync could not count what it would write: ${trouble}`);
    return;
  }
  output.line(`  ${shownTotals(preview)}`);
  for (const { property, writes, replaced, edits, later } of preview.properties)
    output.line(`  ${property}: ${writes} written, ${replaced} replaced, ${edits} of them people's, ${later} later`);
  for (const example of preview.examples) output.line(`  ${exampleLine(name, example)}`);
}

const exampleLine = (name: string, { record, property, before, after, isEdit }: PreviewExample): string =>
  `${name}:${record} ${property}: ${JSON.stringify(before)} → ${JSON.stringify(after)}${isEdit ? ' (a person wrote it)' : ''}`;

const NOTHING = 'The configuration decides as the accepted rules do.';

export const diff = defineCommand({
  name: 'diff',
  about: 'show what the configuration would change in linked records: values, whose they are, examples; writes nothing',
  args,
  run: (context, { provider }) =>
    withCounted(context, provider, async (_store, counted) => {
      if (context.json) context.output.result(counted.map(asDocument));
      else if (counted.length === 0) context.output.line(NOTHING);
      else for (const each of counted) show(context, each);
      return counted.length === 0 ? 0 : 3;
    }),
});

export const apply = defineCommand({
  name: 'apply',
  about: 'accept what the configuration changes in how linked records are decided, after a preview',
  args,
  options: { yes: flag('accept without asking') },
  run: (context, { provider }, { yes }) =>
    withCounted(context, provider, async (store, counted) => {
      const accepted: string[] = [];
      for (const each of counted) {
        const { proposal } = each;
        show(context, each);
        const question = `Accept this for ${proposal.name}?`;
        if (!(await confirmMany(context, yes, question, 'look first with cvrsync config diff'))) continue;
        const acceptance = { actor: commandActor(), via: 'command', seen: proposal.id } as const;
        const isAccepted = await store.write((tx) =>
          acceptProposed(tx, { ...proposal.after, name: proposal.name }, acceptance, Date.now()),
        );
        if (isAccepted) accepted.push(proposal.name);
        else context.output.line(`${proposal.name} changed meanwhile: run the command again.`);
      }
      const text =
        counted.length === 0
          ? NOTHING
          : accepted.length === 0
            ? 'Nothing was accepted.'
            : `Accepted for ${accepted.join(', ')}. A running daemon decides all linked records by it within seconds; no restart is needed.`;
      context.output.result({ accepted, proposals: counted.map(asDocument) }, text);
      return accepted.length === counted.length ? 0 : 3;
    }),
});
