/** The words that companies and records of the labelled sets are made of. */

export type Words = readonly [string, ...string[]];

const words = (text: string): Words => {
  const [first = '', ...rest] = text.split('|').map((word) => word.trim());
  return [first, ...rest];
};

export const TOWNS = words(
  `1050 København K|1620 København V|2100 København Ø|2200 København N|2300 København S|2400 København NV|
  2450 København SV|2000 Frederiksberg|2500 Valby|2600 Glostrup|2605 Brøndby|2610 Rødovre|2620 Albertslund|2630 Taastrup|
  2650 Hvidovre|2670 Greve|2700 Brønshøj|2720 Vanløse|2730 Herlev|2740 Skovlunde|2750 Ballerup|2760 Måløv|2770 Kastrup|
  2791 Dragør|2800 Kongens Lyngby|2820 Gentofte|2830 Virum|2840 Holte|2860 Søborg|2880 Bagsværd|2900 Hellerup|
  2920 Charlottenlund|2970 Hørsholm|2980 Kokkedal|3000 Helsingør|3400 Hillerød|3460 Birkerød|3500 Værløse|3520 Farum|
  3600 Frederikssund|3700 Rønne|4000 Roskilde|4100 Ringsted|4180 Sorø|4200 Slagelse|4220 Korsør|4300 Holbæk|
  4400 Kalundborg|4600 Køge|4690 Haslev|4700 Næstved|4760 Vordingborg|4800 Nykøbing F|4900 Nakskov|4930 Maribo|
  5000 Odense C|5220 Odense SØ|5230 Odense M|5270 Odense N|5300 Kerteminde|5500 Middelfart|5600 Faaborg|5610 Assens|
  5700 Svendborg|5750 Ringe|5800 Nyborg|5900 Rudkøbing|6000 Kolding|6100 Haderslev|6200 Aabenraa|6270 Tønder|
  6400 Sønderborg|6500 Vojens|6600 Vejen|6700 Esbjerg|6710 Esbjerg V|6760 Ribe|6800 Varde|6900 Skjern|6920 Videbæk|
  6950 Ringkøbing|7000 Fredericia|7100 Vejle|7190 Billund|7200 Grindsted|7260 Sønder Omme|7330 Brande|7400 Herning|
  7430 Ikast|7500 Holstebro|7600 Struer|7620 Lemvig|7700 Thisted|7800 Skive|7900 Nykøbing M|8000 Aarhus C|8200 Aarhus N|
  8210 Aarhus V|8220 Brabrand|8240 Risskov|8260 Viby J|8270 Højbjerg|8300 Odder|8370 Hadsten|8382 Hinnerup|8400 Ebeltoft|
  8450 Hammel|8500 Grenaa|8600 Silkeborg|8620 Kjellerup|8660 Skanderborg|8680 Ry|8700 Horsens|8722 Hedensted|
  8740 Brædstrup|8800 Viborg|8850 Bjerringbro|8900 Randers C|8930 Randers NØ|9000 Aalborg|9200 Aalborg SV|9220 Aalborg Øst|
  9240 Nibe|9300 Sæby|9330 Dronninglund|9400 Nørresundby|9500 Hobro|9560 Hadsund|9600 Aars|9670 Løgstør|9700 Brønderslev|
  9800 Hjørring|9850 Hirtshals|9900 Frederikshavn|9990 Skagen`,
);

export const STREETS = words(
  `Nørregade|Søndergade|Vestergade|Østergade|Algade|Storegade|Torvegade|Kirkegade|Skolegade|Jernbanegade|Havnegade|
  Brogade|Bredgade|Adelgade|Grønnegade|Skovvej|Engvej|Industrivej|Fabriksvej|Håndværkervej|Smedevej|Møllevej|
  Møllegade|Ringvejen|Ndr. Ringvej|Sdr. Ringvej|Vestre Ringvej|Østre Alle|Jyllands Alle|Kongevejen|Hovedgaden|Hovedvejen|
  Stationsvej|Banegårdspladsen|Rådhuspladsen|Store Torv|Lille Torv|Gl. Landevej|Gammel Kongevej|Viborgvej|Silkeborgvej|
  Aarhusvej|Vejlevej|Koldingvej|Randersvej|Roskildevej|Københavnsvej|Hobrovej|Birkevej|Bøgevej|Lærkevej|Solsortevej|
  Rosenvænget|Tulipanvej|Kløvermarken|Energivej|Elektronvej|Transportvej|Erhvervsparken|Lundeborgvej|H.C. Andersens Vej|
  Chr. Winthers Vej|Niels Bohrs Vej|Dronning Margrethes Vej|Christian 10. Gade|Sct. Knuds Gade|Skt. Mathias Gade|Åboulevarden|Åkjærsvej|
  Kærvej|Hedevej|Mosevej|Bakkevej|Strandvejen|Fjordvej|Havnepladsen|Kanalgade|Teglværksvej|Savværksvej|Mejerivej|Danmarksgade|
  Frederiksgade|Kongensgade|Prinsensgade|Dronningensgade|Sønderbrogade|Nørrebrogade|Vesterbrogade|Østerbrogade|Amagerbrogade`,
);

