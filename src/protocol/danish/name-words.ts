/** Words of Danish company names, folded. A typo that turns one of them into another is not a typo. */
import { foldLetters } from './letters.ts';

const listed = (text: string): ReadonlySet<string> => new Set(foldLetters(text).trim().split(/\s+/u));

export const GIVEN_NAMES: ReadonlySet<string> =
  listed(`Anders Andrea Andreas Anne Anna Annette Anja Annie Anni Anita Asger Asta Astrid Aksel Albert Alberte Alfred Alice
  Amalie Amanda Angela Angelo Annelise Anton Antonia Antonio Arne Arvid August Augusta Axel Abdul Ahmad Ahmed Ali Alexander
  Alexandra Alex Allan Alan Alma Agnes Agnete Aase Åse Åge Aya Ayse Barbara Beate Bent Bente Benny Benjamin Bendt Berit Bernt
  Bernhard Bert Bertha Bertel Bertil Bettina Betina Birgit Birger Birgitte Birgitta Birthe Birte Bitten Bjarke Bjarne Bjørn
  Bo Bodil Boris Brian Brit Britt Britta Bruno Børge Camilla Camille Carina Carl Carla Carlo Carlos Carmen Carol Carolina
  Caroline Carsten Casper Caspar Catharina Cathrine Catrine Cecilia Cecilie Celina Celine Charlotte Charles Charlie Christa
  Christel Christen Christian Christiane Christina Christine Christoffer Christopher Clara Claudia Claudio Claus Conni Conny
  Connie Conrad Curt Daniel Daniela Daniella Danielle Dan Dagny Dagmar David Denis Denise Dennis Diana Dina Ditte Dora Doris
  Dorit Dorrit Dorte Dorthe Dorthea Ebba Ebbe Edith Edvard Edvin Egil Egon Eigil Einar Ejnar Ejvind Elin Elina Elias Elisa
  Elisabeth Elise Elizabeth Ella Ellen Ellinor Elly Elna Elsa Else Elsebeth Elvira Emil Emilia Emilie Emily Emma Emmy Enrico
  Erhard Erica Erik Erika Erling Erna Ernst Esben Espen Ester Esther Eskil Eva Eve Evald Eveline Evelyn Fabian Fatima Fatma
  Felix Ferdinand Filip Filippa Finn Flemming Frances Francesca Francesco Francis Francisco Franciska Frank Franz Fred
  Freddie Freddy Frede Frederik Frederikke Freja Frida Fritz Frode Gabriel Gabriella Gabrielle George Georg Gerda Gerhard
  Gert Gerti Gerd Gitta Gitte Gorm Grethe Grete Gregers Greta Gry Gudrun Gunhild Gunnar Gunner Gunver Gurli Gustav Gunna
  Halfdan Hanna Hannah Hanne Hannes Hannibal Hans Harald Harry Hasan Hassan Heidi Heine Heino Helen Helena Helene Helga Helge
  Helle Helmer Helmut Hemming Henning Henny Henri Henrik Henriette Henry Herbert Herdis Herluf Herman Hermann Hilda Hilde
  Hjalmar Holger Hugo Ib Ibrahim Ida Idun Inga Inge Ingeborg Ingelise Inger Ingolf Ingrid Ingvar Ina Iben Irene Iris Irma
  Isabel Isabella Isabelle Isak Ismail Ivan Ivar Iver Jack Jacob Jakob Jacqueline James Jamie Jan Jane Janet Janette Janne
  Jannik Jannie Janni Janus Jarl Jasmin Jean Jeanett Jeanette Jeanne Jens Jenny Jeppe Jesper Jessica Jette Jimmi Jimmy
  Joachim Joakim Joan Joanna Jo John Johan Johann Johanna Johanne Johannes Johnni Johnny Jon Jonas Jonatan Jonathan Jonna
  Jonny Jørgen Jørn Josef Josefine Joseph Josephine Juan Judith Judy Julia Julian Juliane Julie Julius June Justus Jutta
  Jytte Kai Kaj Kaja Kamilla Karen Karim Karin Karina Karl Karla Karlo Karna Karolina Karoline Karsten Kasper Kaspar Katarina
  Kate Katharina Kathe Kathrine Katja Katrin Katrina Katrine Kay Keld Ken Kenneth Kenny Kent Kerstin Kevin Kim Kira Kirsten
  Kirstin Kirstine Kirsti Kjeld Kjell Klara Klaus Knud Knut Konrad Kresten Krista Kristen Kristian Kristiane Kristina
  Kristine Kristoffer Kurt Käthe Lara Lars Lasse Lau Laura Laurits Lauritz Laurids Laurent Lauge Laust Lea Leah Lene Lena
  Leif Leila Leo Leon Leonard Leonora Leonardo Leander Lars-Erik Liam Lilian Lillian Lilli Lilly Lily Lina Linda Line Linea
  Linnea Lis Lisa Lisbet Lisbeth Lise Liselotte Lissi Lisse Lissy Liv Liva Livia Lizette Lisette Lizzie Lone Lona Lotte Lotta
  Louis Louisa Louise Luca Lucas Lucia Lucy Ludvig Luis Luise Lukas Lydia Lykke Lærke Mads Magda Magdalena Magdalene Magnus
  Magne Mai Maibritt Maj Maja Majbrit Majbritt Malene Malena Malin Malou Malte Malthe Manfred Manuel Marcel Marco Marcus Marc
  Maren Margareta Margaret Margit Margot Margrete Margrethe Maria Mariane Mariann Marianne Marie Marina Mario Marius Marita
  Markus Marlene Martha Marta Marthe Martin Martina Martine Mary Mathias Mathilde Matilda Matilde Matthias Mattias Mats Maya
  Mehmet Melanie Merete Merethe Mette Meta Mia Mie Michael Michaela Michala Michel Michele Michelle Mikael Mikaela Mike
  Mikkel Mikkeline Milla Mille Mina Minna Minne Mira Miriam Mirjam Mogens Mohamad Mohamed Mohammad Mohammed Mona Monica
  Monika Monique Morten Mortens Moses Muhammad Muhammed Mustafa Nadia Nadja Nana Nanna Nancy Natalia Natalie Natasha Nathalie
  Nelly Nete Nicholas Nick Nicklas Nicki Nicky Nicolai Nicolaj Nicolas Nicole Niclas Niels Nikita Niklas Nikolai Nikolaj
  Nikoline Nils Nina Nino Noah Noel Nora Norma Norman Ofelia Ola Olaf Olav Ole Olga Oline Oliver Olivia Olivier Oluf Orla
  Oscar Oskar Osman Osvald Otto Ove Palle Patricia Patrick Patrik Paul Paula Pauli Pauline Paulina Paw Peder Per Pernille
  Perry Pete Peter Petra Petrea Petrine Philip Philippa Phillip Pia Poul Poula Poulina Preben Pelle Rachel Ragna Ragnar
  Ragnhild Rakel Ralf Ralph Ramona Randi Rasmine Rasmus Rebecca Rebekka Regitze Regina Regnar Reinhard Renate Rene René Renée
  Richard Rie Rikke Rigmor Rita Robert Roberta Roberto Robin Roger Roar Roland Rolf Roman Romeo Ron Ronni Ronny Ronnie Rosa
  Rosalie Rosita Roy Rosanna Ruben Rudi Rudolf Rudy Runa Rune Runi Rut Ruth Sabina Sabine Sabrina Sally Salma Sam Samir
  Samira Samuel Sandra Sandro Sanna Sanne Sara Sarah Saskia Sebastian Selina Selma Serena Severin Shannon Signe Sigrid Sigurd
  Silas Silje Silke Silvia Simon Simona Simone Sine Sif Sille Sissel Siv Sofia Sofie Sofus Solveig Sonia Sonja Sonny Sophia
  Sophie Sophus Stanley Steen Stefan Stefanie Steffen Sten Stephan Stephanie Stephen Steve Steven Stig Stina Stine Sune
  Sunniva Susan Susanna Susanne Susie Suzanne Svea Svend Sven Svenn Sverre Sylvester Sylvia Søren Søs Tabita Tage Tanja Tania
  Tatiana Ted Teddy Teodor Terese Teresa Terkel Tess Thea Theis Theo Theodor Theodora Theresa Therese Therkel Thomas Thor
  Thora Thorbjørn Thorkild Thorleif Thorsten Thorvald Thyge Thyra Tilde Tim Tina Tine Tobias Tom Tomas Tommy Tommi Toni Tonni
  Tonny Tony Tor Torben Tore Torkil Torsten Tove Trine Trina Trille Troels Trond Trude Tue Ture Tuva Tyge Tyra Ubbe Uffe Ulf
  Ulla Ulrich Ulrik Ulrika Ulrikke Ursula Vagn Valborg Valdemar Valentin Valentina Valter Vanessa Vera Verner Veronica
  Veronika Vibe Vibeke Vicki Vicky Victor Victoria Vigga Viggo Viktor Viktoria Vilfred Vilhelm Vilhelmine Villads Villiam
  Villy Vilma Vilmer Vincent Viola Vitus Vivi Vivian Vivianne Wagner Walter Werner Wilhelm Willy William Willi Winni Winnie
  Xenia Yasmin Yngve Yrsa Yusuf Yvonne Zacharias Zenia Zoe Ørn Øyvind Poul-Erik Laurine Regine Svenning Kjartan Bennie
  Dorethe Elene Hella Henrika Inger-Lise Jonni Kathy Lenette Lonni Mortine Oluffa Palli Pernilla Robbie Sannie Tonje Vilda`);

