/** `monitoring`: links records to companies, and calls the monitoring service for them. */
import type { ConnectorConfig } from '../config/load.ts';
import { linkSeen, mayHold, readCandidate } from '../connector/follow/link-by-hand.ts';
import { endLink, findLink, type LinkRequest } from '../connector/links/links.ts';
import { askAllFullUpdates } from '../connector/monitoring/ask-all.ts';
import type { RecordRef } from '../connector/names/queues.ts';
import { readEntity } from './arguments/entity.ts';
import { needRecordId } from './arguments/record-argument.ts';
import { type MonitoringContext, needProvider, needUpstream, withMonitoring } from './arguments/with-monitoring.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed, UsageError } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { showWaiting } from './cli/waiting.ts';
import { type CallState, confirmMonitoring } from './monitoring/confirm-monitoring.ts';
import { list } from './monitoring/list.ts';
import { unheardOf } from './monitoring/unheard-of.ts';

const args = {
  provider: needed('the CRM, as it is named in the configuration'),
  entityId: needed('the company: CVR-1-12345678, or its CVR number'),
  recordId: needed('the id of its record in the CRM'),
};

const add = defineCommand({
  name: 'add',
  examples: ['monitoring add hubspot CVR-1-10000001 1234567890 --send-update'],
  audit: 'monitoring.add',
  about: 'link a record to a company, and have the company monitored for it',
  args,
  options: {
    sendUpdate: flag('have the service send the whole company at once'),
    yes: flag("link it even if the record holds another company's number"),
  },
  run: (context, { provider, entityId, recordId: named }, { sendUpdate, yes }) =>
    withMonitoring(context, async (opened) => {
      needProvider(opened.connector, provider);
      const recordId = needRecordId(opened.connector, provider, named);
      const entity = readEntity(entityId, context.log);
      needNameable(opened.connector, provider, entity);
      const desired = { provider, recordId, entity, sendUpdate, now: Date.now() };
      const before = await findLink(opened.store.db, desired);
      const isLinked = before?.state === 'active' && before.entity === entity;
      const other = isLinked ? undefined : await readOtherCompany(context, opened, desired);
      if (other !== undefined && !yes) return otherNumber(context, desired, other);
      const linked = await opened.store.write((tx) => linkSeen(tx, desired, other));
      if (linked.kind === 'taken') return taken(opened, desired, linked.entity);
      const done = `${entity} is linked to ${provider}:${recordId}${isLinked ? ' already' : ''}`;
      const callState = await confirmMonitoring(opened, desired, context.signal);
      const note = await unheardOf(context, opened.store.db, entity);
      return report(context, opened, callState, { done, state: 'monitored', note });
    }),
});

const remove = defineCommand({
  name: 'remove',
  examples: ['monitoring remove hubspot CVR-1-10000001 1234567890'],
  audit: 'monitoring.remove',
  about: 'end a link, and the monitoring of its company for that record',
  args,
  run: (context, { provider, entityId, recordId }) =>
    withMonitoring(context, async (opened) => {
      needProvider(opened.connector, provider);
      const entity = readEntity(entityId, context.log);
      const end = {
        provider,
        recordId: needRecordId(opened.connector, provider, recordId),
        state: 'removed',
        reason: 'removed on the command line',
        now: Date.now(),
      } as const;
      const link = await findLink(opened.store.db, end);
      const isEnded = link?.entity === entity && (await opened.store.write((tx) => endLink(tx, end)));
      if (!isEnded) return removeUpstream(context, opened, { ...end, named: recordId.trim() }, entity);
      const done = `${entity} is no longer linked to ${provider}:${recordId}`;
      return report(context, opened, await confirmMonitoring(opened, end, context.signal), {
        done,
        state: 'no longer monitored',
      });
    }),
});

const jobs = defineCommand({
  name: 'jobs',
  examples: ['monitoring jobs'],
  about: 'list the jobs of the monitoring service',
  run: (context) =>
    withMonitoring(context, async (opened) => {
      const all = await needUpstream(opened).jobs(context.signal);
      context.output.table(
        all.map(({ id, name }) => ({ id, name })),
        'The service has no jobs.',
      );
      return 0;
    }),
});

const update = defineCommand({
  name: 'update',
  examples: ['monitoring update'],
  audit: 'monitoring.update',
  about: 'ask the service for the whole state of every linked company, as after a restore; the daemon makes the calls',
  run: async (context) => {
    const { connector } = await context.config([]);
    if (connector === undefined) throw new UsageError('the configuration has no connector section');
    const companies = await withStore(context, (store) => askAllFullUpdates(store, Date.now, context.signal));
    context.output.result({ companies }, `The daemon asks the service for the whole state of ${companies} companies.`);
    return 0;
  },
});

