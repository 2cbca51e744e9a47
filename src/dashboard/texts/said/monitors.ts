/** Why a monitor cannot be as it was asked for, in Danish. The name of the setting stands before it. */
import type { Said } from './sentence.ts';

export const MONITORS_SAID: readonly Said[] = [
  [
    'is missing, and so are mail addresses: nobody would be told',
    'mangler, og det gør mailadresser også: ingen ville få besked',
  ],
  ['should be 1 to 200 characters on one line', 'skal være 1 til 200 tegn på én linje'],
  [
    'should be 1 to 64 letters, digits, dots or dashes',
    'skal være 1 til 64 bogstaver, cifre, punktummer eller streger',
  ],
  ['should be items, as a job lists its companies', 'skal være items, for et job har en liste over sine virksomheder'],
  ['is no event; they are {names}', 'er ikke en hændelse; de er {names}'],
  ['should be a whole number from 1 to {count}', 'skal være et helt tal fra 1 til {count}'],
  ['should be {count} addresses at most', 'må højst være {count} adresser'],
  ['is no e-mail address, as name@example.com', 'er ikke en mailadresse som navn@example.com'],
  [
    'should hold no user name and password: give them as credentials of method BasicAuth',
    'må ikke have brugernavn og adgangskode: angiv dem som adgangsoplysninger med metoden BasicAuth',
  ],
  ['should be an address, as https://example.com/webhook', 'skal være en adresse som https://example.com/webhook'],
  [
    'is {address}, and only public ones are posted to: service.webhooks.allow names others',
    'er {address}, og der sendes kun til offentlige: service.webhooks.allow nævner andre',
  ],
  ['an unspecified address', 'en uspecificeret adresse'],
  ['a private address', 'en privat adresse'],
  ['an address of a carrier', 'en teleoperatørs adresse'],
  ['a loopback address', 'en loopback-adresse'],
  ['a metadata address', 'en metadata-adresse'],
  ['a link-local or metadata address', 'en link-local- eller metadata-adresse'],
  ['a reserved address', 'en reserveret adresse'],
  ['an address for documentation', 'en adresse til dokumentation'],
  ['a 6to4 address', 'en 6to4-adresse'],
  ['an address for benchmarks', 'en adresse til målinger'],
  ['a multicast address', 'en multicast-adresse'],
  ['no global address', 'ikke en global adresse'],
  ['no address', 'ikke en adresse'],
  ['should be printable ASCII', 'skal være synlige ASCII-tegn'],
  ['does not hold what the method {method} needs', 'har ikke det, metoden {method} kræver'],
  [
    'is a header that every post has already, or that none may have',
    'er en header, som hver forsendelse allerede har, eller som ingen må have',
  ],
  ['should be 1 to {count} attempts', 'skal være 1 til {count} forsøg'],
  ['should be a whole number of seconds from 0 to {count}', 'skal være et helt antal sekunder fra 0 til {count}'],
];