const SURNAMES: ReadonlySet<string> =
  listed(`Aagaard Aagesen Abildgaard Abrahamsen Adamsen Agerskov Albertsen Albrechtsen Alstrup Andersen Andersson Andreasen
  Andresen Anker Antonsen Arndt Arnesen Asmussen Axelsen Bach Bagge Bagger Bak Bang Banke Barfoed Bay Bech Beck
  Becker Bendixen Bendtsen Bengtsen Bentsen Bentzen Berg Berger Bergmann Berggren Bergsøe Bertelsen Berthelsen Bidstrup Bille
  Birch Birk Bisgaard Bjerg Bjerre Bjerregaard Bjørn Blom Boesen Bonde Boisen Borch Borg Borup Boysen Brandt Brask Bredahl
  Bro Broch Brodersen Broe Brogaard Bruhn Bruun Brun Brøndum Buch Buhl Bundgaard Busch Buus Bæk Bøgh Bønnelykke Børgesen
  Carlsen Carlsson Carstensen Caspersen Christensen Christiansen Christoffersen Christophersen Clausen Clemmensen Conradsen
  Dahl Dahlgaard Dahlgren Dall Dalgaard Dalsgaard Dam Damgaard Damsgaard Danielsen Davidsen Degn Dideriksen Dinesen Ditlevsen
  Drejer Due Dybdahl Dyhr Dyrberg Ebbesen Ebert Eg Egeberg Egelund Eggert Eliasen Emborg Enevoldsen Engberg Engel
  Enggaard Eriksen Ernst Eskildsen Eskesen Espersen Fabricius Falk Faurholt Feldt Fischer Fisker Fjord Fog Folmer Foged
  Foldager Frandsen Franzen Frederiksen Friis Fuglsang Gade Gammelgaard Garde Gaarde Geertsen Geisler Gissel Gjerløv
  Gottlieb Graversen Gregersen Greve Grøn Grønbæk Grønlund Gundersen Gustavsen Gylling Haagensen Haahr Hagen Hald Halberg
  Hallberg Hammer Hans Handberg Hansen Hansson Harboe Harder Hartmann Hartvig Hasselbalch Haugaard Have Hede
  Hedegaard Hedemann Heide Hein Heinrichsen Helbo Hemmingsen Hendriksen Henningsen Henriksen Henriksson Hermann Hermansen
  Hertz Hess Hesselholt Hjort Hjorth Hoff Hoffmann Hofmann Hogaard Holck Holgersen Holm Holmberg Holmgaard Holmgren Holst
  Holt Hougaard Hove Hovgaard Husted Huus Hvid Hviid Høeg Høgh Høj Højberg Højgaard Højlund Højrup Høst Hørup Ibsen Ingemann
  Ingvardsen Isaksen Israelsen Iversen Jacobsen Jakobsen Jacobi Janson Jansen Jansson Janum Jensen Jensby Jenson
  Jeppesen Jepsen Jespersen Jessen Johannesen Johannsen Johansen Johanson Johansson Johnsen Johnson Jonassen
  Josefsen Juel Juhl Justesen Juul Jørgensen Jørgenson Jønsson Kaae Kaas Kamp Karlsen Karlsson Kaspersen Keller Kirk
  Kirkegaard Kirkeby Kjeldsen Kjeldgaard Kjelgaard Kjellerup Kjer Kjær Kjærgaard Kjærsgaard Kjærulff Klausen Klint Klitgaard
  Knudsen Koch Kock Kofod Kofoed Kolding Konradsen Kragh Krag Kramer Kristensen Kristiansen Kristoffersen Krogh Krog
  Krogsgaard Kruse Kure Kvist Kyed Kær Køhler Ladefoged Lange Langballe Langkjær Larsen Larsson Lassen Lauridsen Lauritsen
  Lauritzen Laursen Laustsen Legarth Lehmann Leth Levinsen Lind Lindberg Lindblad Linde Lindegaard Lindgaard Lindgren
  Lindholm Lindhardt Lindskov Lorentzen Lorenzen Lousdal Ludvigsen Lund Lundberg Lundby Lundbæk Lundgaard Lundgren Lundholm
  Lundin Lundsgaard Lunde Lyng Lynge Lykke Lyngby Lyngsø Løvgreen Løkke Madsen Magnussen Malling Markussen Marker Markvardsen
  Marcussen Martensen Martinsen Mathiasen Mathiesen Matthiesen Mattsson Maul Meier Meyer Mejer Meldgaard
  Michaelsen Michelsen Mikaelsen Mikkelsen Molbech Mogensen Mortensen Mouritsen Mouritzen Mouridsen Mosegaard Mulvad Munch
  Munck Munk Munkholm Muus Møller Müller Mølgaard Mølbak Mørch Mørk Mørup Navntoft Neergaard Nedergaard Nicolaisen Nicolajsen
  Niebuhr Nielsen Niels Nilsen Nilsson Nikolajsen Nissen Norup Nordahl Norgaard Nordentoft Nygaard Nyborg Nyholm Nymann
  Nymand Nyrup Nørby Nørgaard Nørskov Nørregaard Odgaard Olesen Olsen Olsson Oppermann Oster Ottesen Ottosen Overgaard Paaske
  Pallesen Pape Paulsen Pedersen Pederson Persson Petersen Peterson Petersson Philipsen Pihl Pilgaard Pindstrup Plesner
  Poulsen Povlsen Poulson Prip Præst Quist Raahauge Raben Rahbek Rasmussen Raun Ravn Rask Rasch Refsgaard Reimer
  Rievers Riis Rise Ritter Rohde Rosenberg Rosendahl Rosenkilde Rosenkrantz Rosenlund Ross Rothmann Rode Roed Rud Ruby Runge
  Rye Rytter Sander Sandberg Sandholt Sandager Schack Schjødt Schmidt Schmith Schneider Schou Schouboe Schrøder Schultz
  Schulz Schrader Schwartz Schütt Severinsen Silberg Simonsen Simonsson Skaarup Skafte Skjødt Skov Skovbo Skovgaard Skou
  Skriver Skytte Smed Smidt Smith Sonne Sommer Sparre Spang Staal Staun Steen Steensen Steensgaard Steffensen Stage Stampe
  Stender Stenberg Stenger Stokholm Stougaard Storgaard Strand Straarup Strøm Stub Støvring Sund Sundgaard Sunesen Svane
  Svarre Svarrer Svendsen Svenningsen Svensson Sørensen Sønderby Sønderskov Søby Søgaard Søholm Søndergaard Tang Tange
  Termansen Therkelsen Therkildsen Thestrup Thomassen Thomsen Thorsen Thorup Thrane Thuesen Thygesen Thyssen
  Thøgersen Tofte Toft Toftgaard Toldbod Tolstrup Torp Toxværd Trier Troelsen Tved Tønnesen Udsen Ulriksen Vad Vang Vase
  Vedel Veje Vester Vestergaard Vestergård Villadsen Villumsen Vind Vinther Vinter Vium Volf Wolf Wolff Voss Vognsen Wagner
  Weber Wendt Westergaard Westh Wiberg Willumsen Winkel Winther Winter With Worm Wulff Ørsted Ørum Øster Østerby Østergaard
  Østergård Østerlund`);

