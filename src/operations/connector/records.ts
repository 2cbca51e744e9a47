/** Operations on linked records: hold them, release a property, and end either. */
import Type, { type Static } from 'typebox';
import type { CrmSettings } from '../../connector/crm/crm.ts';
import { readRecordId } from '../../connector/crm/record-id.ts';
import { writtenProperties } from '../../connector/decide/plan.ts';
import { findLink, type Link } from '../../connector/links/links.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import {
  ALL_PROPERTIES,
  clearOverride,
  type NewOverride,
  type Override,
  readOverrides,
  setOverride,
} from '../../connector/overrides/override.ts';
import { plainText, timeText } from '../../service/routes/schemas.ts';
import type { Db, Tx } from '../../store/store.ts';
import { defineOperation, invalid, type Moment, Refused } from '../definition/operation.ts';

export interface ConnectorNeeds {
  readonly crms: readonly CrmSettings[];
}

const OPERATOR = { role: 'operator' } as const;
const REFUSALS = {
  404: 'The record is not linked to a company',
  409: 'The record was merged into another one, or is in another state',
} as const;

export const recordProperties = {
  provider: plainText('A connection, as the configuration names it', { maxLength: 64, example: 'hubspot' }),
  record: plainText('The id of the record in the CRM', { example: '8412345678' }),
};
const property = plainText('The property in the CRM', { example: 'name' });
const held = Type.Optional(plainText('The property in the CRM; the whole record if absent', { example: 'name' }));
const shownOverride = Type.Object({
  provider: Type.String(),
  record: Type.String(),
  property: Type.String({ description: '* stands for the whole record' }),
  entity: Type.String({ description: 'The company of the record' }),
});

export interface OverriddenProperty {
  readonly provider: string;
  readonly record: string;
  readonly property: string;
  readonly entity: string;
  readonly link: Link['state'];
}

/** The configured connection of a name; refuses any other name. */
export function needCrm(crms: ConnectorNeeds['crms'], name: string): CrmSettings {
  const crm = crms.find((each) => each.name === name);
  if (crm === undefined) throw invalid('/provider', 'is no configured connection');
  return crm;
}

/** The record in its canonical spelling; refuses other text. */
export function readRecord(crm: CrmSettings, text: string): RecordRef {
  const read = readRecordId(crm, text);
  if (read.kind === 'none') throw invalid('/record', `cannot be a record of ${crm.name}: ${read.reason}`);
  return { provider: crm.name, recordId: read.id };
}

/** A record with its link. Refuses a record without one, which usually means a mistyped id, and a merged one. */
async function needLinked(db: Db, ref: RecordRef): Promise<Link> {
  const link = await findLink(db, ref);
  const key = `${ref.provider}:${ref.recordId}`;
  if (link === undefined) throw new Refused('unknown', `${key} is not linked to a company`);
  // Its overrides moved to the survivor.
  if (link.state === 'merged')
    throw new Refused(
      'conflict',
      `${key} was ${link.reason ?? 'merged in the CRM'}: name the surviving record instead`,
    );
  return link;
}

function needProperty({ name, mapping }: CrmSettings, property: string): void {
  const names = writtenProperties(mapping);
  if (names.includes(property)) return;
  const meant = mapping.find((row) => row.field === property && row.policy !== 'never')?.property;
  const hint =
    meant === undefined ? `it writes ${names.join(', ')}` : `did you mean ${meant}, the property of ${property}?`;
  throw invalid('/property', `${property} is not written by ${name}: ${hint}`);
}

type Input = Static<typeof named>;
const named = Type.Object({ ...recordProperties, property: held });

/** The audit's subject: a record, and a property if the override is about one. */
const subjectOf = ({ provider, recordId }: RecordRef, property: string): string =>
  `${provider}:${recordId}${property === ALL_PROPERTIES ? '' : ` ${property}`}`;

interface PlacedOverride {
  readonly override: NewOverride;
  readonly detail: Readonly<Record<string, unknown>>;
}

