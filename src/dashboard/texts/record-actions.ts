/** Texts of the actions on a company's records. */

export const RECORD_ACTION_TEXTS = {
  'action.hold': { en: 'Hold …', da: 'Hold …' },
  'action.release': { en: 'Release …', da: 'Frigiv …' },
  'action.end': { en: 'End …', da: 'Afslut …' },
  'action.update': { en: 'Full update …', da: 'Fuld opdatering …' },
  'action.link': { en: 'Link a record …', da: 'Kobl en post …' },
  'action.unlink': { en: 'Unlink …', da: 'Fjern koblingen …' },
  'action.preview': { en: 'See what it changes', da: 'Se, hvad det ændrer' },
  'action.cancel': { en: 'Leave everything as it is', da: 'Lad alt være, som det er' },
  'action.changed': {
    en: 'Nothing was done: something changed since you looked. Here is how things are now.',
    da: 'Intet er udført: noget er ændret, siden du så det. Sådan er det nu.',
  },
  'action.invalid': {
    en: 'This cannot be done. Choose a property from the list, and a day that is not over, or none.',
    da: 'Det kan ikke lade sig gøre. Vælg et felt fra listen, og en dag, der ikke er forbi, eller ingen.',
  },
  'outlook.label': { en: 'What cvrsync would do', da: 'Hvad cvrsync ville gøre' },
  'outlook.property': { en: 'Property', da: 'Felt' },
  'outlook.crm': { en: 'The CRM holds', da: 'CRM’et har' },
  'outlook.register': { en: 'The register says', da: 'Registret siger' },
  'outlook.then': { en: 'What cvrsync would do', da: 'Hvad cvrsync ville gøre' },
  'outlook.same': {
    en: 'Now this writes nothing: the CRM holds what the register says.',
    da: 'Lige nu skrives intet: CRM’et har det, registret siger.',
  },
  'outlook.unknown': {
    en: 'Now this writes nothing: the register has told nothing of it yet.',
    da: 'Lige nu skrives intet: registret har ikke fortalt noget om det endnu.',
  },
  'actionTitle.hold': { en: 'Hold', da: 'Hold' },
  'hold.help': {
    en: 'While a property is on hold, cvrsync writes nothing to it, whatever the register says.',
    da: 'Mens et felt er på hold, skriver cvrsync ikke i det, uanset hvad registret siger.',
  },
  'hold.lastDay': {
    en: 'The last day of the hold (none: until you end it)',
    da: 'Sidste dag (ingen: til du afslutter det)',
  },
  'hold.reason': { en: 'Why, for those who look later', da: 'Hvorfor, for dem, der ser det senere' },
  'hold.effect': { en: 'cvrsync writes nothing there', da: 'cvrsync skriver intet der,' },
  'hold.open': { en: 'until somebody ends the hold.', da: 'før nogen afslutter det.' },
  'hold.until': { en: 'until', da: 'før' },
  'submit.hold': { en: 'Put on hold', da: 'Sæt på hold' },
  'actionTitle.release': { en: 'Release', da: 'Frigiv' },
  'release.help': {
    en: 'On a released property the register wins: cvrsync writes over what people have edited.',
    da: 'På et frigivet felt vinder registret: cvrsync skriver over det, nogen har rettet.',
  },
  'release.onceOnly': {
    en: 'only once; later edits are kept again',
    da: 'kun én gang; senere rettelser beholdes igen',
  },
  'release.once': {
    en: 'The register wins once. After that, cvrsync keeps what people edit again.',
    da: 'Registret vinder én gang. Derefter beholder cvrsync igen det, nogen retter.',
  },
  'release.always': {
    en: 'The register wins from now on: cvrsync writes over each later edit, too, until you end the release.',
    da: 'Registret vinder fra nu af: cvrsync skriver også over hver senere rettelse, til du afslutter frigivelsen.',
  },
  'submit.release': { en: 'Release', da: 'Frigiv' },
  'actionTitle.end': { en: 'End a hold or a release', da: 'Afslut et hold eller en frigivelse' },
  'end.hold': {
    en: 'The hold ends. The rules of the mapping count again, and cvrsync writes where they say so.',
    da: 'Holdet slutter. Reglerne for feltet gælder igen, og cvrsync skriver, hvor de siger det.',
  },
  'end.release': {
    en: 'The release ends. The rules of the mapping count again, and edits of people are kept where they say so.',
    da: 'Frigivelsen slutter. Reglerne for feltet gælder igen, og rettelser beholdes, hvor de siger det.',
  },
  'end.none': {
    en: 'There is neither a hold nor a release any more.',
    da: 'Der er hverken hold eller frigivelse mere.',
  },
  'submit.end': { en: 'End it', da: 'Afslut' },
  'actionTitle.update': { en: 'Full update', da: 'Fuld opdatering' },
  'update.effect': {
    en: 'cvrsync asks the monitoring service to send the whole company now. What comes is written by the same rules as every event: edits of people are kept, and so are holds.',
    da: 'cvrsync beder overvågningstjenesten sende hele virksomheden nu. Det, der kommer, skrives efter de samme regler som hver hændelse: rettelser beholdes, og hold gælder.',
  },
  'update.last': { en: 'The service last confirmed the monitoring', da: 'Tjenesten bekræftede sidst overvågningen' },
  'update.noUpstream': {
    en: 'No monitoring service is configured, so nobody can be asked.',
    da: 'Ingen overvågningstjeneste er konfigureret, så ingen kan spørges.',
  },
  'submit.update': { en: 'Ask for it', da: 'Bed om den' },
  'actionTitle.link': { en: 'Link a record', da: 'Kobl en post' },
  'link.help': {
    en: 'cvrsync reads the record first, and shows what it would write there.',
    da: 'cvrsync læser først posten og viser, hvad det ville skrive i den.',
  },
  'link.record': { en: 'The record’s id in the CRM', da: 'Postens id i CRM’et' },
  'link.sendUpdate': {
    en: 'have the service send the whole company at once',
    da: 'lad tjenesten sende hele virksomheden med det samme',
  },
  'link.noRecord': {
    en: 'This cannot be a record of that connection. Enter the id alone, not an address.',
    da: 'Det kan ikke være en post i den forbindelse. Skriv kun id’et, ikke en adresse.',
  },
  'link.already': {
    en: 'The record is linked to this company already.',
    da: 'Posten er allerede koblet til virksomheden.',
  },
  'link.person': {
    en: 'This is a person, and the connection writes no data of persons: see persons in its configuration.',
    da: 'Dette er en person, og forbindelsen skriver ingen persondata: se persons i dens konfiguration.',
  },
  'link.taken': {
    en: 'The record is linked to another company. Unlink it there first, and wait until its monitoring has ended:',
    da: 'Posten er koblet til en anden virksomhed. Fjern først koblingen der, og vent, til overvågningen er slut:',
  },
  'link.gone': {
    en: 'The CRM has no record with this id, or the credentials may not see it.',
    da: 'CRM’et har ingen post med dette id, eller adgangen må ikke se den.',
  },
  'link.moved': {
    en: 'The record was merged into {to}: link that one instead.',
    da: 'Posten er flettet ind i {to}: kobl den i stedet.',
  },
  'link.unread': {
    en: 'The record could not be read just now, so it cannot be linked: {reason}. Try again in a moment.',
    da: 'Posten kunne ikke læses lige nu, så den kan ikke kobles: {reason}. Prøv igen om lidt.',
  },
  'link.effect': {
    en: 'cvrsync links the record to the company, and has the company monitored for it.',
    da: 'cvrsync kobler posten til virksomheden og lader virksomheden overvåge for den.',
  },
  'link.updateEffect': {
    en: 'It asks the service for the whole company, and writes that by the same rules.',
    da: 'Det beder tjenesten om hele virksomheden og skriver den efter de samme regler.',
  },
  'link.matchEffect': {
    en: 'It writes the number into the record.',
    da: 'Det skriver nummeret i posten.',
  },
  'link.held': {
    en: 'The company is linked already to another record of {provider}: {records}. Both will get what the register tells.',
    da: 'Virksomheden er allerede koblet til en anden post i {provider}: {records}. Begge får, hvad registret fortæller.',
  },
  'link.mistyped': {
    en: 'The number fails the register’s check (modulus 11): is it mistyped?',
    da: 'Nummeret består ikke registrets kontrol (modulus 11): er det tastet forkert?',
  },
  'link.unknown': {
    en: 'Nobody has told cvrsync of a company with this number yet: is it the right one?',
    da: 'Ingen har endnu fortalt cvrsync om en virksomhed med dette nummer: er det det rigtige?',
  },
  'link.noUpstream': {
    en: 'No monitoring service is configured: the link is kept here, and nobody is called.',
    da: 'Ingen overvågningstjeneste er konfigureret: koblingen gemmes her, og ingen kaldes.',
  },
  'link.other': {
    en: 'The record holds the number of another company: {other}.',
    da: 'Posten har en anden virksomheds nummer: {other}.',
  },
  'link.consent': {
    en: 'Link it although it holds the number of {other}',
    da: 'Kobl den, selv om den har nummeret på {other}',
  },
  'submit.link': { en: 'Link the record', da: 'Kobl posten' },
  'actionTitle.unlink': { en: 'Unlink', da: 'Fjern kobling' },
  'unlink.none': { en: 'The link is not active any more.', da: 'Koblingen er ikke aktiv mere.' },
  'unlink.effect': {
    en: 'The link ends. cvrsync writes nothing to the record any more, and ends the monitoring of the company for it.',
    da: 'Koblingen slutter. cvrsync skriver intet i posten mere og afslutter overvågningen af virksomheden for den.',
  },
  'unlink.stays': {
    en: 'What the record holds stays as it is. cvrsync does not link it again by itself.',
    da: 'Det, posten har, bliver stående. cvrsync kobler den ikke igen af sig selv.',
  },
  'submit.unlink': { en: 'Unlink the record', da: 'Fjern koblingen' },
} as const;