const TRADES: ReadonlySet<string> =
  listed(`advokat advokater agentur agro akademi anlæg apotek arkitekt arkitekter auto autoservice bager bageri bank bar
  begravelse beslag bil biler billig blik blikkenslager blomster bo bolig boliger boligudlejning bog bogholderi brand brod
  bryg bryggeri brygge bryggen bus busser butik byg bygge bygger byggeri byggefirma bygning bygninger bøger bøller børn båd
  både camping capital cafe care catering center central cykel cykler dæk dansk dans data design detail digital distribution
  drift dyr dyreklinik ejendom ejendomme ejendomsservice el elektro elektronik elektriker energi engros entreprise event
  export eksport import fabrik farm farve farver film finans fisk fiskeri fisker fitness flise fliser flyt flytte flytning
  foder fond foto forlag forsikring forvaltning frisør frugt frø fugl fysioterapi fysioterapeut galleri gartner gartneri gas
  glas glar glarmester gods golf grafik grafisk green grill group grus gruppe gruppen grønt gulv gulve guld gård gæs handel
  handels havn have haver hegn hest heste holding hotel hud hund hus huse huset høreklinik industri ingeniør ingeniører
  inkasso installation interiør inventar invest investering investment isolering jagt jern jord kaffe kage kager kantine
  kapital kemi keramik kiropraktor kloak klima klinik kloster kok kokken kommunikation konsulent konsulenter kontor kontrol
  kran kreativ kultur kunst kurser kød køb køkken køkkener køl køling kørsel landbrug lager lagen lak lakering land lastbil
  law leje legal leg legetøj leverandør link linje lys lyd læder læge læger logistik luft maler malerfirma maleri malermester
  malere marine marked marketing markise maskin maskiner massage mat mad mager mageri mark media medie medier medico mester
  metal miljø mink mode model montage motor motorer murer murerfirma murermester museum musik måler mølle møbel møbler natur
  negle net nord nørre oil olie ost optik optiker pakke pakning papir park parken partner partners pels pension pizza plade
  plader plan plast pleje pose post produktion product products projekt psykolog pumpe radio rave regnskab rejser rejse
  rekreation reklame rengøring rens renseri rep reparation restaurant restauration revision revisor ride ritz rør rådgivning
  råd salg salon sand service sejl senge sikring silo sikkerhed skade skilt skilte skib skiver skole skolen skov sko skorsten
  skrot skur smed smede smedie smykker snedker snedkeri software solar sol solcelle solceller sommer sport spa spil stald
  stål sten stof stole stillads studio sund sundhed supply support syd syn systemer system sø tag tage tand tandlæge
  tandlæger tandklinik taxa taxi teknik teknologi telt telte tele terapi terrasse test tobak tolk tours trading trafik
  transport trans træ træning tråd tryk trykkeri trailer turist tur tøj tømmer tømrer tømrerfirma tømrermester tømmerhandel
  udlejning udvikling ur ure vask vaskeri vagt vand varme vare vej veje ventilation vikar vin vind vine vindue vinduer
  vindmølle vognmand vogn volt vvs væg vægt værk værft værksted web wine yoga zone ø øl øre øst øster vest vester sønder
  nordre søndre vestre østre indre ydre øvre nedre`);

