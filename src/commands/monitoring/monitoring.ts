/** `monitoring`: links records to companies, and calls the monitoring service for them. */
import { findLink } from '../../connector/links/links.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import {
  addLink,
  type LinkNeeds,
  OTHER_NUMBER,
  removeLink,
  TAKEN,
  updateAll,
} from '../../operations/connector/links.ts';
import type { Ground } from '../../operations/definition/operation.ts';
import { readEntity } from '../arguments/entity.ts';
import { needConnector, needRecordId } from '../arguments/record-argument.ts';
import { type MonitoringContext, needProvider, needUpstream, withMonitoring } from '../arguments/with-monitoring.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { showWaiting } from '../cli/waiting.ts';
import { operationCommand, performHere, RefusedError } from '../operations/operation-command.ts';
import { type CallState, confirmMonitoring } from './confirm-monitoring.ts';
import { list } from './list.ts';
import { unheardOf } from './unheard-of.ts';

const args = {
  provider: needed('the CRM, as it is named in the configuration'),
  entityId: needed('the company: CVR-1-12345678, or its CVR number'),
  recordId: needed('the id of its record in the CRM'),
};

const add = defineCommand({
  name: 'add',
  examples: ['monitoring add hubspot CVR-1-10000001 1234567890 --send-update'],
  operation: addLink.name,
  about: addLink.about,
  args,
  options: {
    sendUpdate: flag('have the service send the whole company at once'),
    yes: flag("link it even if the record holds another company's number"),
  },
  run: (context, { provider, entityId, recordId: named }, options) =>
    withMonitoring(context, async (opened) => {
      const recordId = needRecordId(opened.connector, needProvider(opened.connector, provider).name, named);
      const entity = readEntity(entityId, context.log);
      const ref = { provider, recordId, entity };
      const input = { provider, record: recordId, entityId: entity, ...options };
      const linked = await performHere(addLink, input, groundOf(context, opened)).catch((error: unknown) => {
        if (!(error instanceof RefusedError)) throw error;
        const { code, about = '' } = error.refusal;
        if (code === OTHER_NUMBER) return about;
        if (code === TAKEN) return taken(opened, ref, about);
        throw error;
      });
      if (typeof linked === 'string') return otherNumber(context, ref, linked);
      const done = `${entity} is linked to ${provider}:${recordId}${linked.isNew ? '' : ' already'}`;
      const callState = await confirmMonitoring(opened, ref, context.signal);
      const note = await unheardOf(context, opened.store.db, entity);
      return report(context, opened, callState, { done, state: 'monitored', note });
    }),
});

const groundOf = (context: CommandContext, { store, connector, openCrm }: MonitoringContext): Ground & LinkNeeds => ({
  ...{ store, now: Date.now, crms: connector.providers, openCrm },
  signal: context.signal,
  waiting: showWaiting(context),
});

const remove = defineCommand({
  name: 'remove',
  examples: ['monitoring remove hubspot CVR-1-10000001 1234567890'],
  operation: removeLink.name,
  about: removeLink.about,
  args,
  run: (context, { provider, entityId, recordId: named }) =>
    withMonitoring(context, async (opened) => {
      const recordId = needRecordId(opened.connector, needProvider(opened.connector, provider).name, named);
      const entity = readEntity(entityId, context.log);
      const ref = { provider, recordId };
      const input = { provider, record: recordId, entityId: entity };
      const ended = await performHere(removeLink, input, groundOf(context, opened)).catch((error: unknown) => {
        if (error instanceof RefusedError && error.refusal.kind === 'unknown') return undefined;
        throw error;
      });
      if (ended === undefined) return removeUpstream(context, opened, { ...ref, named: named.trim() }, entity);
      const done = `${entity} is no longer linked to ${provider}:${named}`;
      return report(context, opened, await confirmMonitoring(opened, ref, context.signal), {
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

const update = operationCommand(updateAll, {
  name: 'update',
  examples: ['monitoring update'],
  open: (context, work: (deps: Ground & Pick<LinkNeeds, 'signal'>) => Promise<ExitCode>) =>
    needConnector(context).then(() =>
      withStore(context, (store) => work({ store, now: Date.now, signal: context.signal })),
    ),
  show: ({ output }, done) =>
    output.result(done, `The daemon asks the service for the whole state of ${done.companies} companies.`),
});

export const command = defineCommand({
  name: 'monitoring',
  about: 'have companies monitored for CRM records: add, remove, list, jobs, update',
  commands: [add, remove, list, jobs, update],
});

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
