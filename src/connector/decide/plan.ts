/** Plans what one record should hold, property by property, and the patch for it. Pure. */
import { createHash } from 'node:crypto';
import { compose, fieldsIn } from '../../../providers/composed.ts';
import { FIELDS, type FieldName, type FieldValue } from '../../../providers/fields.ts';
import type { PresetRow, Property, PropertyValue } from '../../../providers/provider.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { resolveTokens } from '../../protocol/news.ts';
import { type Fact, factValue, type Whole } from '../facts/fact.ts';
import { isPerson } from '../facts/persons.ts';
import type { Link } from '../links/links.ts';
import { type Overrides, overrideFor } from '../overrides/override.ts';
import { withCarried } from './carry.ts';
import { withCurrencies } from './currency.ts';
import { type DecisionRule, decide, isBlank, isOneOf } from './decide.ts';
import { type AddressPart, addressesIn, decideGroup, isAddressPart } from './group.ts';
import { lateOf, withLatePutBacks } from './late.ts';
import type { PropertyMemory, RefusedValue } from './memory.ts';
import { partnersIn } from './partners.ts';
import type { Late, Planned } from './planned.ts';
import { withPutBacks } from './put-back.ts';
import { type Rendered, render, type ValueMap } from './render.ts';
import { sameFor } from './same.ts';

export interface PlanInput {
  readonly entity: string;
  readonly mapping: readonly PresetRow[];
  readonly values: Readonly<Record<string, ValueMap | undefined>>;
  /** Whether persons may be named in lists of companies, such as auditors. */
  readonly persons: boolean;
  readonly currency?: string | undefined;
  readonly dashboard?: string | undefined;
  readonly schema: ReadonlyMap<string, Property>;
  readonly facts: ReadonlyMap<FieldName, Fact>;
  readonly known: (field: FieldName) => readonly FieldValue[];
  /** All known register addresses, each complete. */
  readonly wholes: readonly Whole[];
  readonly remembered: ReadonlyMap<string, PropertyMemory>;
  readonly overrides: Overrides;
  readonly trust: Link['trust'];
  /** Whether the CRM tells what a write replaced, in its answer or its history; see {@link withCarried}. */
  readonly tellsEdits?: boolean | undefined;
  /**
   * The CRM's values. A property without one cannot be read (answer-check ensures this), and is taken to hold our last
   * write.
   */
  readonly crm: Readonly<Record<string, PropertyValue>>;
}

/** The mapping rows that apply to an account with this schema. */
export const rowsFor = (mapping: readonly PresetRow[], schema: ReadonlyMap<string, Property>): readonly PresetRow[] =>
  mapping.filter(
    (row) =>
      row.policy !== 'never' &&
      !(row.unless !== undefined && schema.has(row.unless)) &&
      !(row.optional === true && !schema.has(row.property)),
  );

export const writtenProperties = (mapping: readonly PresetRow[]): readonly string[] => [
  ...new Set(mapping.filter(({ policy }) => policy !== 'never').map(({ property }) => property)),
];

/** Skips fields without a fact or known in part, and records of natural persons who may not be named. */
export function planRecord(input: PlanInput): readonly Planned[] {
  if (!input.persons && isPerson(input.entity, undefined)) return [];
  const parts = rowsFor(input.mapping, input.schema).flatMap((row): readonly AddressPart[] => {
    const fact = row.text === undefined ? factFor(input, row.field) : composedFact(input, row.text);
    const value = fact === undefined ? undefined : factValue(fact);
    // Protection is true or false; anything else means unknown.
    const isUnknown = value === undefined || (value === null && FIELDS[row.field].kind === 'boolean');
    if (fact === undefined || isUnknown) return [];
    return [partOf(input, row, withOverwritten(input, row, planProperty(input, row, fact, value)))];
  });
  const partners = () => partnersIn(input.mapping, input.schema);
  const back = withPutBacks(withLatePutBacks(parts, partners), partners);
  const decided = withCurrencies(asGroups(back, addressesIn(input.mapping)), input);
  return withCarried(decided, input, partners);
}

