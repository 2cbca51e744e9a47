/** Requests of runs. Each gets a preview first, and begins after {@link confirmRun}. */
import Type from 'typebox';
import { type BackfillRequest, requestBackfill } from '../../connector/backfill/plan/backfill-task.ts';
import { planRevision, readRun } from '../../connector/backfill/rows/progress.ts';
import { refuseLeft } from '../../connector/links/left.ts';
import { KINDS_FOR_ALL, kindsFor, REVIEW_KINDS, VERBS } from '../../connector/review/review-kinds.ts';
import { REVIEW } from '../../connector/review/review-task.ts';
import { UNDO, type UndoRequest } from '../../connector/undo/undo-task.ts';
import { isNarrow } from '../../connector/undo/writes.ts';
import { listOpenRuns, requestPreview } from '../../runtime/runs/runs.ts';
import { entityIdText, plainText, timeText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { readEntity } from '../definition/entities.ts';
import { defineOperation, invalid, type Moment } from '../definition/operation.ts';
import { runId } from '../installation/runs.ts';
import { type ConnectorNeeds, needCrm, recordProperties } from './records.ts';

const asked = Type.Object({ id: runId });
const OPERATOR = { role: 'operator' } as const;

const { provider } = recordProperties;
const property = plainText('A property in the CRM', { example: 'name' });

export const requestUndo = defineOperation({
  ...OPERATOR,
  name: 'undo.preview',
  about: 'preview an undo: what the CRMs would hold again; it begins once the run is confirmed',
  more: 'Name an event, a company, a time, or a record with its connection; the others narrow that. The same request names a confirmed run that is not over.',
  input: Type.Object({
    provider: Type.Optional(provider),
    record: Type.Optional(plainText('The id of a record', { example: '8412345678' })),
    entity: Type.Optional(entityIdText('A company or person')),
    property: Type.Optional(property),
    rule: Type.Optional(plainText('Only what was written by this rule', { example: 'register' })),
    event: Type.Optional(
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The number of an event' }),
    ),
    since: Type.Optional(timeText('Written at or after')),
    until: Type.Optional(timeText('Written before')),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Restore at most this many records; the next run continues' }),
    ),
    hold: Type.Optional(
      Type.String({
        pattern: '^(?:[1-9][0-9]{0,4}[mhdw]|forever)$',
        description: 'How long cvrsync leaves the restored values alone; 30 days if absent',
        examples: ['90d', 'forever'],
      }),
    ),
  }),
  api: {
    method: 'POST',
    path: '/runs/undo',
    operationId: 'previewUndo',
    status: 200,
    answer: asked,
    examples: [{ provider: 'hubspot', since: '2026-03-01T00:00:00Z', until: '2026-03-01T01:00:00Z' }],
  },
  async change(tx, { entity, since, until, ...others }, { now, actor, via }: Moment) {
    const input: UndoRequest = {
      ...others,
      ...(entity !== undefined && { entity: readEntity(entity, '/entity') }),
      ...(since !== undefined && { since: Date.parse(since) }),
      ...(until !== undefined && { until: Date.parse(until) }),
    };
    if (!isNarrow(input)) throw invalid('', 'must name an event, a company, a time, or a record with its connection');
    const open = (await listOpenRuns(tx, UNDO)).find((run) => run.stage === 'run' && isSame(run.input, input));
    return { value: { id: open?.id ?? (await requestPreview(tx, UNDO, { input, actor, via }, now)) } };
  },
});

const isSame = (one: UndoRequest, other: UndoRequest): boolean => JSON.stringify(one) === JSON.stringify(other);

export const requestAnswers = defineOperation({
  ...OPERATOR,
  name: 'review.preview',
  about: 'preview one answer to all entries of review of a kind; it is given once the run is confirmed',
  input: Type.Object({
    verb: Type.Enum(VERBS, { description: 'The answer' }),
    kind: Type.Optional(
      Type.Enum(REVIEW_KINDS, {
        description:
          'The kind of the entries; if absent, retry answers work, values, links and accounts, accept and keep differences',
      }),
    ),
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_650,
        description: 'How many days keep holds a value; without an end if absent',
      }),
    ),
    provider: Type.Optional(provider),
    property: Type.Optional(property),
  }),
  api: {
    method: 'POST',
    path: '/runs/answers',
    operationId: 'previewAnswers',
    status: 200,
    answer: asked,
    examples: [{ verb: 'accept', kind: 'difference', provider: 'hubspot', property: 'phone' }],
  },
  async change(tx, asked, { now, actor, via }: Moment) {
    const { verb } = asked;
    const kinds = kindsFor(asked);
    const [kind] = kinds;
    if (kind === undefined) throw invalid('/kind', `must be one of ${KINDS_FOR_ALL[verb].join(', ')}`);
    if (!kinds.every((each) => KINDS_FOR_ALL[verb].some((one) => one === each)))
      throw invalid('/verb', `is no answer to all entries of the kind ${kind}`);
    const input = { ...asked, ...(kinds.length === 1 && { kind }) };
    return { value: { id: await requestPreview(tx, REVIEW, { input, actor, via }, now) } };
  },
});

