/** `transfer`: creates a record for a company in the CRM, links it and has it monitored. */
import { MISTYPED } from '../connector/follow/verdict.ts';
import type { Holder } from '../connector/transfer/holders.ts';
import { DraftError } from '../connector/transfer/record.ts';
import { type CreatedRecord, type Refusal, type TransferFailure, transfer } from '../connector/transfer/transfer.ts';
import { parseEntityId } from '../protocol/entity-id.ts';
import { readEntity } from './arguments/entity.ts';
import { type BackfillContext, withBackfill } from './backfill/with-backfill.ts';
import { defineCommand, type ExitCode, flag, needed, text, UsageError } from './cli/command.ts';
import { confirm } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { oneLine } from './cli/table.ts';
import { showWaiting } from './cli/waiting.ts';
import { type CallState, confirmMonitoring } from './monitoring/confirm-monitoring.ts';
import { unheardOf } from './monitoring/unheard-of.ts';

export const command = defineCommand({
  name: 'transfer',
  examples: ['transfer hubspot CVR-1-10000001'],
  audit: 'company.transfer',
  about: 'create a company in the CRM, link it and have it monitored; refuses a duplicate',
  args: {
    provider: needed('the CRM, as it is named in the configuration'),
    entityId: needed('the company: CVR-1-12345678, or its CVR number'),
  },
  options: {
    name: text('the name of the record (default: the name in the register)'),
    yes: flag('create it even if another record has the same name, or if the number may be mistyped'),
  },
  run: async (context, { provider, entityId }, { name, yes }) => {
    const entity = readEntity(entityId, context.log);
    if (parseEntityId(entity)?.kind !== 'company')
      throw new UsageError(
        `${entity} is not a company: cvrsync finds a duplicate by the CVR number, which only companies have`,
      );
    const given = name?.trim();
    if (given === '') throw new UsageError('--name is empty: give the name of the company');
    return withBackfill(context, provider, async (opened) => {
      const { store, crm, now, wait, leaseMs } = opened;
      const askName = async (same: readonly Holder[]): Promise<boolean> =>
        yes || (await confirm(context, `${namesakes(provider, same)}. Create another one?`)) === true;
      const askNumber = async (): Promise<boolean> =>
        yes || (await confirm(context, `${entity}: ${MISTYPED} Create it anyway?`)) === true;
      const reports = { reading: readingOf(context, provider), waiting: showWaiting(context) };
      const deps = { store, crm, now, wait, leaseMs, askName, askNumber, ...reports };
      const done = await transfer(deps, { entity, name: given }, context.signal).catch(usage);
      if ('setAside' in done)
        return report(context, opened, {
          entity,
          made: done,
          callState: await confirmMonitoring(opened, { provider, recordId: done.id }, context.signal),
          note: await unheardOf(context, store.db, entity),
        });
      if (isRefusal(done)) {
        const text = refusalOf(provider, entity, done);
        context.output.result({ provider, entity, ...done, text }, text);
        return 3;
      }
      throw new Error(failureOf(provider, entity, done));
    });
  },
});

interface TransferReport {
  readonly entity: string;
  readonly made: CreatedRecord;
  readonly callState: CallState;
  readonly note: string | undefined;
}

function report(
  { output }: CommandContext,
  { crm: { name: provider }, upstream }: Pick<BackfillContext, 'crm' | 'upstream'>,
  { entity, made, callState, note }: TransferReport,
): ExitCode {
  const { kind, id, name, setAside } = made;
  const { kind: monitoring, link, ...rest } = callState;
  const reason = 'reason' in rest ? rest.reason : null;
  const first =
    kind === 'made' ? `Created ${provider}:${id}, ${oneLine(name)}` : `An earlier transfer created ${provider}:${id}`;
  const observed = {
    confirmed: upstream === undefined ? 'No monitoring service is configured.' : 'It is monitored.',
    refused: `The monitoring service refused it: ${reason}. See cvrsync review.`,
    waiting: `The daemon will ask the monitoring service again${reason === null ? '' : `: ${reason}`}.`,
  };
  const aside = Object.entries(setAside).map(([property, why]) => `  ${property} was left out: ${oneLine(why)}`);
  const done = [`${first}, and linked it to ${entity}.`, observed[monitoring], note];
  const text = [done.filter((part) => part !== undefined).join(' '), ...aside].join('\n');
  output.result({ provider, entity, kind, record: id, name, setAside, observed: link.observed, reason }, text);
  return monitoring === 'refused' || aside.length > 0 ? 3 : 0;
}

const shownRecords = (provider: string, records: readonly Holder[]): string =>
  records
    .slice(0, 10)
    .map(
      ({ id, name, number }) =>
        `${provider}:${id}${name === null ? '' : ` ${oneLine(name)}`}${number === null ? '' : ` (${oneLine(number)})`}`,
    )
    .join(', ');

const namesakes = (provider: string, same: readonly Holder[]): string =>
  `${provider} has ${same.length === 1 ? 'a record' : 'records'} of that name: ${shownRecords(provider, same)}`;

const isRefusal = (done: Refusal | TransferFailure): done is Refusal =>
  done.kind === 'linked' || done.kind === 'duplicate' || done.kind === 'same-name' || done.kind === 'mistyped';

function refusalOf(provider: string, entity: string, done: Refusal): string {
  const nothing = 'Nothing was created';
  if (done.kind === 'linked')
    return `${nothing}: ${entity} is linked to ${provider}:${done.id} already${done.state === 'conflict' ? ', in conflict: see cvrsync review' : ''}.`;
  if (done.kind === 'mistyped') return `${nothing}: ${entity}: ${MISTYPED} Correct it, or add --yes if it is right.`;
  const [first] = done.records;
  const link = first === undefined ? '' : ` Link it with cvrsync monitoring add ${provider} ${entity} ${first.id}.`;
  if (done.kind === 'duplicate') {
    const records = done.records.length === 0 ? '' : `: ${shownRecords(provider, done.records)}`;
    return `${nothing}: ${done.reason}${records}.${done.records.length > 1 ? ' Merge them first.' : link}`;
  }
  return `${nothing}: ${namesakes(provider, done.records)}.${link} If it is another company, add --yes.`;
}

function failureOf(provider: string, entity: string, done: TransferFailure): string {
  switch (done.kind) {
    case 'busy':
      return `${entity} is being transferred to ${provider} now, by another process: try again in a minute`;
    case 'rejected':
      return `${provider} refused to create the company: ${done.reason}`;
    case 'lost':
      return `${provider} did not answer, and holds no such company yet: run the same command again, which searches before it creates one (${done.reason})`;
  }
}

function usage(error: unknown): never {
  throw error instanceof DraftError ? new UsageError(error.message) : error;
}

const EVERY = 5_000;

/** Logs progress: without a unique property the search reads the whole CRM. */
function readingOf({ log }: CommandContext, provider: string): (count: number) => void {
  let next = EVERY;
  return (count) => {
    if (count < next) return;
    next = count + EVERY;
    log.info(
      `looking for a duplicate: read ${count} records; where the property with the number is unique in ${provider}, one call is enough`,
    );
  };
}
