import { registerTime } from '../../../protocol/danish/clock.ts';
import type { Entity } from '../../../protocol/formats.ts';
import { addresses, type DocumentOptions, industries, type Json, named } from './document.ts';
import { periodOf, type SampleRun, type Version } from './value-runs.ts';

/** The register document of a production unit: its name, and the company's address and industry. */
export function unitDocumentOf(
  unit: Entity,
  versions: readonly [Version, ...Version[]],
  options: DocumentOptions & { readonly names?: readonly SampleRun<string>[] } = {},
): Json {
  const [{ from, at, company }] = versions;
  const since: SampleRun<string> = { value: unit.name ?? company.name, from, to: null, at };
  const names = options.names ?? [since];
  const registeredAt = Math.max(at, ...names.map((run) => run.at));
  return {
    VrproduktionsEnhed: {
      pNummer: Number(unit.entityId.slice(6)),
      brancheAnsvarskode: null,
      reklamebeskyttet: company.commercialProtection,
      navne: named(names),
      postadresse: [],
      beliggenhedsadresse: addresses(versions),
      telefonNummer: [],
      telefaxNummer: [],
      elektroniskPost: [],
      livsforloeb: [periodOf(since)],
      hovedbranche: industries(versions, ({ industry }) => industry),
      bibranche1: [],
      bibranche2: [],
      bibranche3: [],
      aarsbeskaeftigelse: [],
      kvartalsbeskaeftigelse: [],
      attributter: [],
      deltagerRelation: [],
      virksomhedsrelation: [{ cvrNummer: Number(company.entityId.slice(6)), ...periodOf(since) }],
      samtId: names.length,
      fejlRegistreret: false,
      dataAdgang: 0,
      enhedsNummer: 4_500_000_000 + (Number(unit.entityId.slice(6)) % 100_000_000),
      enhedstype: 'PRODUKTIONSENHED',
      sidstIndlaest: registerTime(options.loadedAt ?? registeredAt + 2_000),
      sidstOpdateret: registerTime(registeredAt),
      fejlVedIndlaesning: false,
      naermesteFremtidigeDato: null,
      fejlBeskrivelse: null,
      virkningsAktoer: 'BT',
    },
  };
}