const plan = {
  provider,
  revision: Type.Optional(
    plainText('The version of the plan that you saw, or nothing is done; the present one if absent'),
  ),
};

type Asking = ConnectorNeeds & Moment;

export const scanCrm = defineOperation({
  ...OPERATOR,
  name: 'backfill.scan',
  about: 'scan a CRM for companies by their number; this makes a plan, and forgets the one before',
  input: Type.Object({
    ...plan,
    goesOn: Type.Boolean({ default: false, description: 'Continue a scan that was stopped' }),
    trust: Type.Optional(
      Type.Enum(['crm', 'register'], {
        description: 'Whose value stays where a property differs, if an apply by `cvrsync backfill` does not say so',
      }),
    ),
    sendUpdate: Type.Optional(
      Type.Boolean({ description: 'Have the service send each company in full at an apply by `cvrsync backfill`' }),
    ),
  }),
  api: {
    method: 'POST',
    path: '/runs/scan',
    operationId: 'scanCrm',
    status: 200,
    answer: asked,
    examples: [{ provider: 'hubspot' }],
  },
  change: (tx, input, context: Asking) => requestPlan(tx, { kind: 'scan', ...input }, context),
});

export const matchRecords = defineOperation({
  ...OPERATOR,
  name: 'match.run',
  about: 'scan a CRM, and find the company of its records without a number, for people to accept; links nothing',
  more: 'It needs the company index. It makes a plan of the scan, too, and forgets the one before.',
  input: Type.Object(plan),
  api: {
    method: 'POST',
    path: '/runs/match',
    operationId: 'matchRecords',
    status: 200,
    answer: asked,
    examples: [{ provider: 'hubspot' }],
  },
  change: (tx, input, context: Asking) => requestPlan(tx, { kind: 'match', ...input }, context),
});

export const previewApply = defineOperation({
  ...OPERATOR,
  name: 'backfill.preview',
  about: 'preview the links that the plan of a CRM makes; it is applied once the run is confirmed',
  input: Type.Object({
    ...plan,
    trust: Type.Enum(['crm', 'register'], {
      default: 'crm',
      description: 'Whose value stays where a property differs',
    }),
    sendUpdate: Type.Boolean({ default: false, description: 'Have the service send each company in full' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Link at most so many records; the rest stays planned',
      }),
    ),
    isMeant: Type.Boolean({ default: false, description: 'Accept the warnings of the preview' }),
    decidesAgain: Type.Optional(
      Type.Boolean({
        description:
          'Decide a record again whose number changed since the scan; without it such a record is left to a person',
      }),
    ),
    writesNumber: Type.Optional(
      Type.Boolean({ description: 'Of a plan of matches: write the number of the company into records without one' }),
    ),
  }),
  api: {
    method: 'POST',
    path: '/runs/apply',
    operationId: 'previewApply',
    status: 200,
    answer: asked,
    examples: [{ provider: 'hubspot' }],
  },
  change: (tx, input, context: Asking) => requestPlan(tx, { kind: 'apply', ...input }, context),
});

type PlanRequest = Omit<BackfillRequest, 'revision'> & { readonly revision?: string };

/** Requests a run on the plan of a connection; if one is open, returns that one. */
async function requestPlan(tx: Tx, { revision, ...request }: PlanRequest, { crms, now, actor, via }: Asking) {
  const crm = needCrm(crms, request.provider);
  await refuseLeft(tx, crm.name);
  if (crm.match === undefined) throw invalid('/provider', 'has no property for the CVR number: set match for it');
  const input = { ...request, revision: revision ?? planRevision(await readRun(tx, crm.name)) };
  return { value: { id: await requestBackfill(tx, { input, actor, via }, now) } };
}
