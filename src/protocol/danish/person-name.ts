import { readCompanyName } from './company-name.ts';
import { foldLetters } from './letters.ts';
import { GIVEN_NAMES } from './name-words.ts';

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

/** Beginnings and endings of longer trades: `Advokatfirma`, `Bilcenter`. */
const BEGINNINGS = foldLetters(
  'advokat autov bilc byggef ejendom grafisk køkken maskin regnskab tømrer vognmand',
).split(' ');
const ENDS =
  foldLetters(`bygg center centret design dækning entreprise firma firmaet forening forlag forretning gården handel
  huset installation klinik klinikken kurser produktion rengøring salon service shop skole skolen station teknik udlejning
  værksted`).split(/\s+/);

const isTrade = (word: string): boolean =>
  TRADES.has(word) || BEGINNINGS.some((part) => word.startsWith(part)) || ENDS.some((part) => word.endsWith(part));

/** Whether a name is a given name and one to three others, without parts of a company's name. */
export function isPersonName(text: string): boolean {
  const { form, owner } = readCompanyName(text);
  if (form !== null || owner !== null || /[\d&+/|()]|\s[-\u2010-\u2015]\s/u.test(text)) return false;
  const words = foldLetters(text).match(/\p{L}+(?:[-.']\p{L}*)*/gu) ?? [];
  const [first = ''] = words;
  const rest = words.slice(1);
  return (
    rest.length >= 1 &&
    rest.length <= 3 &&
    GIVEN_NAMES.has(first.split('-')[0] ?? '') &&
    !rest.some((word) => word === 'og' || isTrade(word))
  );
}
