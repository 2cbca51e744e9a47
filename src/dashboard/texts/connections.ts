/** Texts of the pages of connections. */

export const CONNECTION_TEXTS = {
  'nav.connections': { en: 'Connections', da: 'Forbindelser' },
  'connection.account': { en: 'Account', da: 'Konto' },
  'connection.match': { en: 'Property of the CVR number', da: 'Felt med CVR-nummeret' },
  'connection.hold': { en: 'Property that holds a record', da: 'Felt, der sætter en post på hold' },
  'connection.try': { en: 'Try the credentials now', da: 'Prøv adgangen nu' },
  'connection.budgets': { en: 'Calls', da: 'Kald' },
  'connection.budget': { en: 'Budget', da: 'Budget' },
  'connection.calls': { en: 'Calls at most', da: 'Højst kald' },
  'connection.window': { en: 'In', da: 'På' },
  'connection.mapping': { en: 'What is written where', da: 'Hvad der skrives hvor' },
  'connection.unchecked': {
    en: 'The CRM did not say just now which properties it has, so nothing is said of them here.',
    da: 'CRM’et sagde ikke lige nu, hvilke felter det har, så her står intet om dem.',
  },
  'connection.field': { en: 'Field', da: 'Felt' },
  'connection.property': { en: 'Property in the CRM', da: 'Felt i CRM’et' },
  'connection.policy': { en: 'Rule', da: 'Regel' },
  'connection.check': { en: 'Check', da: 'Kontrol' },
  'payload.title': { en: 'A payload tried on {connection}', da: 'En webhook prøvet på {connection}' },
  'payload.label': { en: 'Body of a webhook, JSON', da: 'Indholdet af en webhook, JSON' },
  'payload.try': { en: 'Try a payload', da: 'Prøv en webhook' },
  'payload.help': {
    en: 'Shows what cvrsync would write into the linked records, by which rule, as they are now. Nothing is written or kept.',
    da: 'Viser, hvad cvrsync ville skrive i de koblede poster, og efter hvilken regel, som de er nu. Intet skrives eller gemmes.',
  },
  'payload.unchanged': {
    en: 'would change these records as follows. Nothing was written.',
    da: 'ville ændre disse poster sådan. Intet er skrevet.',
  },
  'payload.nothing': {
    en: 'would write nothing here: no record of this connection is linked to it.',
    da: 'ville ikke skrive noget her: ingen post i forbindelsen er koblet til den.',
  },
  'payload.remarks': { en: 'Written nowhere', da: 'Skrives ingen steder' },
  'payload.entry': { en: 'Part of the payload', da: 'Del af webhooken' },
  'payload.why': { en: 'Why', da: 'Hvorfor' },
  'connection.fits': { en: 'fits', da: 'passer' },
} as const;
