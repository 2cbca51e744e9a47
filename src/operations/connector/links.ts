/** Operations on links: link a record to a company, unlink it, and request full states from the service. */
import Type from 'typebox';
import type { Crm } from '../../connector/crm/crm.ts';
import type { WaitReport } from '../../connector/crm/patience.ts';
import { linkSeen, mayHold, readCandidate } from '../../connector/follow/link-by-hand.ts';
import { LeftError, refuseLeft } from '../../connector/links/left.ts';
import { endLink, findLink, isBound, type Link } from '../../connector/links/links.ts';
import { acceptMatch } from '../../connector/match/answer.ts';
import { askAllFullUpdates } from '../../connector/monitoring/ask-all.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { storeAnswer } from '../../connector/review/given-answers.ts';
import { idOf } from '../../connector/review/review-kinds.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { StepRecorder } from '../../runtime/operators/audit.ts';
import { entityIdText } from '../../service/routes/schemas.ts';
import type { Db } from '../../store/store.ts';
import { readEntity } from '../definition/entities.ts';
import {
  type Done,
  defineOperation,
  type Ground,
  invalid,
  type Moment,
  type Recording,
  Refused,
} from '../definition/operation.ts';
import { type ConnectorNeeds, needCrm, readRecord, recordProperties } from './records.ts';

export interface LinkNeeds extends ConnectorNeeds {
  /** Opens a configured connection, to read a record of which the caller saw nothing. */
  readonly openCrm: (name: string) => Promise<Crm>;
  /** Called while an account is paused. */
  readonly waiting?: WaitReport | undefined;
  readonly signal?: AbortSignal | undefined;
}

const OPERATOR = { role: 'operator' } as const;
const linked = { ...recordProperties, entityId: entityIdText('A company or person') };
const linkView = Type.Object({
  provider: Type.String(),
  record: Type.String(),
  entity: Type.String(),
  isNew: Type.Boolean({ description: 'Whether it was not so before' }),
});

/** The result of a new or ended link. */
export interface LinkChange {
  readonly provider: string;
  readonly record: string;
  readonly entity: string;
  readonly isNew: boolean;
}

/** The refusal codes of a record that holds another company's number, and of one that is linked to another company. */
export const OTHER_NUMBER = 'other-number';
export const TAKEN = 'taken';

interface Named {
  readonly provider: string;
  readonly record: string;
  readonly entityId: string;
}

const readNamed = ({ provider, record, entityId }: Named, { crms }: ConnectorNeeds) => {
  const crm = needCrm(crms, provider);
  return { crm, ref: readRecord(crm, record), entity: readEntity(entityId, '/entityId') };
};

/** The record and the company to link. Refuses a person if the connection writes no data of persons. */
function readLinkable(named: Named, needs: ConnectorNeeds) {
  const { crm, ref, entity } = readNamed(named, needs);
  if (mayHold(crm, entity)) return { ref, entity };
  const setting = `connector.providers.${crm.name}`;
  throw invalid(
    '/entityId',
    `${entity} is a person, and ${crm.name} writes no data of persons: to write it, set persons: true in ${setting}`,
  );
}
const isLink = (link: Link | undefined, entity: string): boolean => link?.state === 'active' && link.entity === entity;
const subjectOf = ({ provider, recordId }: RecordRef, entity: string): string => `${provider} ${entity} ${recordId}`;

const takenBy = ({ provider, recordId }: RecordRef, entity: string): Refused =>
  new Refused('conflict', `${provider}:${recordId} is linked to ${entity}`, { code: TAKEN, about: entity });

