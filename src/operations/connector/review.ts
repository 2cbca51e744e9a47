/** Operations on entries of review: answer one, take an answer back, and give the answers of a file. */
import Type from 'typebox';
import { rejectUndecided } from '../../connector/match/answer.ts';
import { storeAnswer } from '../../connector/review/given-answers.ts';
import { problemOf, requestFileAnswers } from '../../connector/review/import-answers.ts';
import { resolveIfUnchanged } from '../../connector/review/resolve.ts';
import { idOf, type ReviewVerb, VERBS } from '../../connector/review/review-kinds.ts';
import { type TakenBack, takeBack } from '../../connector/review/take-back.ts';
import type { Selection } from '../../connector/undo/writes.ts';
import { plainText, timeText } from '../../service/routes/schemas.ts';
import type { Tx } from '../../store/store.ts';
import { type Done, defineOperation, type Moment, Refused } from '../definition/operation.ts';
import { runId } from '../installation/runs.ts';
import { type ConnectorNeeds, needCrm, readRecord, recordProperties } from './records.ts';

const OPERATOR = { role: 'operator' } as const;
const DAY_MS = 86_400_000;

const EXAMPLE = { id: 'link/hubspot/8412345678' } as const;
const id = plainText('The id of the entry, as the list of review shows it', {
  maxLength: 1_000,
  example: EXAMPLE.id,
});
const named = {
  id,
  revision: Type.Optional(
    plainText('The version of the entry that you saw, or nothing is done; the present one if absent'),
  ),
};
const answerView = Type.Object({
  id: Type.String(),
  note: Type.String({ description: 'What the answer does' }),
});
const REFUSALS = {
  404: 'There is no such entry: somebody answered it, or it ended by itself',
  409: 'The entry does not take this answer, or is another one than you saw',
} as const;

/** What an answer did, or what taking it back did. */
export interface EntryAnswer {
  readonly id: string;
  readonly note: string;
}

/** The code of the refusal of an answer to another version of an entry. */
export const CHANGED = 'changed';

interface Answering {
  readonly id: string;
  readonly revision?: string;
  readonly days?: number;
}

async function answer(
  verb: ReviewVerb,
  { id: entry, revision = '', days }: Answering,
  { tx, now, actor, via }: Moment & { readonly tx: Tx },
): Promise<Done<EntryAnswer>> {
  const until = days === undefined ? null : now + days * DAY_MS;
  const resolved = await resolveIfUnchanged(tx, verb, { id: entry, revision, until, by: { actor, via } }, now);
  switch (resolved.kind) {
    case 'done':
      return {
        value: { id: entry, note: resolved.note },
        audit: { subject: entry, detail: days === undefined ? undefined : { days }, result: resolved.note },
      };
    case 'impossible':
      throw new Refused('conflict', resolved.reason);
    case 'changed':
      throw new Refused('conflict', 'it changed since it was listed', { code: CHANGED });
    case 'unknown':
      throw new Refused('unknown', 'there is no entry of review with this id');
  }
}

const answering = (verb: Exclude<ReviewVerb, 'keep'>, about: string) =>
  defineOperation({
    ...OPERATOR,
    name: `review.${verb}`,
    about,
    input: Type.Object(named),
    api: {
      method: 'POST',
      path: `/review/${verb}`,
      operationId: `${verb}Entry`,
      status: 200,
      answer: answerView,
      examples: [EXAMPLE],
      refusals: REFUSALS,
    },
    change: (tx, input, context: Moment) => answer(verb, input, { ...context, tx }),
  });

export const retryEntry = answering('retry', 'try again what failed');
export const dropEntry = answering('drop', 'give up what failed, or forget it');
export const acceptEntry = answering(
  'accept',
  'decide for the register: write its value once, make a link in conflict count, or link a suggested company',
);
export const keepEntry = defineOperation({
  ...OPERATOR,
  name: 'review.keep',
  about: 'decide for the CRM: hold its value, remove a link in conflict, or reject a suggested company',
  input: Type.Object({
    ...named,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_650,
        description: 'Of a difference: how many days the hold lasts; without an end if absent',
      }),
    ),
  }),
  api: {
    method: 'POST',
    path: '/review/keep',
    operationId: 'keepEntry',
    status: 200,
    answer: answerView,
    examples: [{ id: EXAMPLE.id, days: 90 }],
    refusals: REFUSALS,
  },
  change: (tx, input, context: Moment) => answer('keep', input, { ...context, tx }),
});

export const ANSWERS = {
  retry: retryEntry,
  drop: dropEntry,
  accept: acceptEntry,
  keep: keepEntry,
} as const satisfies Readonly<Record<ReviewVerb, unknown>>;