export const command = defineCommand({
  name: 'monitoring',
  about: 'have companies monitored for CRM records: add, remove, list, jobs, update',
  commands: [add, remove, list, jobs, update],
});

/** The other company whose number the record holds, if any. Throws if there is no such record. */
async function readOtherCompany(
  context: CommandContext,
  { openCrm }: Pick<MonitoringContext, 'openCrm'>,
  desired: LinkRequest,
): Promise<string | undefined> {
  const crm = await openCrm(desired.provider);
  const candidate = await readCandidate(crm, desired, context.signal, showWaiting(context));
  const none = `nothing was linked: ${desired.provider}:${desired.recordId}`;
  switch (candidate.kind) {
    case 'found':
      return candidate.other;
    case 'moved':
      throw new Error(`${none} was merged into ${candidate.to}: name that record instead`);
    case 'gone':
      throw new Error(`${none} is not in the CRM, or these credentials may not see it: correct the id`);
    case 'unread':
      throw new Error(`${none} could not be read: ${candidate.reason}. Try again`);
  }
}

/** Throws {@link UsageError} if the entity is a person and this connection writes no data of persons. */
function needNameable({ providers }: ConnectorConfig, provider: string, entity: string): void {
  if (providers.some((each) => each.name === provider && mayHold(each, entity))) return;
  throw new UsageError(
    `${entity} is a person, and ${provider} writes no data of persons: to write it, set persons: true in connector.providers.${provider}`,
  );
}

function report(
  context: CommandContext,
  { upstream }: MonitoringContext,
  callState: CallState,
  { done, state, note }: { readonly done: string; readonly state: string; readonly note?: string | undefined },
): ExitCode {
  const { kind, link } = callState;
  if (kind === 'refused')
    throw new Error(
      `${done}, but the monitoring service refused the call: ${callState.reason}. The desired state is stored: see cvrsync review`,
    );
  const { provider, record_id: record, entity, observed } = link;
  const reason = kind === 'waiting' ? callState.reason : null;
  const texts = {
    confirmed: upstream === undefined ? 'No monitoring service is configured: nothing was called.' : `It is ${state}.`,
    waiting: `The desired state is stored, and the daemon calls the monitoring service again${reason === null ? '' : `: ${reason}`}.`,
  };
  // Without an upstream the lane is done as well: the link keeps its desired state until one is configured.
  const text = upstream === undefined ? texts.confirmed : texts[kind];
  const confirmed = kind === 'confirmed';
  context.output.result(
    { provider, record, entity, link: link.state, observed, confirmed, reason },
    [`${done}.`, text, note].filter((part) => part !== undefined).join(' '),
  );
  return 0;
}

/** Reports that nothing was linked: the operator decides whether the number in the CRM or the command is right. */
function otherNumber(
  { output }: CommandContext,
  { provider, recordId, entity }: RecordRef & { entity: string },
  other: string,
): ExitCode {
  output.result(
    { provider, record: recordId, entity, link: null, holds: other },
    `Nothing was linked: ${provider}:${recordId} holds the number of ${other}, not of ${entity}. Correct the number in the CRM, or add --yes to link it anyway.`,
  );
  return 3;
}

async function taken({ store }: MonitoringContext, ref: RecordRef, entity: string): Promise<never> {
  const key = `${ref.provider}:${ref.recordId}`;
  const link = await findLink(store.db, ref);
  if (link?.state === 'active' || link?.state === 'conflict')
    throw new Error(
      `${key} is linked to ${entity} already: end that first with cvrsync monitoring remove ${ref.provider} ${entity} ${ref.recordId}`,
    );
  throw new Error(
    `${key} was linked to ${entity}, and the monitoring service has not confirmed the end of it yet: try again once cvrsync links --record ${ref.recordId} shows it as off`,
  );
}

/** Removes an item without a link here: another program may have added it under another spelling. */
async function removeUpstream(
  context: CommandContext,
  opened: MonitoringContext,
  { provider, recordId, named }: RecordRef & { readonly named: string },
  entity: string,
): Promise<ExitCode> {
  const none = `${entity} is not linked to ${provider}:${recordId} here`;
  if (opened.upstream === undefined) throw new Error(`${none}: see cvrsync links --record ${recordId}`);
  for (const id of new Set([recordId, named])) {
    const result = await opened.upstream.remove({ entityId: entity, id }, provider, context.signal);
    if (result.kind !== 'done')
      throw new Error(`${none}, and the monitoring service did not remove it: ${result.message}`);
  }
  const value = { provider, record: recordId, entity, link: null, observed: 'off', confirmed: true, reason: null };
  context.output.result(value, `${none}. The monitoring service does not monitor it for that record either.`);
  return 0;
}