export const FIRST_NAMES = words(
  `Anders|Anne|Bent|Birgitte|Bo|Camilla|Carsten|Charlotte|Christian|Claus|Dorte|Erik|Eva|Finn|Flemming|Gitte|Hanne|Hans|
  Heidi|Helle|Henrik|Inge|Jakob|Jan|Jens|Jesper|Jette|John|Jørgen|Karen|Karsten|Kenneth|Kim|Kirsten|Klaus|Kristian|Lars|
  Lene|Lise|Lone|Louise|Mads|Maria|Marianne|Martin|Mette|Michael|Mikkel|Mogens|Morten|Niels|Ole|Palle|Per|Pernille|Peter|
  Pia|Poul|Rasmus|Rikke|Sanne|Søren|Steen|Sussi|Susanne|Svend|Thomas|Tina|Tom|Torben|Trine|Ulla|Vibeke|Åge|Ali|Mehmet|
  Fatma|Hassan|Nguyen|Piotr`,
);

/** Names that thousands bear. */
export const COMMON_SURNAMES = words(
  'Jensen|Nielsen|Hansen|Pedersen|Andersen|Christensen|Larsen|Sørensen|Rasmussen|Jørgensen|Petersen|Madsen|Kristensen|Olsen',
);

export const SURNAMES = words(
  `Thomsen|Christiansen|Poulsen|Johansen|Møller|Mortensen|Knudsen|Jakobsen|Mikkelsen|Frederiksen|Laursen|Lund|Holm|
  Schmidt|Eriksen|Clausen|Simonsen|Svendsen|Andreasen|Iversen|Østergaard|Jeppesen|Nissen|Lauridsen|Mogensen|Vestergaard|
  Kjær|Jespersen|Nygaard|Bach|Berg|Dahl|Friis|Bertelsen|Lorenzen|Søndergaard|Skov|Krogh|Kjeldsen|Toft|Bruun|Winther|Bang|
  Brandt|Dam|Hald|Juul|Riis|Ravn|Vinther|Thygesen|Villadsen|Overgaard|Nørgaard|Kirkegaard|Damgaard|Dalgaard|Bjerregaard|
  Hedegaard|Højgaard|Buch|Carlsen|Ebbesen|Enevoldsen|Fisker|Gade|Gregersen|Hermansen|Husted|Ibsen|Jepsen|Justesen|Karlsen|
  Koch|Kold|Lassen|Leth|Lykke|Markussen|Munk|Mølgaard|Nørskov|Obel|Paulsen|Philipsen|Quist|Rosendahl|Rohde|Sand|Skaarup|
  Steffensen|Stougaard|Sunesen|Tang|Therkildsen|Uhrskov|Vad|Wulff|Yde|Ørum|Aagaard|Abildgaard|Bendtsen|Bech|Bisgaard|Bro|
  Degn|Dissing|Esbensen|Færch|Graversen|Grøn|Hvid|Hyldgaard|Kaas|Kragelund|Langballe|Lindholm|Nors|Pilgaard|Præstegaard`,
);

/** How a trade is called behind its owner's name, and its stem. */
export const TRADES = words(
  `Tømrer- og Snedkerforretning|Murerforretning|Malerfirma|El-Installation|VVS|Blik & Rør|Autoværksted|Karrosseri|Køleteknik|Smede- og Maskinværksted|
  Vognmandsforretning|Kloakservice|Entreprenørforretning|Anlægsgartner|Planteskole|Blomster|Bageri|Slagterforretning|Fiskehus|Vinhandel|
  Cykler|Guldsmedie|Optik|Skotøj|Herretøj|Møbler|Gulve|Tagdækning|Vinduespolering|Rengøring|Ejendomsservice|Revision|
  Bogføring|Advokatfirma|Arkitekter|Ingeniørfirma|Landinspektørfirma|Ejendomsmæglere|Forsikringsmægling|Bogtryk|Reklame|
  Skilte|Foto|Taxa|Busrejser|Køreskole|Dyreklinik|Tandklinik|Fysioterapi|Fodterapi|Maskinstation|Hestestutteri|Svineproduktion|Savværk|Stålbyg`,
);

/** What stands before a trade in a name that is no owner's. */
export const REGIONS = words(
  `Dansk|Nordisk|Jysk|Midtjysk|Vestjysk|Nordjysk|Østjysk|Sønderjysk|Fynsk|Sydfynsk|Sjællandsk|Nordsjællands|Skandinavisk|
  Bornholms|Lolland-Falsters|Himmerlands|Djurslands|Thy-Mors|Limfjordens|Storkøbenhavns|Den Danske|Den Lokale|Byens|Fjordens`,
);

/** Names that are borne in many towns. */
export const GENERIC = words(
  `Byens Frisør|Pizza House|City Grill|Klippestuen|Salon Chic|Autoshoppen|Dæk & Auto|Rengøringskompagniet|Blomsterhuset|
  Den Grønne Gren|Byens VVS|Havnegrillen|Stationskiosken|Klinik Velvære|Hudplejeklinikken|Torvets Bager|Hundesalonen|
  Bryghuset|Cykelsmeden|Ure & Smykker|Låsesmeden|Den Gamle Smedje|Skrædderen|Massageklinikken|Kebab House|Sushi Bar`,
);

