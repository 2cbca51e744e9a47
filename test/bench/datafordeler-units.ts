/** Invented companies by their place in the feed. */
export const documentId = (unit: number): string => String(4_100_000_000 + unit);

const entry = (fields: object) => ({
  ...fields,
  periode: { gyldigFra: '2020-01-01', gyldigTil: null },
  sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
});

export const document = (unit: number): unknown => ({
  Vrvirksomhed: {
    cvrNummer: 10_000_000 + unit,
    enhedsNummer: Number(documentId(unit)),
    navne: [entry({ navn: `Prøve ${unit} ApS` })],
    beliggenhedsadresse: [entry({ vejnavn: 'Prøvegade', husnummerFra: 4, postnummer: 8000 })],
    hovedbranche: [entry({ branchekode: '310900', branchetekst: 'Fremstilling af møbler' })],
    virksomhedsform: [entry({ virksomhedsformkode: 80, langBeskrivelse: 'Anpartsselskab' })],
    telefonNummer: [entry({ kontaktoplysning: '70100001', hemmelig: false })],
    livsforloeb: [entry({})],
    reklamebeskyttet: false,
    sidstOpdateret: '2026-03-01T12:00:00.000+01:00',
  },
});
