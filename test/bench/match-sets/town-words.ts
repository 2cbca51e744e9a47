/** Words of Danish towns: places, streets, people and what they trade in. */

type Words = readonly [string, ...string[]];
type Pair = readonly [string, string];
type Pairs = readonly [Pair, ...Pair[]];

/** A postal district, and villages within it whose name stands in an address besides the district's. */
export interface Town {
  readonly postalCode: string;
  readonly name: string;
  readonly villages: readonly string[];
}

const listed = (text: string): Words => text.split(/,\s*/) as unknown as Words;
const pairsOf = (text: string): Pairs => listed(text).map((pair) => pair.split('/')) as unknown as Pairs;

const townOf = (line: string): Town => {
  const [place = '', villages] = line.split(':');
  return {
    postalCode: place.slice(0, 4),
    name: place.slice(5).trim(),
    villages: villages === undefined ? [] : listed(villages.trim()),
  };
};
const townsOf = (lines: string) => lines.trim().split('\n').map(townOf) as unknown as readonly [Town, ...Town[]];

/** Districts with villages, for farms. */
export const RURAL = townsOf(`7800 Skive: Dommerby, Estvad, Vinde
8800 Viborg: Bruunshåb, Ravnstrup, Vammen
7400 Herning: Gjellerup, Tjørring, Sinding
7500 Holstebro: Mejrup, Tvis, Nørre Felding
7700 Thisted: Sjørring, Hillerslev, Nors
7900 Nykøbing M: Sundby, Tødsø, Elsø
9500 Hobro: Valsgård, Sønder Onsild
9700 Brønderslev: Serritslev, Stenum
9800 Hjørring: Lønstrup, Bjergby
9900 Frederikshavn: Gærum, Kvissel
9300 Sæby: Lyngså, Volstrup
9600 Aars: Havbro, Blære, Gundersted
9640 Farsø: Vester Hornum, Ullits
8500 Grenaa: Enslev, Dolmer
6900 Skjern: Dejbjerg, Stauning
6800 Varde: Alslev, Hjortkær
5600 Faaborg: Svanninge, Horne
4200 Slagelse: Sorterup, Hejninge
4700 Næstved: Rønnebæk, Hyllinge
4900 Nakskov: Branderslev, Sandby`);

export const TOWNS = [
  ...RURAL,
  ...townsOf(`7600 Struer
7620 Lemvig
7430 Ikast
7330 Brande
7190 Billund
6950 Ringkøbing
6760 Ribe
6600 Vejen
6500 Vojens
6400 Sønderborg
6270 Tønder
6200 Aabenraa
6100 Haderslev
8600 Silkeborg
8660 Skanderborg
8300 Odder
8400 Ebeltoft
8450 Hammel
9670 Løgstør
9620 Aalestrup
9990 Skagen
5500 Middelfart
5610 Assens
5700 Svendborg
5800 Nyborg
5900 Rudkøbing
5400 Bogense
4100 Ringsted
4180 Sorø
4300 Holbæk
4400 Kalundborg
4500 Nykøbing Sj
4600 Køge
4640 Faxe
4720 Præstø
4760 Vordingborg
4780 Stege
4800 Nykøbing F
4930 Maribo
3300 Frederiksværk
3600 Frederikssund
3700 Rønne
3770 Allinge`),
] as const satisfies readonly [Town, ...Town[]];

/** Districts that were divided: the old one, and one of those that lie there today. */
export const DIVIDED = (
  [
    ['8900 Randers', '8920 Randers NV'],
    ['8900 Randers', '8930 Randers NØ'],
    ['8900 Randers', '8940 Randers SV'],
    ['8900 Randers', '8960 Randers SØ'],
    ['7100 Vejle', '7120 Vejle Øst'],
    ['6700 Esbjerg', '6705 Esbjerg Ø'],
    ['6700 Esbjerg', '6710 Esbjerg V'],
    ['6700 Esbjerg', '6715 Esbjerg N'],
    ['5000 Odense C', '5230 Odense M'],
    ['5000 Odense C', '5270 Odense N'],
    ['9000 Aalborg', '9210 Aalborg SØ'],
    ['8000 Århus C', '8200 Aarhus N'],
  ] as const
).map(([before, today]) => [townOf(before), townOf(today)] as const) as unknown as readonly [
  readonly [Town, Town],
  ...(readonly [Town, Town])[],
];

