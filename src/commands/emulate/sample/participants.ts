/** The participants of a sample company in the register's shape: who owns, directs and audits it, and since when. */
import type { Entity, Owner, Voter } from '../../../protocol/formats.ts';
import type { SampleCompany } from '../../../protocol/sample/company.ts';
import { memberRuns, periodOf, type SamplePeriod, type SampleRun, UNDATED, type Version } from './value-runs.ts';

type Json = Readonly<Record<string, unknown>>;
type Named = Pick<Entity, 'entityId'>;
type Member = Entity & Partial<Pick<Owner, 'ownership'> & Pick<Voter, 'voterights'>>;

/** The register stores an owner's share as the lower bound of its interval. */
const LOWER: Readonly<Record<string, string>> = {
  '5-10': '0.05',
  '10-15': '0.1',
  '15-20': '0.15',
  '20-25': '0.2',
  '25-33.33': '0.25',
  '33.33-50': '0.3333',
  '50-66.67': '0.5',
  '66.67-90': '0.6667',
  '90-100': '0.9',
  '100': '1.0',
};

const precise = (percent: string | null | undefined): string | undefined =>
  percent === null || percent === undefined ? undefined : String(Math.round(Number(percent) * 100) / 10_000);

/** One kind of relation: its place in a document, its members, and the attributes of a member by type. */
interface Body {
  readonly hovedtype: string;
  readonly name: string;
  readonly members: (company: SampleCompany) => readonly Member[];
  readonly attributes: Readonly<Record<string, (member: Member) => string | undefined>>;
}

const role = (text: string) => ({ FUNKTION: () => text });

const BODIES: readonly Body[] = [
  {
    hovedtype: 'REGISTER',
    name: 'EJERREGISTER',
    members: (company) => company.ownership,
    attributes: {
      EJERANDEL_PROCENT: ({ ownership }) => LOWER[ownership ?? ''],
      EJERANDEL_STEMMERET_PROCENT: ({ ownership }) => LOWER[ownership ?? ''],
    },
  },
  {
    hovedtype: 'REGISTER',
    name: 'Reelle ejere',
    members: trueOwners,
    attributes: {
      EJERANDEL_PROCENT: ({ ownership }) => precise(ownership),
      EJERANDEL_STEMMERET_PROCENT: ({ voterights }) => precise(voterights),
      ...role('Reel ejer'),
    },
  },
  {
    hovedtype: 'LEDELSESORGAN',
    name: 'Bestyrelse',
    members: (company) => company.board,
    attributes: role('BESTYRELSESMEDLEM'),
  },
  {
    hovedtype: 'LEDELSESORGAN',
    name: 'Direktion',
    members: (company) => company.management,
    attributes: role('DIREKTØR'),
  },
  {
    hovedtype: 'REVISION',
    name: 'Revision',
    members: (company) => company.accountant,
    attributes: role('REVISION'),
  },
  {
    hovedtype: 'FULDT_ANSVARLIG_DELTAGERE',
    name: 'Interessenter',
    members: (company) => company.stakeholders,
    attributes: role('INTERESSENTER'),
  },
];

/** One entry for a person with both a share and a vote. */
function trueOwners({ trueOwnership, trueVoteRights }: SampleCompany): readonly Member[] {
  const members = new Map<string, Member>(trueOwnership.map((owner) => [owner.entityId, owner]));
  for (const voter of trueVoteRights) members.set(voter.entityId, { ...members.get(voter.entityId), ...voter });
  return [...members.values()];
}

const numberOf = ({ entityId }: Named): string => entityId.slice(6);
const isCompany = ({ entityId }: Named): boolean => entityId.startsWith('CVR-1-');

/** The register's own number of an entity; a company has one in addition to its CVR number. */
export const unitNumber = (entity: Named): number =>
  isCompany(entity) ? 4_000_000_000 + Number(numberOf(entity)) * 8 : Number(numberOf(entity));

/** An attribute with one value for each run of the same text. */
export const attribute = (type: string, vaerditype: string, runs: readonly SampleRun<string>[]): Json => ({
  sekvensnr: 0,
  type,
  vaerditype,
  vaerdier: runs.map((run) => ({ vaerdi: run.value, ...periodOf(run) })),
});

const typeOf = (name: string): string => (name.endsWith('PROCENT') ? 'decimal' : 'string');

/** `deltagerRelation`: one entry for each participant, with all its roles. */
export function participantsOf(versions: readonly Version[]): readonly Json[] {
  const first = versions[0];
  if (first === undefined) return [];
  const since = periodOf({ value: '', from: first.from, to: null, at: first.at });
  const relations = new Map<string, { readonly member: Member; readonly bodies: Json[] }>();
  for (const [index, body] of BODIES.entries()) {
    for (const [id, runs] of memberRuns(versions, body.members, ({ entityId }) => entityId)) {
      const member = runs.at(-1)?.value;
      if (member === undefined) continue;
      const relation = relations.get(id) ?? { member, bodies: [] };
      relations.set(id, relation);
      relation.bodies.push(organisation(unitNumber(first.company) + 1 + index, body, runs, since));
    }
  }
  return [...relations.values()].map(({ member, bodies }) => ({
    deltager: participant(member, since),
    kontorsteder: [],
    organisationer: bodies,
  }));
}

function organisation(
  number: number,
  { hovedtype, name, attributes }: Body,
  runs: readonly SampleRun<Member>[],
  since: SamplePeriod,
): Json {
  const all = Object.entries(attributes).map(([type, textOf]) => {
    const values = runs.flatMap((run) => {
      const value = textOf(run.value);
      return value === undefined ? [] : [{ ...run, value }];
    });
    return attribute(type, typeOf(type), joined(values));
  });
  return {
    enhedsNummerOrganisation: number,
    hovedtype,
    organisationsNavn: [{ navn: name, ...since }],
    attributter: [],
    medlemsData: [{ attributter: all.filter(({ vaerdier }) => Array.isArray(vaerdier) && vaerdier.length > 0) }],
  };
}

/** Joins consecutive runs of the same text: a share may change while the role stays. */
function joined(runs: readonly SampleRun<string>[]): readonly SampleRun<string>[] {
  const all: SampleRun<string>[] = [];
  for (const run of runs) {
    const last = all.at(-1);
    const follows =
      last?.value === run.value && last.to !== null && Date.parse(run.from) - Date.parse(last.to) <= 86_400_000;
    if (last !== undefined && follows) all[all.length - 1] = { ...run, from: last.from };
    else all.push(run);
  }
  return all;
}

const participant = (member: Member, since: SamplePeriod): Json => ({
  enhedsNummer: unitNumber(member),
  enhedstype: isCompany(member) ? 'VIRKSOMHED' : 'PERSON',
  forretningsnoegle: isCompany(member) ? Number(numberOf(member)) : null,
  organisationstype: null,
  navne: [{ navn: member.name, ...(isCompany(member) ? since : UNDATED) }],
  beliggenhedsadresse: [],
  postadresse: [],
});