/** Decides each address as one. Keeps the order of the rows. */
function asGroups(parts: readonly AddressPart[], addresses: ReadonlyMap<string, string>): readonly Planned[] {
  const groups = Map.groupBy(parts, ({ planned }) => addresses.get(planned.property));
  const decided = new Map<string, Planned>();
  for (const [address, group] of groups)
    for (const planned of address === undefined ? [] : decideGroup(group)) decided.set(planned.property, planned);
  return parts.flatMap(({ planned }) =>
    addresses.has(planned.property) ? (decided.get(planned.property) ?? []) : [planned],
  );
}

function partOf(input: PlanInput, row: PresetRow, planned: Planned): AddressPart {
  const { field, policy } = row;
  const property = input.schema.get(row.property);
  if (!isAddressPart(field) || property === undefined) return { ...ALONE, planned, policy, old: planned.old };
  const remembered = input.remembered.get(row.property);
  const known = input.wholes.map((whole) => {
    const value = whole[field];
    const rendered = value === undefined ? undefined : renderFor(input, row, property, value);
    return rendered?.ok === true ? rendered.value : undefined;
  });
  return {
    planned,
    policy,
    old: planned.old,
    ours:
      planned.late === undefined
        ? [remembered?.written, remembered?.stored]
        : [planned.late.now, planned.late.stored, remembered?.stored],
    known,
    trusted: isTrusted(input, row),
    same: sameFor(field, property),
  };
}

const ALONE: Pick<AddressPart, 'ours' | 'known' | 'trusted' | 'same'> = {
  ours: [],
  known: [],
  trusted: false,
  same: Object.is,
};

/** The fact of a field. The number and the page's address come from the entity id: no event states them. */
function factFor({ entity, facts, dashboard }: PlanInput, field: FieldName): Fact | undefined {
  const derived = (scalar: string): Fact => ({ entity, field, clock: '', seq: 0, value: { scalar } });
  if (field === 'dashboardUrl')
    return dashboard === undefined ? undefined : derived(`${dashboard}/companies/${entity}`);
  // No event states a region: a known address clears it.
  if (field === 'region')
    return facts.has('street') ? { ...derived(''), seq: facts.get('street')?.seq ?? 0 } : undefined;
  if (field !== 'cvrNumber') return facts.get(field);
  const id = parseEntityId(entity);
  return id?.kind === 'company' ? derived(id.number) : undefined;
}

/** The fact of a composed text: as new as the newest of its fields. Undefined while one of them is unknown. */
function composedFact(input: PlanInput, text: string): Fact | undefined {
  const facts = new Map(fieldsIn(text).map((field) => [field, factFor(input, field)]));
  const values = new Map([...facts].map(([field, fact]) => [field, fact && factValue(fact)]));
  const isUnknown = ([field, value]: readonly [FieldName, FieldValue | undefined]): boolean =>
    value === undefined || (value === null && FIELDS[field].kind === 'boolean');
  if ([...values].some(isUnknown)) return undefined;
  const scalar = compose(text, (field) => nameable(field, values.get(field) ?? null, input.persons));
  const seq = Math.max(0, ...[...facts.values()].map((fact) => fact?.seq ?? 0));
  return { entity: input.entity, field: 'composed', clock: '', seq, value: { scalar } };
}

/**
 * The texts of earlier: with each known address as a whole, and with each known value of one other field among today's
 * values. An address of parts that never stood together was typed by a person.
 */
function composedBefore(input: PlanInput, text: string): readonly FieldValue[] {
  const fields = fieldsIn(text);
  const now = (field: FieldName): FieldValue => {
    const fact = factFor(input, field);
    return (fact && factValue(fact)) ?? null;
  };
  // A part that an address did not have was blank, not today's.
  const valueIn =
    (known: Whole) =>
    (field: FieldName): FieldValue => {
      const value = known[field];
      return value === undefined ? now(field) : value;
    };
  return [
    ...input.wholes.map((whole) => compose(text, valueIn(whole))),
    ...fields
      .filter((one) => !isAddressPart(one))
      .flatMap((one) =>
        input.known(one).map((value) => compose(text, (field) => (field === one ? value : now(field)))),
      ),
  ];
}

/**
 * The row that writes the CVR number into the match property after a person accepted a match. It keeps an existing
 * number, and writes once only.
 */
