/** Who stands in which relation to a company: its owners, beneficial owners, board, management, auditor, partners. */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { digits, text } from './fields.ts';
import { precisePercentage, shareInterval } from './shares.ts';
import { current, entriesOf, hasEntries, later, newest, noteUnread, type Picked, type View, walk } from './validity.ts';

/** The bodies of a company that the service tells of, by the events that do, and its founders. */
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

/** A member of a body. */
export interface BodyMember {
  readonly entityId: string;
  readonly name: string | null;
  /** As the wire writes it: a band of a legal owner, a precise percentage of a beneficial one; null in other bodies. */
  readonly share: string | null;
}

/** A body as of a day: its members by entity id, and when the register last touched anything in it. */
export interface Membership {
  readonly members: readonly BodyMember[];
  readonly at: string | null;
}

export type RelationBodies = { readonly [B in RelationBody]: Membership };

/** How membership in a body shows. Of a role body any role counts: a chair is a member like others. */
interface Rule {
  readonly body: RelationBody;
  readonly attribute: string;
  readonly share?: (value: unknown) => string | null;
  /** Counts without any data on the member. */
  readonly bare?: true;
}

const role = (body: RelationBody): readonly Rule[] => [{ body, attribute: 'FUNKTION' }];

// There is no hovedtype for a board or owners.
const BY_KIND: ReadonlyMap<string, readonly Rule[]> = new Map<string, readonly Rule[]>([
  ['REVISION', role('accountant')],
  ['STIFTERE', role('founders')],
  ['FULDT_ANSVARLIG_DELTAGERE', [{ body: 'stakeholders', attribute: 'FUNKTION', bare: true }]],
]);

/** Of organisations whose hovedtype several bodies share: by hovedtype, then by organisationsNavn. */
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

/** The entity a participant is. A company without a number here (a foreign one) goes by its unit number, as persons do. */
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

/** The latest name of a participant. Persons' names have periods without ends, or none. */
export const nameIn = (participant: JsonObject): string | null => text(newest(participant['navne'])?.['navn']);

interface Standing {
  isMember: boolean;
  /** The entry of a share that cannot be read. */
  unread?: JsonObject;
  isNamed: boolean;
  share: string | null;
  at: string | null;
}

const shareNumber = (share: string | null): number => (share === null ? -1 : Number.parseFloat(share));

/** Several classes of capital: the largest share tells most. */
const takeCurrent = (standing: Standing, rule: Rule, { entry, at }: Picked): void => {
  standing.at = later(standing.at, at);
  if (entry === undefined) return;
  const share = rule.share?.(entry['vaerdi']) ?? null;
  standing.isMember = true;
  if (rule.share !== undefined && share === null) standing.unread = entry;
  if (shareNumber(share) > shareNumber(standing.share)) standing.share = share;
};

/** Reads one rule on one organisation: whether its member is one today, and whether it names one, now or formerly. */
const standingBy = (rule: Rule, organisation: JsonObject, view: View): Standing => {
  const standing: Standing = { isMember: false, isNamed: rule.bare === true, share: null, at: null };
  let isBare = true;
  for (const { attributter } of entriesOf(organisation['medlemsData'])) {
    for (const { type, vaerdier } of entriesOf(attributter)) {
      isBare = false;
      if (type !== rule.attribute) continue;
      standing.isNamed ||= hasEntries(vaerdier);
      takeCurrent(standing, rule, current(vaerdier, view));
    }
  }
  if (rule.bare === true && isBare) {
    let isNamed = !hasEntries(organisation['organisationsNavn']);
    standing.at = walk(organisation['organisationsNavn'], view, () => {
      isNamed = true;
    });
    standing.isMember = isNamed;
  }
  return standing;
};

const byId = (a: BodyMember, b: BodyMember): number => (a.entityId < b.entityId ? -1 : a.entityId > b.entityId ? 1 : 0);

/** Who a document names in a body, now or formerly. */
export interface Trace {
  readonly ids: ReadonlySet<string>;
  /** Somebody is named of whom the document does not say who it is. */
  readonly isPartial: boolean;
  /** Of whom the document states a share that nobody can read. */
  readonly unread: ReadonlySet<string>;
}

/** Whom a document names, by body, also those who left with an end; of a body without names it says nothing. */
export type Traces = ReadonlyMap<RelationBody, Trace>;

/** Reads `deltagerRelation`, without participants that are null. In one walk: documents name hundreds. */
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
  const take = ({ body }: Rule, standing: Standing, participant: JsonObject | undefined, id: string | null): void => {
    const { isMember, isNamed, share, at } = standing;
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
    noteShare(body, id, known.get(id)?.share, standing.unread);
    members.set(body, known);
  };
  for (const { deltager, organisationer } of entriesOf(document['deltagerRelation'])) {
    const participant = isJsonObject(deltager) ? deltager : undefined;
    const id = participant === undefined ? null : participantId(participant);
    for (const organisation of entriesOf(organisationer))
      for (const rule of rulesOf(organisation)) take(rule, standingBy(rule, organisation, view), participant, id);
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
