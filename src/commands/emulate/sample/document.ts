/** Register documents of sample companies, in the exact shape of the register's distribution. */
import { registerTime } from '../../../protocol/danish/clock.ts';
import type { Address, Industry } from '../../../protocol/formats.ts';
import type { SampleCompany } from '../../../protocol/sample/company.ts';
import { attribute, participantsOf, unitNumber } from './participants.ts';
import { memberRuns, periodOf, runsOf, type SampleRun, UNDATED, type Version } from './value-runs.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface DocumentOptions {
  /** When the register loads the document; 2 s after the last version by default. */
  readonly loadedAt?: number;
}

/**
 * The document of a company with its whole history: one version or more, oldest first. A version with a future date is
 * a change that the company announced.
 */
export function documentOf(versions: readonly [Version, ...Version[]], options: DocumentOptions = {}): Json {
  const last = versions.at(-1) ?? versions[0];
  const { company } = last;
  const registeredAt = Math.max(...versions.map(({ at }) => at));
  return {
    Vrvirksomhed: {
      cvrNummer: Number(company.entityId.slice(6)),
      regNummer: [],
      brancheAnsvarskode: null,
      reklamebeskyttet: company.commercialProtection,
      navne: named(runsOf(versions, ({ name }) => name)),
      binavne: members(versions, ({ altNames }) => altNames, String).map((run) => ({
        navn: run.value,
        ...periodOf(run),
      })),
      postadresse: [],
      beliggenhedsadresse: addresses(versions),
      telefonNummer: contacts(runsOf(versions, ({ phoneNumber }) => phoneNumber)),
      telefaxNummer: contacts(runsOf(versions, ({ fax }) => fax)),
      sekundaertTelefonNummer: [],
      sekundaertTelefaxNummer: [],
      elektroniskPost: contacts(runsOf(versions, ({ email }) => email)),
      hjemmeside: contacts(runsOf(versions, ({ website }) => website)),
      obligatoriskEmail: [],
      livsforloeb: lives(versions),
      hovedbranche: industries(versions, ({ industry }) => industry),
      bibranche1: industries(versions, ({ altIndustries }) => altIndustries[0]),
      bibranche2: industries(versions, ({ altIndustries }) => altIndustries[1]),
      bibranche3: industries(versions, ({ altIndustries }) => altIndustries[2]),
      status: bankruptcies(versions),
      virksomhedsstatus: runsOf(versions, ({ status }) => status).map((run) => ({
        status: run.value,
        ...periodOf(run),
      })),
      virksomhedsform: forms(versions),
      ...employment(versions),
      attributter: attributes(versions),
      penheder: members(versions, ({ pUnits }) => pUnits.map(({ entityId }) => entityId), String).map((run) => ({
        pNummer: Number(run.value.slice(6)),
        ...periodOf(run),
      })),
      deltagerRelation: participantsOf(versions),
      fusioner: mergers(versions),
      spaltninger: [],
      virksomhedMetadata: metadata(versions),
      samtId: versions.length,
      fejlRegistreret: false,
      dataAdgang: 0,
      enhedsNummer: unitNumber(company),
      enhedstype: 'VIRKSOMHED',
      sidstIndlaest: registerTime(options.loadedAt ?? registeredAt + 2_000),
      sidstOpdateret: registerTime(registeredAt),
      fejlVedIndlaesning: false,
      naermesteFremtidigeDato: registeredAt < Date.parse(last.from) ? last.from : null,
      fejlBeskrivelse: null,
      virkningsAktoer: 'BT',
    },
  };
}

export const named = (runs: readonly SampleRun<string>[]) => runs.map((run) => ({ navn: run.value, ...periodOf(run) }));

const contacts = (runs: readonly SampleRun<string>[]) =>
  runs.map((run) => ({ kontaktoplysning: run.value, hemmelig: false, ...periodOf(run) }));

const members = <T>(
  versions: readonly Version[],
  pick: (company: SampleCompany) => readonly T[],
  keyOf: (member: T) => string,
): readonly SampleRun<T>[] => [...memberRuns(versions, pick, keyOf).values()].flat();

const bankruptcies = (versions: readonly Version[]) =>
  runsOf(versions, ({ status }) => (status === 'UNDER KONKURS' ? 1 : null)).map((run) => ({
    kreditoplysningkode: run.value,
    kreditoplysningtekst: 'Konkurs',
    statuskode: 1,
    statustekst: 'Dekret',
    ...periodOf(run),
  }));

const forms = (versions: readonly Version[]) =>
  runsOf(versions, ({ form }) => ({ ...form, period: null, lastUpdated: null })).map((run) => ({
    virksomhedsformkode: run.value.companyFormCode,
    kortBeskrivelse: run.value.shortDescription,
    langBeskrivelse: run.value.longDescription,
    ansvarligDataleverandoer: run.value.responsibleDataProvider,
    ...periodOf(run),
  }));

const employment = (versions: readonly Version[]) => ({
  aarsbeskaeftigelse: figures(versions, ({ yearly: { year, interval } }) => ({ aar: year, interval })),
  kvartalsbeskaeftigelse: figures(versions, ({ quarterly: { year, quarter, interval } }) => ({
    aar: year,
    kvartal: quarter,
    interval,
  })),
  maanedsbeskaeftigelse: [],
  erstMaanedsbeskaeftigelse: figures(versions, ({ monthly: { year, month, count } }) => ({
    aar: year,
    maaned: month,
    count,
  })),
});