export const numberRow = (
  match: string | undefined,
  { writesNumber, remembered }: { readonly writesNumber: boolean } & Pick<PlanInput, 'remembered'>,
): readonly PresetRow[] =>
  match === undefined || !writesNumber || remembered.get(match)?.written !== undefined
    ? []
    : [{ field: 'cvrNumber', property: match, policy: 'if-blank' }];

/** Plans one property, some thirty a record. Most end as a plain decision, so the rest is computed only if needed. */
function planProperty(input: PlanInput, row: PresetRow, fact: Fact, value: FieldValue): Planned {
  const { field, property: name, policy } = row;
  const property = input.schema.get(name);
  const remembered = input.remembered.get(name);
  const old = (Object.hasOwn(input.crm, name) ? input.crm[name] : remembered?.written) ?? null;
  const subject = { input, row, fact, value, old };
  if (property === undefined) return setAside(subject, 'missing', `the CRM has no property ${name}`);
  if (!property.writable) return setAside(subject, 'read-only', unwritable(property));
  const rendered = renderFor(input, row, property, value);
  if (!rendered.ok) return setAside(subject, 'set-aside', rendered.reason);
  const now = rendered.value;
  const { seq } = fact;
  const same = sameFor(field, property);
  const refused = remembered?.refused;
  if (refused !== undefined && isAside(refused, now, property) && !same(old, now))
    return { ...setAside(subject, 'set-aside', refused.reason), now, ...retryOf(refused) };
  const held = isUntouched(remembered, old, now) ? null : old;
  // A blank value needs no evidence.
  const known = isBlank(held) ? [] : knownBefore(input, row, property);
  const { override, outdated } = countingOverride(input.overrides, name, old, same);
  const trusted = isTrusted(input, row);
  const late = remembered && lateOf(remembered, old, same);
  const last = late === undefined ? remembered?.written : late.now;
  const stored = storedOf(remembered, late, override);
  const overtaken = late?.overtook === true;
  const isAhead = remembered?.aheadOf !== undefined && seq <= remembered.aheadOf;
  const inputs = {
    crm: held,
    now,
    known,
    last,
    stored,
    overtaken,
    isAhead,
    policy,
    override: override?.kind,
    trusted,
    same,
  };
  const decision = decide(inputs);
  const planned: Planned = { field, property: name, action: decision.action, rule: decision.rule, old, now, seq };
  // Most have nothing more, and spreading absent parts takes longer than the decision.
  if (override === undefined && outdated === undefined && !trusted && late === undefined) return planned;
  return withCircumstances(planned, { override, outdated, trusted, late });
}

function withCircumstances(
  planned: Planned,
  {
    override,
    outdated,
    trusted,
    late,
  }: Pick<Planned, 'override' | 'outdated' | 'late'> & { readonly trusted: boolean },
): Planned {
  const trusts = trusted && (planned.action === 'write' || HOLDS_NOW.has(planned.rule)) ? true : undefined;
  return { ...planned, override, outdated, trusts, late };
}

const isAside = ({ value, aside }: RefusedValue, now: PropertyValue, property: Property): boolean =>
  aside !== undefined && value === JSON.stringify(now) && aside.schema === fingerprint(property);

const retryOf = ({ aside }: RefusedValue): Pick<Planned, 'retryAt'> =>
  aside === undefined ? {} : { retryAt: aside.until };

const isTrusted = ({ trust, remembered }: PlanInput, { policy, property }: PresetRow): boolean =>
  trust === 'register' && policy === 'tracked' && remembered.get(property)?.trusted !== true;

/** Undefined under a single-use release: the value is written again. */
const storedOf = (
  remembered: PropertyMemory | undefined,
  late: Late | undefined,
  override: Planned['override'] | undefined,
): PropertyValue | undefined => (override?.once === true ? undefined : (late ?? remembered)?.stored);

