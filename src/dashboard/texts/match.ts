/** Texts of the match page. */

export const MATCH_TEXTS = {
  'nav.match': { en: 'Match', da: 'Match' },
  'match.help': {
    en: 'Which company does this record mean? Accept one, and the record is linked, filled and gets the number.',
    da: 'Hvilken virksomhed er denne post? Vælg én, så bliver posten koblet, udfyldt og får nummeret.',
  },
  'match.left': {
    en: { one: '{count} record waits.', other: '{count} records wait.' },
    da: { one: '{count} post venter.', other: '{count} poster venter.' },
  },
  'match.more': { en: 'More than {count} records wait.', da: 'Mere end {count} poster venter.' },
  'match.end': {
    en: 'No further record waits. Those that you left for later stand at the beginning.',
    da: 'Der venter ikke flere poster. Dem, du gemte til senere, står i begyndelsen.',
  },
  'match.nothing': {
    en: 'No record without a number waits. Run cvrsync match, or set autoMatch: suggest for a connection, and what is found will stand here.',
    da: 'Ingen post uden nummer venter. Kør cvrsync match, eller sæt autoMatch: suggest for en forbindelse, så kommer det fundne til at stå her.',
  },
  'match.noIndex': {
    en: 'There is no company index yet, without which nothing is found: make it with cvrsync match index FILE, or with cvrsync match index --rebuild from what the service has loaded.',
    da: 'Der er endnu intet virksomhedsindeks, og uden det findes intet: lav det med cvrsync match index FIL, eller med cvrsync match index --rebuild af det, tjenesten har hentet.',
  },
  'match.record': { en: 'The record', da: 'Posten' },
  'match.part': { en: 'Part', da: 'Del' },
  'match.name': { en: 'Name', da: 'Navn' },
  'match.street': { en: 'Address', da: 'Adresse' },
  'match.postalCode': { en: 'Postal code', da: 'Postnummer' },
  'match.city': { en: 'City', da: 'By' },
  'match.phone': { en: 'Phone', da: 'Telefon' },
  'match.website': { en: 'Website', da: 'Websted' },
  'match.email': { en: 'E-mail', da: 'E-mail' },
  'match.number': { en: 'CVR number', da: 'CVR-nummer' },
  'match.score': { en: 'Score', da: 'Point' },
  'match.reasons': { en: 'What speaks for it', da: 'Det taler for' },
  'match.ended': { en: 'ended {day}', da: 'ophørt {day}' },
  'match.successor': { en: 'successor {number}', da: 'efterfølger {number}' },
  'match.same': { en: 'same', da: 'ens' },
  'match.differs': { en: 'differs', da: 'afviger' },
  'match.accept': { en: 'Accept {number}', da: 'Vælg {number}' },
  'match.none': { en: 'None of these', da: 'Ingen af dem' },
  'match.later': { en: 'Later', da: 'Senere' },
  'match.other': { en: 'Another CVR number', da: 'Et andet CVR-nummer' },
  'match.seeOther': { en: 'See what linking it changes', da: 'Se, hvad en kobling ændrer' },
  'match.held': { en: 'linked already to record {records}', da: 'allerede koblet til post {records}' },
  'match.linked': { en: 'is linked to', da: 'er koblet til' },
  'match.rejected': { en: 'means none of these any more:', da: 'er ingen af disse mere:' },
  'match.keys': {
    en: 'Keys: 1 to 5 accept a company that no other record is linked to, n none, l later. A key answers a record that has been on screen for half a second.',
    da: 'Taster: 1 til 5 vælger en virksomhed, som ingen anden post er koblet til, n ingen, l senere. En tast svarer for en post, der har været på skærmen i et halvt sekund.',
  },
  'match.takeBack': { en: 'Take the answer back', da: 'Tag svaret tilbage' },
  'match.takeBackLinked': {
    en: 'Ends the link, and previews the undo of what cvrsync wrote into the record.',
    da: 'Afslutter koblingen og viser, hvordan det, cvrsync skrev i posten, kan fortrydes.',
  },
  'match.takeBackRejected': {
    en: 'The record waits for an answer again.',
    da: 'Posten venter igen på et svar.',
  },
  'match.notBack': {
    en: 'Nothing was done: the record has got another answer since.',
    da: 'Intet er udført: posten har fået et andet svar siden.',
  },
  'match.beginning': { en: 'From the beginning', da: 'Fra begyndelsen' },
  'match.decided': {
    en: 'Nothing was done: the record is decided already, or what was found for it is another by now.',
    da: 'Intet er udført: posten er allerede afgjort, eller der er fundet noget andet for den nu.',
  },
  'match.changed': {
    en: 'Nothing was done: somebody changed the record in the CRM since it was matched. Here it is as it is now.',
    da: 'Intet er udført: nogen har ændret posten i CRM’et, siden der blev fundet noget for den. Sådan er den nu.',
  },
  'match.noneNow': {
    en: 'As it is now, no company is found for it.',
    da: 'Som den er nu, findes der ingen virksomhed for den.',
  },
  'match.noNumber': { en: '{number} is no CVR number.', da: '{number} er ikke et CVR-nummer.' },
  'match.numbered': {
    en: 'Nothing was done: the record holds the number of {other} by now.',
    da: 'Intet er udført: posten har nu nummeret for {other}.',
  },
  'match.taken': {
    en: 'Nothing was done: the record stands for {other}.',
    da: 'Intet er udført: posten hører til {other}.',
  },
  'match.next': { en: 'Next record', da: 'Næste post' },
} as const;
