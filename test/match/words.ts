/** The words of the labelled register's companies. All persons and companies are invented; towns and postal codes are real. */

type List = readonly [string, ...string[]];
const list = (text: string): List => {
  const [first = '', ...rest] = text.trim().split(/\s+/u);
  return [first, ...rest];
};

/** Beginnings and endings of invented names: some two thousand of them together. */
export const BEGINNINGS =
  list(`Nord Syd Lind Birk Eg Gran Sol Måne Stjerne Vind Bølge Klit Fjord Å Sø Hav Mose Eng Skov Bakke
  Dal Bjerg Sten Flint Grå Blå Grøn Rød Hvid Sort Kær Lyng Ravn Ulve Bjørne Ørne Falke Svane Trane Lærke Hejre Odder Bæver Kron
  Råbuk Vester Øster Thy Mors Salling Himmer`);
export const ENDINGS =
  list(`lund bæk gård holm skov dal bjerg toft rup sund vig næs høj mark kilde strand krog vang løkke borg
  husene stad vej kær mølle bro port torp bølle lev um inge by`);
export const TRADES =
  list(`Møbler Bageri Vindteknik Byg Transport Fiskeri Rådgivning El VVS Murerfirma Tømrerfirma Malerfirma
  Software Regnskab Revision Rengøring Logistik Blomster Catering Tandlæge Optik Cykler Biler Auto Smede Glas Gulve Haver Anlæg
  Entreprise Ejendomsservice Arkitekter Ingeniører Kommunikation Reklame Tryk Foto Film Musik Mode Smykker Legetøj Bøger Kaffe
  Vin Ost Chokolade Is Frugt Grønt Fisk Kød Dyreklinik Fysioterapi Fodpleje Massage Yoga Fitness Golf Sejl Marine Energi Solceller`);
export const SURNAMES =
  list(`Jensen Nielsen Hansen Pedersen Andersen Christensen Larsen Sørensen Rasmussen Jørgensen Petersen Madsen
  Kristensen Olsen Thomsen Poulsen Johansen Møller Mortensen Knudsen Østergaard Bæk Kjær Lund Holm Skov Toft Bruun Aagaard Højlund`);
export const GIVEN_NAMES =
  list(`Anders Anne Bente Camilla Dorthe Erik Flemming Gitte Henrik Inge Jørgen Kirsten Lars Mette Niels Ole
  Pernille Rasmus Søren Torben Ulla Vibeke Åse Mads Hanne Peter`);
/** Pairs of words that a slip makes of each other, and that name two companies. */
export const NEAR_WORDS: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['Simone', 'Simon'],
  ['Karen', 'Karin'],
  ['Anders', 'Andrea'],
  ['Hanne', 'Hanna'],
  ['Inge', 'Inger'],
  ['Kirsten', 'Kristen'],
  ['Henrik', 'Henrika'],
  ['Jensen', 'Jessen'],
  ['Larsen', 'Lassen'],
  ['Olsen', 'Olesen'],
  ['Mortensen', 'Martensen'],
  ['Østergaard', 'Vestergaard'],
  ['Byggeri', 'Bryggeri'],
  ['Tømrer', 'Tømmer'],
];
export const STREETS =
  list(`Ringvej Nørregade Søndergade Østergade Vestergade Algade Bredgade Storegade Jernbanegade Industrivej
  Havnegade Kirkevej Skolevej Møllevej Birkevej Egevej Lindealle Fabriksvej Stationsvej Strandvejen Parkvej Engvej Skovvej Torvet
  Hovedgaden Smedegade Klostergade Slotsgade Toldbodgade Erhvervsvej`);
export const TWO_WORD_STREETS: readonly [string, ...string[]] = [
  'Sønder Boulevard',
  'Nørre Allé',
  'Vester Allé',
  'Gammel Kongevej',
  'Sankt Annæ Gade',
  'Store Torv',
  'Christian Bangs Vej',
];
const TOWN_TEXT = `1620 København V,2100 København Ø,2200 København N,2300 København S,2500 Valby,2600 Glostrup,2605 Brøndby,
  2700 Brønshøj,2730 Herlev,2750 Ballerup,2800 Kongens Lyngby,2900 Hellerup,3000 Helsingør,3400 Hillerød,3700 Rønne,
  4000 Roskilde,4100 Ringsted,4180 Sorø,4200 Slagelse,4300 Holbæk,4600 Køge,4700 Næstved,4800 Nykøbing F,5000 Odense C,
  5200 Odense V,5500 Middelfart,5700 Svendborg,6000 Kolding,6100 Haderslev,6200 Aabenraa,6400 Sønderborg,6700 Esbjerg,
  6800 Varde,7100 Vejle,7400 Herning,7500 Holstebro,7600 Struer,7700 Thisted,7800 Skive,8000 Aarhus C,8200 Aarhus N,
  8300 Odder,8600 Silkeborg,8700 Horsens,8800 Viborg,8900 Randers C,9000 Aalborg,9200 Aalborg SV,9400 Nørresundby,9800 Hjørring,
  9900 Frederikshavn`;

export interface Town {
  readonly postalCode: string;
  readonly city: string;
}
const towns = TOWN_TEXT.split(',').map((text): Town => {
  const [postalCode = '', ...city] = text.trim().split(' ');
  return { postalCode, city: city.join(' ') };
});
export const TOWNS: readonly [Town, ...Town[]] = [
  towns[0] ?? { postalCode: '1620', city: 'København V' },
  ...towns.slice(1),
];
export const FREEMAIL = list('gmail.com hotmail.com outlook.dk live.dk mail.dk yahoo.dk icloud.com');