export interface AnswerTakenBack extends EntryAnswer {
  /** What cvrsync wrote because of the answer. */
  readonly written: Extract<TakenBack, { kind: 'done' }>['written'];
}

const selection = Type.Object({
  provider: Type.Optional(Type.String()),
  record: Type.Optional(Type.String()),
  entity: Type.Optional(Type.String()),
  property: Type.Optional(Type.String()),
  since: Type.Optional(timeText('Written at or after')),
});

/** What was written, as the selection of an undo. */
export const undoOf = ({ provider, record, entity, property, since }: Selection) => ({
  provider,
  record,
  entity,
  property,
  since: since === undefined ? undefined : new Date(since).toISOString(),
});

export const takeAnswerBack = defineOperation({
  ...OPERATOR,
  name: 'review.takeBack',
  about: 'take an answer back: restore what it replaced, and put the entry back into review',
  input: Type.Object({ id }),
  api: {
    method: 'POST',
    path: '/review/take-back',
    operationId: 'takeAnswerBack',
    examples: [EXAMPLE],
    status: 200,
    answer: Type.Object({
      id: Type.String(),
      note: Type.String({ description: 'What is so again' }),
      written: Type.Array(selection, {
        description: 'What cvrsync wrote because of the answer: previewUndo takes each of these',
      }),
    }),
    refusals: {
      404: 'Nobody answered it, or its answer cannot be taken back any more',
      409: 'It changed since',
    },
  },
  async change(tx, { id: entry }, { now }: Moment): Promise<Done<AnswerTakenBack>> {
    const taken = await takeBack(tx, entry, now);
    if (taken.kind === 'unknown') throw new Refused('unknown', 'there is no answer to this entry to take back');
    if (taken.kind === 'changed') throw new Refused('conflict', 'it changed since', { code: CHANGED });
    const { note, written } = taken;
    return { value: { id: entry, note, written }, audit: { subject: entry, result: note } };
  },
  view: ({ id: entry, note, written }) => ({ id: entry, note, written: written.map(undoOf) }),
});

export const importAnswers = defineOperation({
  ...OPERATOR,
  name: 'review.import',
  about:
    'preview answers of their own to many entries of review, such as those of a file; they are given once the run is confirmed',
  input: Type.Object({
    answers: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The id of the entry' }),
        answer: Type.Enum(VERBS, { description: 'The answer' }),
        revision: Type.Optional(Type.String({ description: 'The version of the entry that you saw, if it has one' })),
      }),
      { minItems: 1, description: 'The answers' },
    ),
  }),
  api: {
    method: 'POST',
    path: '/runs/answer-list',
    operationId: 'importAnswers',
    examples: [{ answers: [{ id: 'lane/sync:hubspot/8412345678', answer: 'retry' }] }],
    status: 200,
    answer: Type.Object({ id: runId }),
  },
  check: ({ answers }) =>
    answers.flatMap(({ id: entry, revision = '' }, at) => {
      const message = problemOf({ id: entry, revision });
      return message === undefined ? [] : [{ path: `/answers/${at}`, message }];
    }),
  async change(tx, { answers }, { now, actor, via }: Moment) {
    const rows = answers.map(({ id: entry, answer: verb, revision = '' }) => ({ id: entry, verb, revision }));
    return { value: { id: await requestFileAnswers(tx, rows, { actor, via }, now) } };
  },
});

export const rejectMatched = defineOperation({
  ...OPERATOR,
  name: 'match.reject',
  about: 'say that a record without a number means none of the companies that were found for it',
  input: Type.Object(recordProperties),
  api: {
    method: 'POST',
    path: '/match/reject',
    operationId: 'rejectMatch',
    examples: [{ provider: 'hubspot', record: '8412345678' }],
    status: 200,
    answer: Type.Object({
      entities: Type.Array(Type.String(), { description: 'The companies that it does not mean' }),
    }),
    refusals: { 404: 'No company that was found for the record waits for an answer' },
  },
  async change(
    tx,
    input,
    { crms, now }: ConnectorNeeds & Moment,
  ): Promise<Done<{ readonly entities: readonly string[] }>> {
    const ref = readRecord(needCrm(crms, input.provider), input.record);
    const entities = await rejectUndecided(tx, ref, now);
    if (entities === undefined)
      throw new Refused('unknown', 'there is no match of this record that waits for an answer');
    const replaced = { rejected: entities };
    await storeAnswer(tx, idOf('match', ref.provider, ref.recordId), { verb: 'keep', replaced }, now);
    const subject = `${ref.provider}:${ref.recordId}`;
    return { value: { entities }, audit: { subject, detail: { entities }, result: 'done' } };
  },
});