async function place(
  tx: Tx,
  { provider, record, property = ALL_PROPERTIES }: Input,
  { override, detail }: PlacedOverride,
  { crms, now, actor, via }: ConnectorNeeds & Moment,
) {
  const crm = needCrm(crms, provider);
  const ref = readRecord(crm, record);
  if (property !== ALL_PROPERTIES) needProperty(crm, property);
  const { entity, state: link } = await needLinked(tx, ref);
  const before = (await readOverrides(tx, provider, [ref.recordId], now)).get(ref.recordId)?.get(property);
  const value: OverriddenProperty = { provider, record: ref.recordId, property, entity, link };
  if (isSame(before, override)) return { value };
  await setOverride(tx, { ...ref, property }, { ...override, by: { actor, via } }, now);
  return { value, audit: { subject: subjectOf(ref, property), detail, result: 'done' } };
}

const isSame = (before: Override | undefined, { kind, once, until, reason }: NewOverride): boolean =>
  before?.kind === kind && before.once === once && before.until === until && before.reason === reason;

const viewOf = ({ link: _, ...shown }: OverriddenProperty) => shown;

export const holdRecord = defineOperation({
  ...OPERATOR,
  name: 'record.hold',
  about: 'stop all writes to a record or to one of its properties, until a date or until you end the hold',
  input: Type.Object({
    ...recordProperties,
    property: held,
    until: Type.Optional(timeText('When the hold ends; never if absent')),
    reason: Type.Optional(plainText('The reason of the hold, which explain shows', { maxLength: 200 })),
  }),
  api: {
    method: 'POST',
    path: '/records/hold',
    operationId: 'holdRecord',
    status: 200,
    answer: shownOverride,
    examples: [{ provider: 'hubspot', record: '8412345678', property: 'name', reason: 'asked by sales' }],
    refusals: REFUSALS,
  },
  async change(tx, { until: end, reason = null, ...input }, context: ConnectorNeeds & Moment) {
    const until = end === undefined ? null : Date.parse(end);
    if (until !== null && until <= context.now) throw invalid('/until', 'is in the past');
    const detail = {
      ...(until !== null && { until: new Date(until).toISOString() }),
      ...(reason !== null && { reason: 'given' }),
    };
    return place(tx, input, { override: { kind: 'hold', once: false, until, reason }, detail }, context);
  },
  view: viewOf,
});

export const releaseProperty = defineOperation({
  ...OPERATOR,
  name: 'record.release',
  about: "let the register overwrite a person's edit of a property, from now on or once",
  input: Type.Object({
    ...recordProperties,
    property,
    once: Type.Boolean({ default: false, description: 'For one write only' }),
  }),
  api: {
    method: 'POST',
    path: '/records/release',
    operationId: 'releaseProperty',
    status: 200,
    answer: shownOverride,
    examples: [{ provider: 'hubspot', record: '8412345678', property: 'name', once: true }],
    refusals: REFUSALS,
  },
  change(tx, { once, ...input }, context: ConnectorNeeds & Moment) {
    const override = { kind: 'release', once, until: null, reason: null } as const;
    return place(tx, input, { override, detail: once ? { once } : {} }, context);
  },
  view: viewOf,
});

export const clearRecord = defineOperation({
  ...OPERATOR,
  name: 'record.clear',
  about: 'end a hold or a release',
  input: Type.Object({
    ...recordProperties,
    property: held,
    kind: Type.Enum(['hold', 'release'], { description: 'What ends' }),
  }),
  api: {
    method: 'POST',
    path: '/records/clear',
    operationId: 'clearRecord',
    status: 200,
    answer: shownOverride,
    examples: [{ provider: 'hubspot', record: '8412345678', property: 'name', kind: 'hold' }],
    refusals: REFUSALS,
  },
  async change(tx, { provider, record, property = ALL_PROPERTIES, kind }, { crms, now }: ConnectorNeeds & Moment) {
    const ref = readRecord(needCrm(crms, provider), record);
    const { entity, state: link } = await needLinked(tx, ref);
    const what = `${property === ALL_PROPERTIES ? '' : `${property} of `}${provider}:${ref.recordId}`;
    if (!(await clearOverride(tx, { ...ref, property }, kind, now)))
      throw new Refused('conflict', kind === 'hold' ? `${what} is not on hold` : `there is no release of ${what}`);
    const value: OverriddenProperty = { provider, record: ref.recordId, property, entity, link };
    return { value, audit: { subject: subjectOf(ref, property), detail: { kind }, result: 'done' } };
  },
  view: viewOf,
});