const attributes = (versions: readonly Version[]) => {
  const texts = (type: string, vaerditype: string, pick: (company: SampleCompany) => string) =>
    attribute(type, vaerditype, runsOf(versions, pick));
  return [
    texts('FORMÅL', 'string', ({ purpose }) => purpose),
    texts('TEGNINGSREGEL', 'string', ({ powerToBind }) => powerToBind),
    texts('VEDTÆGT_SENESTE', 'date', ({ bylawsChangedDate }) => bylawsChangedDate.slice(0, 10)),
    texts('KAPITAL', 'decimal', ({ capital }) => capital.value.toFixed(2)),
    texts('KAPITALVALUTA', 'string', ({ capital }) => capital.currency ?? 'DKK'),
    texts('KAPITALKLASSER', 'boolean', ({ capital }) => String(capital.hasClasses ?? false)),
    texts('KAPITAL_DELVIST', 'boolean', ({ capital }) => String(capital.isPartial ?? false)),
  ];
};

const lives = (versions: readonly Version[]) =>
  runsOf(versions, ({ started, ended }) => [started.slice(0, 10), ended?.slice(0, 10) ?? null] as const)
    .filter((run, index, all) => run.value[0] !== all[index + 1]?.value[0])
    .map(({ value: [gyldigFra, gyldigTil], at }) => ({
      periode: { gyldigFra, gyldigTil },
      sidstOpdateret: registerTime(at),
    }));

export const industries = (versions: readonly Version[], pick: (company: SampleCompany) => Industry | undefined) =>
  runsOf(versions, (company) => {
    const industry = pick(company);
    return industry && { code: industry.industryCode, text: industry.industryText };
  }).map((run) => ({ branchekode: run.value.code, branchetekst: run.value.text, ...periodOf(run) }));

export const addresses = (versions: readonly Version[]) =>
  runsOf(versions, ({ address }) => addressOf(address)).map((run) => ({ ...run.value, ...periodOf(run) }));

const addressOf = (address: Address): Json => ({
  landekode: address.countryCode,
  fritekst: address.freeText,
  vejkode: address.roadCode,
  kommune: address.municipality && {
    kommuneKode: address.municipality.code,
    kommuneNavn: address.municipality.name,
    periode: { gyldigFra: '2007-01-01', gyldigTil: null },
    sidstOpdateret: '2006-11-13T00:00:00.000+01:00',
  },
  husnummerFra: address.houseNumberFrom,
  adresseId: null,
  sidstValideret: null,
  husnummerTil: address.houseNumberTo,
  bogstavFra: address.houseLetterFrom,
  bogstavTil: address.houseLetterTo,
  etage: address.floor,
  sidedoer: address.sideDoor,
  conavn: address.coName,
  postboks: address.postalBox,
  vejnavn: address.streetName,
  bynavn: address.cityName,
  postnummer: address.postalCode,
  postdistrikt: address.postalDistrict,
});

/** Employees: a figure stays when later ones arrive, and a figure of the same period replaces it. */
function figures(
  versions: readonly Version[],
  pick: (company: SampleCompany) => Readonly<Record<string, number | string>>,
): readonly Json[] {
  const byPeriod = new Map<string, Json>();
  for (const { value, at } of runsOf(versions, pick)) {
    const { count, interval, ...when } = value;
    const code = codeOf(String(interval ?? bandOf(Number(count))));
    const people = { antalAarsvaerk: count ?? null, antalAnsatte: count ?? null };
    const codes = { intervalKodeAntalAarsvaerk: code, intervalKodeAntalAnsatte: code };
    byPeriod.set(JSON.stringify(when), { ...when, ...people, sidstOpdateret: registerTime(at), ...codes });
  }
  return [...byPeriod.values()];
}

const BANDS: readonly (readonly [number, string])[] = [
  [1000, '1000+'],
  [500, '500-999'],
  [200, '200-499'],
  [100, '100-199'],
  [50, '50-99'],
  [20, '20-49'],
  [10, '10-19'],
  [5, '5-9'],
  [2, '2-4'],
  [1, '1'],
];
const bandOf = (count: number): string => BANDS.find(([low]) => count >= low)?.[1] ?? '0';

/** `2-4` as `ANTAL_2_4`, `1000+` as `ANTAL_1000_999999`. */
function codeOf(interval: string): string {
  const [low = '0', high = low] = interval.replace('+', '-999999').split('-');
  return `ANTAL_${low}_${high}`;
}

const mergers = (versions: readonly Version[]): readonly Json[] =>
  runsOf(versions, ({ merger }) => merger).map((run) => {
    const run_ = { ...run, value: 'Fusion' };
    return {
      enhedsNummerOrganisation: unitNumber(run.value.entity) + 900,
      organisationsNavn: [{ navn: 'Fusion', ...UNDATED }],
      indgaaende: [attribute('FUNKTION', 'string', [run_])],
      udgaaende: run.value.dissolved ? [] : [attribute('FUNKTION', 'string', [run_])],
    };
  });

const ENDED = /OPLØST|SLETTET/;

function metadata(versions: readonly [Version, ...Version[]]): Json {
  const { company } = versions.at(-1) ?? versions[0];
  const isOver = company.ended !== null && !ENDED.test(company.status);
  return {
    nyesteNavn: named(runsOf(versions, ({ name }) => name)).at(-1) ?? null,
    nyesteStatus: null,
    sammensatStatus: isOver ? 'Ophørt' : company.status,
    stiftelsesDato: company.started.slice(0, 10),
    virkningsDato: company.started.slice(0, 10),
    antalPenheder: company.pUnits.length,
  };
}