export const GREENLAND = townsOf(`3900 Nuuk
3911 Sisimiut
3912 Maniitsoq
3920 Qaqortoq
3950 Aasiaat
3952 Ilulissat`);
export const GREENLAND_STREETS = listed(
  'Imaneq, Aqqusinersuaq, Kussangajaannguaq, Issortarfik, Qullilerfik, Kaassassuup Aqqutaa',
);
export const FAROE = listed('100 Tórshavn, 700 Klaksvík, 800 Tvøroyri, 600 Saltangará, 360 Sandavágur');
export const FAROE_STREETS = listed(
  'Niels Finsens gøta, Jónas Broncks gøta, Klingran, Nólsoyar Páls gøta, Yviri við Strond',
);

export const STREETS = listed(
  `Vestergade, Østergade, Nørregade, Søndergade, Adelgade, Algade, Storegade, Torvet, Jernbanegade, Skolegade,
  Kirkestræde, Møllegade, Havnegade, Brogade, Slotsgade, Torvegade, Frederiksgade, Danmarksgade, Kongensgade,
  Dronningensgade, Grønnegade, Sct. Mogens Gade, Skivevej, Holstebrovej, Viborgvej, Ringvejen, Industrivej,
  Fabriksvej, Erhvervsvej, Håndværkervej, Lægårdvej, Gl. Landevej, Rugvænget, Kornmarken, Lindealle, Kastanievej`.replace(
    /\s+/g,
    ' ',
  ),
);
export const FARM_ROADS = listed(
  'Hedevej, Mosevej, Skovvej, Engvej, Møllevej, Kirkevej, Åvej, Bakkevej, Klitvej, Fjordvej, Markvej, Kærvej, Overgårdvej, Nørremarksvej, Plantagevej',
);
/** What a town called a street before it renamed it, and the name today. */
export const RENAMED = pairsOf(
  'Landevejen/Hovedgaden, Fabriksvej/Kulturvej, Vestre Skolevej/Anlægsvej, Søndre Ringvej/Kong Hans Vej, Møllevej/Vindmøllebakken, Stationsvej/Banestien',
);

export const WOMEN = listed(
  `Hanne, Lone, Birthe, Kirsten, Inger, Bodil, Vibeke, Dorthe, Jytte, Tove, Lisbeth, Helle, Gitte, Anette, Charlotte,
  Rikke, Maibritt, Tanja, Malene, Ditte, Sanne, Winnie, Conny, Ulla, Ketty`.replace(/\s+/g, ' '),
);
export const MEN = listed(
  `Ole, Niels, Per, Jens, Poul, Knud, Svend, Kaj, Verner, Preben, Flemming, Frede, Tage, Aksel, Gunnar, Henning,
  Carsten, Bjarne, Jørgen, Leif, Torben, Kurt, Villy, Egon, Arne`.replace(/\s+/g, ' '),
);
export const SURNAMES = listed(
  `Hansen, Jensen, Nielsen, Pedersen, Christensen, Larsen, Sørensen, Rasmussen, Jørgensen, Kristensen, Thomsen, Mortensen,
  Lund, Holm, Krogh, Friis, Kjær, Dahl, Bach, Toft, Nørgaard, Østergaard, Søndergaard, Vestergaard, Bjerregaard,
  Overgaard, Damgaard, Kirkegaard, Ravn, Agerskov, Brøndum, Gade, Hedegaard, Iversen, Kragelund, Lauridsen, Mølgaard,
  Nygaard, Odgaard, Pilgaard, Riis, Skovsgaard, Tang, Uhrenholt, Villadsen, Yde, Ørum, Aagaard`.replace(/\s+/g, ' '),
);

