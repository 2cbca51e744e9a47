/** Whether a name is that of a person. */
import { readCompanyName } from './company-name.ts';
import { foldLetters } from './letters.ts';

/** Given names that many Danes have, folded when read. */
const GIVEN = `Anders Andreas Anne Anna Annette Anja Asger Astrid Bente Benny Birgit Birgitte Birthe Bjarne Bo Brian Britta
  Bodil Camilla Carl Carsten Casper Cecilie Charlotte Christian Christina Christoffer Claus Conny Dan Daniel David Dennis Ditte
  Dorte Dorthe Ebbe Elisabeth Ella Elin Else Emil Emilie Emma Erik Erling Ernst Eva Finn Flemming Frank Frederik Freja Gert
  Gitte Grethe Gunnar Gustav Hanne Hans Harald Heidi Helen Helge Helle Henning Henriette Henrik Ib Ida Inga Inge Inger Ingrid
  Irene Jacob Jakob Jan Jane Janne Jens Jeppe Jesper Jette Jimmy Johan Johanne Johannes John Johnny Jonas Jonathan Josefine
  Julie Jytte Jørgen Jørn Karen Karin Karl Karsten Kasper Katja Katrine Kenneth Kent Kim Kirsten Kirstine Kjeld Klaus Knud
  Kristian Kristine Kristoffer Kurt Lars Lasse Laura Laurits Leif Lene Linda Line Lis Lisbeth Lise Lone Lotte Louise Lucas Mads
  Magnus Maja Malene Maria Marianne Marie Marlene Martin Mathias Mathilde Merete Mette Michael Mikael Mia Mikkel Mogens Morten
  Nanna Nicolai Niels Nikolaj Nina Ole Oliver Oluf Oscar Otto Palle Patrick Per Pernille Peter Pia Poul Preben Rasmus Rikke
  Rita Robert Ronni Rune Sandra Sanne Sara Sarah Sebastian Signe Simon Sofie Solveig Stefan Steen Stig Stine Susanne Svend Søren
  Tage Thomas Tim Tina Tine Tobias Tom Tommy Torben Tove Trine Troels Ulla Ulrik Vagn Vibeke Victor Viggo Villy Winnie Yvonne
  Åge Åse Aase Agnete Alexander Allan Alma Anton Arne August Axel Bent Bjørn Børge Christine Clara Daniella Dagny Edith Egon Ejnar
  Ejvind Elna Esben Evald Fatima Frida Frode Gerda Gudrun Hassan Helena Herluf Holger Ivan Jacqueline Jannik Jarl Josef Kaj Kai
  Karina Keld Klara Kristina Lauge Laust Leo Liam Lilian Lilly Ludvig Lærke Malou Mehmet Mohamed Mohammad Mohammed Muhammad Nadja
  Nete Nicklas Nicolaj Noah Nora Olga Orla Ove Pauline Poul-Erik Ragnhild Regnar Roar Roland Ruth Samuel Sigrid Stephan Sten Sven
  Thea Theodor Thorkild Tonny Ubbe Uffe Ulrich Valdemar Verner Vera Vilhelm Villads Willy Yrsa Yusuf`;
const NAMES: ReadonlySet<string> = new Set(foldLetters(GIVEN).split(/\s+/));

/** Words of what companies do, as they stand behind the name of their owner. */
const TRADES: ReadonlySet<string> = new Set(
  foldLetters(`advokat agro anlæg arkitekt auto bageri biler bil blomster byg byggeri bådebyggeri cafe catering consult
  consulting cykler data design dyreklinik ejendomme ejendom ejendomsservice el elektronik entreprise fiskeri fisk fitness foto
  film fodpleje frisør fysioterapi glas grafisk gruppen group gulve handel have haver holding import invest ingeniør is it kaffe
  klinik kommunikation kød læge logistik maler malerfirma marine media mode murer murerfirma musik møbler optik ost partner
  regnskab rengøring restaurant revision rådgivning salon sejl service shop smede smykker snedker software studio tandlæge
  tandlæger tegnestue teknik terapi trading transport tryk træ tømrer tømrerfirma vin vognmand vvs yoga danmark denmark dk
  solceller energi reklame legetøj bøger frugt grønt massage golf ingeniører arkitekter anlægsgartner gartner nord syd center
  chokolade`).split(/\s+/),
);

/** How longer words of what companies do begin and end: `Advokatfirma`, `Bilcenter`. */
const BEGINNINGS = foldLetters(
  'advokat autov bilc byggef ejendom grafisk køkken maskin regnskab tømrer vognmand',
).split(' ');
const ENDS =
  foldLetters(`bygg center centret design dækning entreprise firma firmaet forening forlag forretning gården handel
  huset installation klinik klinikken kurser produktion rengøring salon service shop skole skolen station teknik udlejning
  værksted`).split(/\s+/);

const isTrade = (word: string): boolean =>
  TRADES.has(word) || BEGINNINGS.some((part) => word.startsWith(part)) || ENDS.some((part) => word.endsWith(part));

/** Whether a name is a given name and one to three others, with nothing of a company. */
export function isPersonName(text: string): boolean {
  const { form, owner } = readCompanyName(text);
  if (form !== null || owner !== null || /[\d&+/|()]|\s[-\u2010-\u2015]\s/u.test(text)) return false;
  const words = foldLetters(text).match(/\p{L}+(?:[-.']\p{L}*)*/gu) ?? [];
  const [first = ''] = words;
  const rest = words.slice(1);
  return (
    rest.length >= 1 &&
    rest.length <= 3 &&
    NAMES.has(first.split('-')[0] ?? '') &&
    !rest.some((word) => word === 'og' || isTrade(word))
  );
}