/** First and second halves of invented names. */
export const BRAND_HEADS = words(
  `Nor|Van|Sol|Kry|Lum|Tek|Aqua|Bio|Fjord|Hav|Skan|Vest|Tri|Opti|Inter|Pro|Eko|Nova|Alfa|Delta|Sig|Ver|Cal|Mer|Ask|Bif|
  Dux|Fal|Gar|Hex|Ilu|Jyd|Kom|Lor|Myr|Odin|Pax|Qua|Rig|Syd|Tor|Ulv|Vik|Zen|Ør|Åk|Ed|Bal|Cor`,
);
export const BRAND_TAILS = words(
  `vera|lux|mark|flex|con|tron|lab|plast|farm|data|soft|vind|rens|pack|trans|form|mat|line|gaard|bryg|stål|glas|tex|dent|
  kem|mobil|log|sign|scan|print|team|wood|fisk|feed|grip|dor|nex|zyme|pharma|bolig`,
);
export const BRAND_KINDS = words(
  'Solutions|Consult|Nordic|Danmark|Group|Systems|Design|Service|Teknik|Industri|Engineering|Media|Logistik|Trading|Software',
);

export const PLACES_TO_EAT = words(`Restaurant|Café|Pizzeria|Bodega|Grill|Sushi|Kro|Ristorante|Spisehuset|Hotel`);
export const EATERY_NAMES = words(
  `Anker|Roma|Napoli|Kystens Perle|Den Blå Hane|Toscana|Havblik|Rosen|Kong Frode|Det Gule Hus|Bella Italia|Ankara|Istanbul|
  Mamma Mia|Oasen|Skipperen|Postgaarden|Svanen|Lotus|Kanalen|Solsikken|Vesuvio|Pakhuset|Fregatten|Mona Lisa|Tre Kroner|
  Den Lille Mølle|Gyldenløve|Kastanjen|Milano|Bosporus|Hakuna|Strandpavillonen|Badehotellet|Færgegaarden|Snogen|Ambrosia|Marco Polo`,
);

/** Chains with a shop in many towns. */
export const CHAINS = words(
  `Vinhuset|Tæppegalleriet|Dækpunktet|Sengeriget|Brillebutikken|Nøglehjørnet|Kontorgiganten|Cykelbørsen|Fliselageret|Hårstuen|
  Pizzaporten|Bogladen|Farvekrukken|Legekælderen|Mobilbutikken|Køkkenstudiet|Burgerbaren|Fitnesshulen|Vaskehallen|Dyrekassen`,
);

export const SCHOOLS = words(
  `Sct. Jørgens Skole|Vestre Skole|Østre Skole|Nordbyskolen|Søndermarksskolen|Børnehuset Regnbuen|Børnehaven Mælkebøtten|
  Plejecenter Rosenlund|Plejehjemmet Solgården|Daginstitutionen Spiren|Ungdomsskolen|Hovedbiblioteket|Materielgården|Skovbrynet Skole`,
);

export const VILLAGES = words(
  `Hammerum|Gjellerup|Tjørring|Snejbjerg|Lind|Sunds|Vildbjerg|Aulum|Bording|Engesvang|Thyregod|Give|Jelling|Bredsten|Egtved|Vamdrup|
  Christiansfeld|Gram|Toftlund|Bramming|Gørding|Tjæreborg|Oksbøl|Nørre Nebel|Tarm|Tim|Ulfborg|Vinderup|Hvam|Møldrup|Ørum|Rønde|
  Hornslet|Galten|Låsby|Them|Gjern|Ulstrup|Langå|Gjerlev|Mariager|Arden|Støvring|Ellidshøj|Frejlev|Vodskov|Hjallerup|Jerslev|Tårs|
  Sindal|Tolne|Hurup|Bedsted|Hanstholm|Frøstrup|Glyngøre|Roslev|Balling|Højslev`,
);

export const HOUSING = words(
  'Rosengården|Lærkebakken|Solbakken|Kløverparken|Bøgehøj|Fruehøj|Enggården|Skovparken|Fjordbo|Møllevangen|Vestparken|Byhøjen|Ådalen|Birkelunden',
);

export const FREEMAIL = words(
  'gmail.com|hotmail.com|live.dk|outlook.dk|mail.dk|yahoo.dk|jubii.dk|mail.tele.dk|stofanet.dk|icloud.com',
);

export const DEPARTMENTS = words(
  'indkøb|bogholderiet|att. kreditor|HR|IT-afdelingen|lager 2|kantinen|salgsafd.|regnskab|marketing|vedligehold|reception',
);

export const FOREIGN_PLACES = words(
  '24937 Flensburg DE|20095 Hamburg DE|211 19 Malmö SE|411 06 Göteborg SE|0150 Oslo NO|5003 Bergen NO|1012 Amsterdam NL|10115 Berlin DE|00100 Helsinki FI',
);