/** Given names, surnames and trades that are one or two letters apart and not the same. */
export const NEAR_GIVEN = pairsOf(
  `Simon/Simone, Karen/Karin, Louis/Louise, Daniel/Daniela, Jan/Jane, Lone/Lene, Hanne/Hanna, Anne/Arne, Tina/Tine,
  Kirsten/Kristen, Christian/Christina, Bent/Bente, Johan/Johanne, Erik/Erika, Jens/Jes, Jesper/Kasper, Ulla/Ella,
  Mia/Pia, Lars/Lara, Line/Linea, Susan/Susanne, Marie/Maria, Lisa/Lise, Kim/Kit, Ove/Ole, Tom/Tim, Nina/Tina`.replace(
    /\s+/g,
    ' ',
  ),
);
export const NEAR_SURNAME = pairsOf(
  `Jensen/Jansen, Olsen/Olesen, Larsen/Lassen, Andersen/Andresen, Holm/Holt, Lund/Lind, Bach/Beck, Krogh/Kragh, Dahl/Dall,
  Bruun/Braun, Toft/Tofte, Møller/Müller, Bang/Bank, Poulsen/Paulsen, Thomsen/Thomassen, Ravn/Rahn, Riis/Ries, Borg/Berg,
  Fisker/Fischer, Hjort/Hjorth, Madsen/Massen, Birk/Birch`.replace(/\s+/g, ' '),
);
export const NEAR_TRADE = pairsOf(
  `Murerforretning/Malerforretning, Vandteknik/Vindteknik, Gulvhandel/Guldhandel, Brødhus/Bryghus, Skohandel/Skovhandel,
  Tagrens/Tøjrens, Hundepleje/Hudpleje, Elhandel/Ølhandel, Fotohus/Autohus, Vinimport/Vildtimport, Murerservice/Malerservice,
  Køleteknik/Køreteknik`.replace(/\s+/g, ' '),
);

export const REGIONS = listed(
  `Salling, Fjends, Himmerlands, Limfjordens, Thy, Mors, Djurslands, Vendsyssel, Vestfyns, Sydfyns, Lollands, Falsters,
  Odsherreds, Sønderjysk, Hardsyssel, Stevns, Østersøens, Bornholms, Hanherreds, Langelands`.replace(/\s+/g, ' '),
);
export const STEM_FRONTS = listed(
  `Fjord, Hede, Mose, Klit, Eng, Bakke, Vold, Lynge, Rug, Havre, Birke, Ege, Bøge, Aske, Hassel, Kobber, Jern, Flint, Kalk,
  Strand, Tranek, Vibe, Lærke, Svale, Ulve, Ræve, Odder, Hjorte, Falke, Ørne`.replace(/\s+/g, ' '),
);
export const STEM_BACKS = listed(
  'mark, dal, toft, holm, høj, lund, bæk, rup, sted, borg, vang, næs, vig, bro, kilde, have, skov, lev',
);
export const BUSINESS = listed(
  `Byg, Teknik, Transport, Consult, Design, Fødevarer, Rådgivning, Logistik, Energi, Møbler, Print, Maskiner, Emballage,
  Ventilation, Rengøring, Revision`.replace(/\s+/g, ' '),
);
export const CHAINS = listed(
  `Sort Kaffe, Pizza Pronto, Brillehjørnet, Fri BikeShop Nord, Dækpunkt, Sengehuset, Tæppegalleriet, Vaskebjørnen, Grillen 24,
  Burgerbaren, Kop & Kande Gaver, Sushi Lauget, Ismejeriet, Tøjeksperterne, Nøglemesteren, Zonen Fitness, Boldhuset, Farvebutikken`.replace(
    /\s+/g,
    ' ',
  ),
);