export const addLink = defineOperation({
  ...OPERATOR,
  name: 'monitoring.add',
  about: 'link a record to a company, and have the company monitored for it',
  more: 'The record is read first. The daemon then calls the monitoring service.',
  input: Type.Object({
    ...linked,
    sendUpdate: Type.Boolean({ default: false, description: 'Have the service send the whole company at once' }),
    yes: Type.Boolean({ default: false, description: "Link it even if the record holds another company's number" }),
  }),
  api: {
    method: 'POST',
    path: '/links',
    operationId: 'addLink',
    status: 200,
    answer: linkView,
    examples: [{ provider: 'hubspot', record: '8412345678', entityId: 'CVR-1-10000001', sendUpdate: true }],
    refusals: { 409: "It is linked to another company, holds another company's number, or cannot be read in the CRM" },
  },
  /** The other company whose number the record holds; empty if it holds none. */
  async prepare(input, context: LinkNeeds & Ground & Moment) {
    const { ref, entity } = readLinkable(input, context);
    const { db } = context.store;
    await needNotLeft(db, ref.provider);
    const link = await findLink(db, ref);
    if (isLink(link, entity)) return '';
    if (link !== undefined && link.entity !== entity && (await isBound(db, link))) throw takenBy(ref, link.entity);
    const crm = await context.openCrm(ref.provider);
    const { signal = new AbortController().signal, waiting } = context;
    const none = `nothing was linked: ${ref.provider}:${ref.recordId}`;
    const candidate = await readCandidate(crm, { recordId: ref.recordId, entity }, signal, waiting).catch((error) => {
      signal.throwIfAborted();
      throw new Refused('conflict', `${none} could not be read: ${errorText(error)}`);
    });
    switch (candidate.kind) {
      case 'found':
        return candidate.other ?? '';
      case 'moved':
        throw new Refused('conflict', `${none} was merged into ${candidate.to}: name that record instead`);
      case 'gone':
        throw new Refused('conflict', `${none} is not in the CRM, or these credentials may not see it: correct the id`);
      case 'unread':
        throw new Refused('conflict', `${none} could not be read: ${candidate.reason}. Try again`);
    }
  },
  async change(tx, input, context: LinkNeeds & Moment): Promise<Done<LinkChange>> {
    const { sendUpdate, yes } = input;
    const { ref, entity } = readLinkable(input, context);
    const { provider, recordId: record } = ref;
    const isNew = !isLink(await findLink(tx, ref), entity);
    const other = isNew && context.seen ? context.seen : undefined;
    if (other !== undefined && !yes)
      throw new Refused('conflict', `${provider}:${record} holds the number of ${other}`, {
        code: OTHER_NUMBER,
        about: other,
      });
    const done = await linkSeen(tx, { ...ref, entity, sendUpdate, now: context.now }, other);
    if (done.kind === 'taken') throw takenBy(ref, done.entity);
    const value = { provider, record, entity, isNew };
    if (!isNew && !sendUpdate) return { value };
    const detail = sendUpdate ? { sendUpdate } : undefined;
    return { value, audit: { subject: subjectOf(ref, entity), detail, result: 'done' } };
  },
});

/** Call it before reading the record. */
const needNotLeft = (db: Db, provider: string): Promise<void> =>
  refuseLeft(db, provider).catch((error: unknown) => {
    throw error instanceof LeftError ? new Refused('conflict', error.message) : error;
  });

const REASONS = {
  page: 'removed on the dashboard',
  command: 'removed on the command line',
  api: 'removed by the API',
} as const;

export const removeLink = defineOperation({
  ...OPERATOR,
  name: 'monitoring.remove',
  about: 'end a link, and the monitoring of its company for that record',
  input: Type.Object(linked),
  api: {
    method: 'DELETE',
    path: '/links',
    operationId: 'removeLink',
    status: 200,
    answer: linkView,
    refusals: { 404: 'The record is not linked to that company' },
  },
  async change(tx, input, context: ConnectorNeeds & Moment): Promise<Done<LinkChange>> {
    const { ref, entity } = readNamed(input, context);
    const { provider, recordId: record } = ref;
    const { now, via } = context;
    const link = await findLink(tx, ref);
    const isEnded =
      link?.entity === entity && (await endLink(tx, { ...ref, state: 'removed', reason: REASONS[via], now }));
    if (!isEnded) throw new Refused('unknown', `${entity} is not linked to ${provider}:${record} here`);
    const value = { provider, record, entity, isNew: true };
    return { value, audit: { subject: subjectOf(ref, entity), result: 'done' } };
  },
});

export const updateAll = defineOperation({
  ...OPERATOR,
  name: 'monitoring.update',
  about: 'ask the service for the whole state of every linked company, as after a restore; the daemon makes the calls',
  input: Type.Object({}),
  api: {
    method: 'POST',
    path: '/links/update',
    operationId: 'updateLinks',
    status: 200,
    answer: Type.Object({ companies: Type.Integer({ description: 'How many companies are asked for' }) }),
  },
  // In pages, because they may be many.
  async steps(
    _input,
    {
      store,
      now,
      record,
      signal = new AbortController().signal,
    }: Pick<LinkNeeds, 'signal'> & Ground & Moment & Recording,
  ) {
    const recorded: StepRecorder = (tx, count, before) => record(tx, { result: `${count} companies` }, before);
    return { companies: await askAllFullUpdates({ store, recorded }, () => now, signal) };
  },
});

export const acceptMatched = defineOperation({
  ...OPERATOR,
  name: 'match.accept',
  about: 'link a record without a number to the company that a person found for it',
  input: Type.Object(linked),
  async change(tx, input, context: ConnectorNeeds & Moment): Promise<Done<LinkChange>> {
    const { ref, entity } = readNamed(input, context);
    const { provider, recordId: record } = ref;
    const done = await acceptMatch(tx, ref, entity, context.now);
    if (done.kind === 'taken') throw takenBy(ref, done.entity);
    const replaced = { linked: entity, rejected: [] };
    await storeAnswer(tx, idOf('match', provider, record), { verb: 'accept', replaced }, context.now);
    const value = { provider, record, entity, isNew: true };
    return { value, audit: { subject: `${provider}:${record}`, detail: { entity }, result: 'done' } };
  },
});
