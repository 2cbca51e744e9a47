import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { digits, text } from './fields.ts';
import { precisePercentage, shareInterval } from './shares.ts';
import { current, entriesOf, hasEntries, later, newest, noteUnread, type Picked, type View, walk } from './validity.ts';

/** The bodies of a company that have events, by event, and its founders. */
export const BODIES = [
  'ownership',
  'trueOwnership',
  'trueVoteRights',
  'accountant',
  'board',
  'management',
  'stakeholders',
  'founders',
] as const;
export type RelationBody = (typeof BODIES)[number];

const BODY_NAMES: ReadonlySet<string> = new Set(BODIES);

export const isBody = (part: string): part is RelationBody => BODY_NAMES.has(part);

export interface BodyMember {
  readonly entityId: string;
  readonly name: string | null;
  /** In the wire's format: a band for a legal owner, an exact percentage for a beneficial one; null in other bodies. */
  readonly share: string | null;
}

/** A body on a day: its members by entity id, and when the register last touched it. */
export interface Membership {
  readonly members: readonly BodyMember[];
  readonly at: string | null;
}

export type RelationBodies = { readonly [B in RelationBody]: Membership };

/** How to recognise membership in a body. Any role counts: a chair is a member. */
interface Rule {
  readonly body: RelationBody;
  readonly attribute: string;
  readonly share?: (value: unknown) => string | null;
  /** Membership needs no data on the member. */
  readonly bare?: true;
}

const role = (body: RelationBody): readonly Rule[] => [{ body, attribute: 'FUNKTION' }];

// A board and owners have no hovedtype.
const BY_KIND: ReadonlyMap<string, readonly Rule[]> = new Map<string, readonly Rule[]>([
  ['REVISION', role('accountant')],
  ['STIFTERE', role('founders')],
  ['FULDT_ANSVARLIG_DELTAGERE', [{ body: 'stakeholders', attribute: 'FUNKTION', bare: true }]],
]);

/** For organisations whose hovedtype several bodies share: by hovedtype, then by organisationsNavn. */
const BY_NAME: ReadonlyMap<string, ReadonlyMap<string, readonly Rule[]>> = new Map([
  [
    'REGISTER',
    new Map<string, readonly Rule[]>([
      ['EJERREGISTER', [{ body: 'ownership', attribute: 'EJERANDEL_PROCENT', share: shareInterval }]],
      [
        'REELLE EJERE',
        [
          { body: 'trueOwnership', attribute: 'EJERANDEL_PROCENT', share: precisePercentage },
          { body: 'trueVoteRights', attribute: 'EJERANDEL_STEMMERET_PROCENT', share: precisePercentage },
        ],
      ],
    ]),
  ],
  [
    'LEDELSESORGAN',
    new Map([
      ['BESTYRELSE', role('board')],
      ['DIREKTION', role('management')],
    ]),
  ],
]);

const NO_RULES: readonly Rule[] = [];

const upper = (value: unknown): string => (typeof value === 'string' ? value.trim().toUpperCase() : '');

const functionOf = (organisation: JsonObject): unknown => {
  const attribute = entriesOf(organisation['attributter']).find(({ type }) => upper(type) === 'FUNKTION');
  return newest(attribute?.['vaerdier'])?.['vaerdi'];
};

const rulesOf = (organisation: JsonObject): readonly Rule[] => {
  const { hovedtype } = organisation;
  const kind = upper(hovedtype);
  const byName = BY_NAME.get(kind);
  if (byName === undefined) return BY_KIND.get(kind) ?? NO_RULES;
  const named = newest(organisation['organisationsNavn'])?.['navn'] ?? functionOf(organisation);
  return byName.get(upper(named)) ?? NO_RULES;
};

/** The entity of a participant. For a company without a Danish number, as for a person, it is the unit number. */
export const participantId = (participant: JsonObject): string | null => {
  const kind = upper(participant['enhedstype']);
  const key = participant['forretningsnoegle'];
  const cvr = kind === 'VIRKSOMHED' ? digits(key, 8) : null;
  if (cvr !== null) return `CVR-1-${cvr}`;
  const unit = kind === 'PRODUKTIONSENHED' ? digits(key, 10) : null;
  if (unit !== null) return `CVR-2-${unit}`;
  const number = text(participant['enhedsNummer']);
  return number !== null && /^[1-9]\d{0,15}$/.test(number) ? `CVR-3-${number}` : null;
};

/** The latest name of a participant. The periods of persons' names have no ends, or are missing. */
export const nameIn = (participant: JsonObject): string | null => text(newest(participant['navne'])?.['navn']);

interface MemberState {
  isMember: boolean;
  unread?: JsonObject;
  isNamed: boolean;
  share: string | null;
  at: string | null;
}