/** Shops whose name many towns have. */
export const SHOPS = listed(
  `Byens Café, Blomsterhuset, Torvets Grill, Pizzeria Roma, Milano Pizza, Den Gamle Bager, Byens Cykler, Stationskiosken,
  Havnens Fisk, Den Lille Café, Bella Napoli, Café Central, Hår & Negle, Klip & Krøller, Hos Frisøren, Istanbul Kebab,
  Guldsmeden på Torvet, Garnhjørnet, Byens Smørrebrød, Det Gule Hus, Slagteren på Hjørnet, Aktiv Fysioterapi, China House,
  Thai Massage, Byens Rengøring, Kørelæreren`.replace(/\s+/g, ' '),
);
/** A trade as its master calls himself, as his firm is called, and as people say. */
export const CRAFTS = (
  [
    ['Tømrermester', 'Tømrerforretning', 'Tømrer'],
    ['Murermester', 'Murerforretning', 'Murer'],
    ['Malermester', 'Malerforretning', 'Maler'],
    ['Slagtermester', 'Slagterforretning', 'Slagter'],
    ['Bagermester', 'Bageri', 'Bager'],
    ['VVS-installatør', 'VVS-forretning', 'Blikkenslager'],
    ['Smedemester', 'Maskinværksted', 'Smed'],
    ['Anlægsgartner', 'Anlægsgartneri', 'Gartner'],
    ['Vognmand', 'Vognmandsforretning', 'Vognmand'],
    ['Elinstallatør', 'Elforretning', 'Elektriker'],
  ] as const
).map(([master, firm, said]) => ({ master, firm, said })) as unknown as readonly [Craft, ...Craft[]];
export interface Craft {
  readonly master: string;
  readonly firm: string;
  readonly said: string;
}
export const FARMS = listed(
  'Højgård, Nørgård, Lykkegård, Skovlund, Bakkegården, Damsgård, Kærgården, Ny Lundgård, Stensgård, Vestergård, Bjerggården, Møllegården, Elmely, Enggården, Kirkegård',
);
export const HOUSING = listed(
  'Rosengården, Solbakken, Lindehuset, Kastaniehaven, Engparken, Birkely, Møllehøj, Strandparken, Vinkelgården, Tulipanen, Håbet, Fremtiden, Sydhavnen, Bøgelunden',
);
export const FUNDS = listed(
  'Habro, Solpark, Vindkraft Thy, Danica Lager, Investea Leipzig, Nordsø Shipping, Keops Malmø, Ejendomsinvest Tyskland, Wismar Havn, Bremen Center, Difko, Hirtshals Tank',
);
export const SPORTS = (
  [
    ['Badmintonklub', 'Badminton'],
    ['Boldklub', 'BK'],
    ['Gymnastikforening', 'Gymnastik'],
    ['Idrætsforening', 'IF'],
    ['Jagtforening', 'Jagtforening'],
    ['Rideklub', 'Rideklub'],
    ['Sejlklub', 'Sejlklub'],
    ['Borgerforening', 'Borgerforening'],
    ['Håndboldklub', 'Håndbold'],
    ['Tennisklub', 'Tennis'],
    ['Skytteforening', 'Skytterne'],
    ['Bridgeklub', 'Bridge'],
    ['Petanqueklub', 'Petanque'],
    ['Pensionistforening', 'Pensionisterne'],
    ['Husflidsforening', 'Husflid'],
    ['Motorklub', 'Motorklub'],
    ['Forsamlingshus', 'Forsamlingshus'],
    ['Vandværk', 'Vandværk'],
    ['Grundejerforening', 'Grundejerforening'],
    ['Lokalhistoriske Forening', 'Lokalhistorie'],
  ] as const
).map(([full, said]) => ({ full, said })) as unknown as readonly [Sport, ...Sport[]];
interface Sport {
  readonly full: string;
  readonly said: string;
}