/** Endings that do not change the trade: `gruppen` is `gruppe`. */
const INFLECTED = /(?:erne|ene|en|et|er|ne|e|n|r|s|t)$/u;
const stemOf = (word: string): string => word.replace(INFLECTED, '');

const isPersons = (word: string): boolean => GIVEN_NAMES.has(word) || SURNAMES.has(word);
const isKnown = (word: string): boolean => isPersons(word) || TRADES.has(word);

/** Whether a name, such as `Jensen Byg`, consists only of names of people and words of trades. */
export const isCommonName = (words: readonly string[]): boolean => words.length > 0 && words.every(isKnown);

/** Shorter parts occur in any word. */
const SHORTEST_PART = 4;

/** Whether two folded words that differ by a typo are different words: Simone is not Simon. */
export function isOtherWord(meant: string, other: string): boolean {
  if (isKnown(meant)) return !isInflection(meant, other);
  const begin = sharedLength(meant, other, (word, at) => word.charAt(at));
  const left = Math.min(meant.length, other.length) - begin;
  const end = Math.min(
    left,
    sharedLength(meant, other, (word, at) => word.charAt(word.length - 1 - at)),
  );
  for (let kept = 0; kept <= end; kept += 1) if (areOther(cut(meant, 0, kept), cut(other, 0, kept))) return true;
  for (let from = 1; from <= begin; from += 1) if (areOther(cut(meant, from, 0), cut(other, from, 0))) return true;
  return false;
}

const cut = (word: string, from: number, kept: number): string => word.slice(from, word.length - kept);

const areOther = (a: string, b: string): boolean =>
  Math.min(a.length, b.length) >= SHORTEST_PART && isKnown(a) && isKnown(b) && !isInflection(a, b);

const isInflection = (a: string, b: string): boolean => !isPersons(a) && !isPersons(b) && stemOf(a) === stemOf(b);

function sharedLength(a: string, b: string, letter: (word: string, at: number) => string): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && letter(a, count) === letter(b, count)) count += 1;
  return count;
}