/** Adds the edit that our write replaced in the property. */
function withOverwritten(input: PlanInput, row: PresetRow, planned: Planned): Planned {
  const remembered = input.remembered.get(row.property);
  const edit = remembered?.overwritten;
  const property = input.schema.get(row.property);
  if (edit === undefined) return planned;
  const { value, by, beside } = edit;
  const known = { value, isBeside: beside === true };
  if (property?.writable !== true)
    return { ...planned, overwritten: { ...known, isOurs: false, isBack: false, rule: 'edited' } };
  const { written: last, stored } = remembered ?? {};
  const same = sameFor(row.field, property);
  const override = countingOverride(input.overrides, row.property, planned.old, same);
  const { rule } = decide({
    ...{ crm: value, now: planned.now, known: knownBefore(input, row, property), last, same },
    ...{ stored, policy: row.policy, override: override.override?.kind, trusted: isTrusted(input, row) },
  });
  const isOurs = isOneOf(planned.old, [by, last, stored], same);
  return { ...planned, ...override, overwritten: { ...known, isOurs, isBack: same(planned.old, value), rule } };
}

/** A checkbox has no blank value: unticked counts as blank if nobody is known to have cleared it. */
const isUntouched = (remembered: PropertyMemory | undefined, old: PropertyValue, now: PropertyValue): boolean =>
  old === false && now === true && remembered?.written === undefined && remembered?.kept === undefined;

export const unwritable = ({ name, readOnly }: Property): string =>
  readOnly === undefined
    ? `${name} cannot be written with these credentials`
    : `${name} cannot be written: ${readOnly}`;

interface Subject {
  readonly input: PlanInput;
  readonly row: PresetRow;
  readonly fact: Fact;
  readonly value: FieldValue;
  readonly old: PropertyValue;
}

function setAside({ input, row, fact, value, old }: Subject, rule: string, detail: string): Planned {
  const { field, property } = row;
  const now = historyText(nameable(field, value, input.persons));
  return { field, property, action: 'set-aside', rule, old, now, seq: fact.seq, detail };
}

const renderFor = (
  { values, persons }: PlanInput,
  { field, join, case: letters }: PresetRow,
  property: Property,
  value: FieldValue,
): Rendered => render(field, nameable(field, value, persons), property, { values: values[field], join, letters });

const knownBefore = (input: PlanInput, row: PresetRow, property: Property): readonly PropertyValue[] =>
  (row.text === undefined ? input.known(row.field) : composedBefore(input, row.text)).flatMap((each) => {
    const earlier = renderFor(input, row, property, each);
    return earlier.ok && !isCommonNumber(earlier.value) ? [earlier.value] : [];
  });

/** A number so short that a person may have typed it by chance. */
const isCommonNumber = (value: PropertyValue): boolean => typeof value === 'number' && Math.abs(value) < 1_000;

type Same = (a: PropertyValue, b: PropertyValue) => boolean;

const HOLDS_NOW: ReadonlySet<string> = new Set(['same', 'stored'] satisfies DecisionRule[]);

/** The property's override; `outdated` if it releases a value that has changed. */
function countingOverride(
  overrides: Overrides,
  property: string,
  crm: PropertyValue,
  same: Same,
): Pick<Planned, 'override' | 'outdated'> {
  const found = overrideFor(overrides, property);
  if (found === undefined) return {};
  const isOutdated = typeof found.seen === 'string' && !same(crm, JSON.parse(found.seen));
  return isOutdated ? { outdated: found } : { override: found };
}

/** Resolves the tokens of a headline, and removes persons who may not be named. */
function nameable(field: FieldName, value: FieldValue, persons: boolean): FieldValue {
  if (field === 'newsHeadline' && typeof value === 'string')
    return resolveTokens(value, (id) => !persons && isPerson(id, undefined));
  if (persons || typeof value !== 'object' || value === null || 'persons' in FIELDS[field]) return value;
  return value.filter(({ id, type }) => !isPerson(id, type));
}

/** The value as history shows it if it cannot be rendered. */
const historyText = (value: FieldValue): PropertyValue =>
  typeof value === 'object' && value !== null ? value.map((member) => member.name).join(', ') : value;

/** Changes with the CRM's description of the property; a refused value is then sent again. */
export const fingerprint = (property: Property): string =>
  createHash('sha256').update(JSON.stringify(property)).digest('base64url').slice(0, 16);

export const patchOf = (planned: readonly Planned[]): Readonly<Record<string, PropertyValue>> =>
  Object.fromEntries(
    planned.flatMap(({ property, action, now, carried }) => {
      const sent = action === 'write' ? now : carried;
      return sent === undefined ? [] : [[property, sent]];
    }),
  );
