/** The answers of a set-up so far. The store keeps them from step to step, without secrets. */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { readValue, writeValue } from '../store/kv.ts';
import type { Db, Tx } from '../store/store.ts';

/** The first operator. */
export const YOU = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 60,
    description: 'Your name, as the dashboard shows it next to what you do.',
  }),
});

/** The source of changes. */
export const SOURCE = Type.Object({
  changes: Type.Union(
    [
      Type.Object(
        { source: Type.Literal('sample') },
        { description: 'The sample register: invented companies, to try everything.' },
      ),
      Type.Object(
        {
          source: Type.Literal('register'),
          username: Type.String({ minLength: 1, description: 'User name at the register.' }),
          password: Type.String({ minLength: 1, secret: true, description: 'Password at the register.' }),
        },
        {
          description:
            'The company register itself, with credentials of your own from the Danish Business Authority: write to cvrselvbetjening@erst.dk. It is free and takes about three weeks.',
        },
      ),
      Type.Object(
        {
          source: Type.Literal('datafordeler'),
          apiKey: Type.String({
            minLength: 1,
            secret: true,
            description:
              'API key of an IT system at Datafordeler: sign in to its Administration at <https://datafordeler.dk>, and create both there.',
          }),
          apiKeyEnds: Type.Optional(
            Type.String({
              pattern: '^\\d{4}-\\d{2}-\\d{2}$',
              examples: ['2028-11-30'],
              description: 'The last day of the key, as 2028-11-30: cvrsync warns 30 days before.',
            }),
          ),
        },
        {
          description:
            'The company register at Datafordeler, with an API key that you make there at once: half of the facts, without owners and management.',
        },
      ),
      Type.Object(
        {
          source: Type.Literal('service'),
          baseUrl: Type.String({
            pattern: '^https?://[^/\\s]+(/[^\\s]*[^/\\s])?$',
            description: 'Address of the monitoring service, without a slash at the end.',
          }),
          accessKey: Type.String({ minLength: 1, secret: true, description: 'Its access key.' }),
          publicUrl: Type.String({
            pattern: '^https?://[^/\\s]+(/[^\\s]*[^/\\s])?$',
            description: 'Address at which the monitoring service reaches cvrsync, without a slash at the end.',
          }),
        },
        { description: 'Another monitoring service, for which you have a key.' },
      ),
    ],
    { description: 'Where changes of companies come from.' },
  ),
});

const POLICY = Type.Union([
  Type.Literal('tracked'),
  Type.Literal('always'),
  Type.Literal('if-blank'),
  Type.Literal('never'),
]);

const TARGET = Type.Object({
  property: Type.String(),
  policy: Type.Optional(POLICY),
  text: Type.Optional(Type.String()),
  case: Type.Optional(Type.Union([Type.Literal('upper'), Type.Literal('lower')])),
  join: Type.Optional(Type.String()),
});
const VALUE = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const connection = Type.Object({
  use: Type.String(),
  settings: Type.Record(Type.String(), Type.Unknown()),
  /** Whether the settings are valid. */
  isComplete: Type.Optional(Type.Boolean()),
  /** The property of the number; absent before that step. */
  match: Type.Optional(Type.String()),
  hold: Type.Optional(Type.String()),
  /** Whether somebody completed the step, even without a change. */
  isNumberChosen: Type.Optional(Type.Boolean()),
  isMapped: Type.Optional(Type.Boolean()),
  /** The policy of fields without one. */
  policy: Type.Optional(POLICY),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Literal(false), Type.Array(Type.Union([Type.String(), TARGET]))])),
  ),
  /** Values of the CRM, by field and value of the register. */
  values: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), VALUE))),
  /** Which records cvrsync writes to, by property. */
  only: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  /** Other keys of the connection, as in the file. */
  more: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type DraftConnection = Static<typeof connection>;

const draft = Type.Object({
  you: Type.Optional(YOU),
  /** Of the pages and mails; Danish time if absent. */
  timeZone: Type.Optional(Type.String()),
  /** By name. */
  connections: Type.Record(Type.String(), connection),
  /** The answers to {@link SOURCE}. */
  source: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** Absent if nobody gets alerts. */
  alerts: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The digest of the file that the set-up wrote and may replace. */
  written: Type.Optional(Type.String()),
  /** The digest of the file that the answers came from; absent at a first start. */
  read: Type.Optional(Type.String()),
  /** Whether they differ from that file. */
  isChanged: Type.Optional(Type.Boolean()),
});
export type Draft = Static<typeof draft>;

export const isDraft = (value: unknown): value is Draft => Value.Check(draft, value);

const EMPTY_DRAFT: Draft = { connections: {} };

const KEY = 'setup:draft';

/** The answers so far; none if another version stored them. */
export async function readDraft(db: Db): Promise<Draft> {
  const kept = await readValue(db, KEY);
  const value: unknown = kept === undefined ? undefined : JSON.parse(kept);
  return isDraft(value) ? value : EMPTY_DRAFT;
}

/** Changes the answers; keeps what another request changed meanwhile. */
export async function changeDraft(tx: Tx, change: (before: Draft) => Draft, now: number): Promise<Draft> {
  const after = change(await readDraft(tx));
  await writeValue(tx, KEY, JSON.stringify(after), now);
  return after;
}

/** Deletes the answers, which are in the file. */
export const forgetDraft = async (tx: Tx): Promise<void> =>
  void (await tx.deleteFrom('kv').where('key', 'in', [KEY, HOLDER_KEY]).execute());

/** The key of the person in the set-up; see holder.ts. */
export const HOLDER_KEY = 'setup:holder';

/** In the order of the pages. */
export const STEPS = ['you', 'crm', 'number', 'mapping', 'source', 'fill'] as const;
export type Step = (typeof STEPS)[number];

export function isAnswered({ you, connections, source }: Draft, step: Step): boolean {
  const all = Object.values(connections);
  if (step === 'you') return you !== undefined;
  if (step === 'crm') return all.length > 0 && all.every(({ isComplete }) => isComplete === true);
  if (step === 'number') return all.length > 0 && all.every(({ isNumberChosen }) => isNumberChosen === true);
  if (step === 'mapping') return all.length > 0 && all.every(({ isMapped }) => isMapped === true);
  if (step === 'source') return source !== undefined;
  return false;
}

/** The first step without an answer. */
export const nextStep = (of: Draft): Step => STEPS.find((step) => !isAnswered(of, step)) ?? 'fill';

export function withConnection(
  before: Draft,
  name: string,
  change: (connection: DraftConnection) => DraftConnection,
): Draft {
  const known = before.connections[name];
  if (known === undefined) return before;
  return { ...before, connections: { ...before.connections, [name]: change(known) } };
}