const shareNumber = (share: string | null): number => (share === null ? -1 : Number.parseFloat(share));

/** With several classes of capital, the largest share counts. */
const takeCurrent = (state: MemberState, rule: Rule, { entry, at }: Picked): void => {
  state.at = later(state.at, at);
  if (entry === undefined) return;
  const share = rule.share?.(entry['vaerdi']) ?? null;
  state.isMember = true;
  if (rule.share !== undefined && share === null) state.unread = entry;
  if (shareNumber(share) > shareNumber(state.share)) state.share = share;
};

/** Applies one rule to one organisation: whether it has a current member, and whether it ever named one. */
const memberStateBy = (rule: Rule, organisation: JsonObject, view: View): MemberState => {
  const state: MemberState = { isMember: false, isNamed: rule.bare === true, share: null, at: null };
  let isBare = true;
  for (const { attributter } of entriesOf(organisation['medlemsData'])) {
    for (const { type, vaerdier } of entriesOf(attributter)) {
      isBare = false;
      if (type !== rule.attribute) continue;
      state.isNamed ||= hasEntries(vaerdier);
      takeCurrent(state, rule, current(vaerdier, view));
    }
  }
  if (rule.bare === true && isBare) {
    let isNamed = !hasEntries(organisation['organisationsNavn']);
    state.at = walk(organisation['organisationsNavn'], view, () => {
      isNamed = true;
    });
    state.isMember = isNamed;
  }
  return state;
};

const byId = (a: BodyMember, b: BodyMember): number => (a.entityId < b.entityId ? -1 : a.entityId > b.entityId ? 1 : 0);

/** The people that a document names in a body, now or formerly. */
export interface Trace {
  readonly ids: ReadonlySet<string>;
  /** The document names somebody without identifying them. */
  readonly isPartial: boolean;
  readonly unread: ReadonlySet<string>;
}

/** By body; a body without names is absent. */
export type Traces = ReadonlyMap<RelationBody, Trace>;

/** Reads `deltagerRelation`, without participants that are null. Walks it once, because documents name hundreds. */
export const relationsOf = (document: JsonObject, view: View): { bodies: RelationBodies; traces: Traces } => {
  const members = new Map<RelationBody, Map<string, BodyMember>>();
  const touched = new Map<RelationBody, string | null>();
  const traces = new Map<RelationBody, { ids: Set<string>; isPartial: boolean; unread: Set<string> }>();
  const noteShare = (body: RelationBody, id: string, share: string | null | undefined, unread?: JsonObject): void => {
    if (share !== null) traces.get(body)?.unread.delete(id);
    else if (unread !== undefined) {
      traces.get(body)?.unread.add(id);
      noteUnread(view.unread, `${body} of ${id}`, unread);
    }
  };
  const take = ({ body }: Rule, state: MemberState, participant: JsonObject | undefined, id: string | null): void => {
    const { isMember, isNamed, share, at } = state;
    touched.set(body, later(touched.get(body) ?? null, at));
    if (isNamed) {
      const trace = traces.get(body) ?? { ids: new Set(), isPartial: false, unread: new Set() };
      if (id === null) trace.isPartial = true;
      else trace.ids.add(id);
      traces.set(body, trace);
    }
    if (!isMember || id === null || participant === undefined) return;
    const known = members.get(body) ?? new Map<string, BodyMember>();
    const same = known.get(id);
    if (same === undefined || shareNumber(share) > shareNumber(same.share))
      known.set(id, { entityId: id, name: same?.name ?? nameIn(participant), share });
    noteShare(body, id, known.get(id)?.share, state.unread);
    members.set(body, known);
  };
  for (const { deltager, organisationer } of entriesOf(document['deltagerRelation'])) {
    const participant = isJsonObject(deltager) ? deltager : undefined;
    const id = participant === undefined ? null : participantId(participant);
    for (const organisation of entriesOf(organisationer))
      for (const rule of rulesOf(organisation)) take(rule, memberStateBy(rule, organisation, view), participant, id);
  }
  const bodyOf = (body: RelationBody): Membership => ({
    members: [...(members.get(body)?.values() ?? [])].sort(byId),
    at: touched.get(body) ?? null,
  });
  const bodies = {
    ownership: bodyOf('ownership'),
    trueOwnership: bodyOf('trueOwnership'),
    trueVoteRights: bodyOf('trueVoteRights'),
    accountant: bodyOf('accountant'),
    board: bodyOf('board'),
    management: bodyOf('management'),
    stakeholders: bodyOf('stakeholders'),
    founders: bodyOf('founders'),
  };
  return { bodies, traces };
};
