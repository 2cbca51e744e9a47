/** Texts of the page of API keys. */

export const KEY_TEXTS = {
  'keys.help': {
    en: 'Who may call the service. A key is shown once, when it is created; the service stores only a digest of it.',
    da: 'Hvem der må kalde tjenesten. En nøgle vises én gang, når den oprettes; tjenesten gemmer kun et fingeraftryk af den.',
  },
  'keys.empty': {
    en: 'There are no keys. Create one for each system that calls the service.',
    da: 'Der er ingen nøgler. Opret en til hvert system, der kalder tjenesten.',
  },
  'keys.name': { en: 'Owner', da: 'Ejer' },
  'keys.owner': { en: 'The owner of the key', da: 'Nøglens ejer' },
  'keys.state': { en: 'State', da: 'Tilstand' },
  'keys.scopes': { en: 'May be used for', da: 'Må bruges til' },
  'keys.created': { en: 'Created', da: 'Oprettet' },
  'keys.used': { en: 'Last used', da: 'Sidst brugt' },
  'keys.never': { en: 'never', da: 'aldrig' },
  'keys.action': { en: 'Action', da: 'Handling' },
  'keys.active': { en: 'valid', da: 'gyldig' },
  'keys.revoked': { en: 'revoked', da: 'tilbagekaldt' },
  'keys.revokeLink': { en: 'Revoke…', da: 'Tilbagekald…' },
  'keys.create': { en: 'Create a key', da: 'Opret en nøgle' },
  'keys.made': { en: 'The key of {name}', da: 'Nøglen for {name}' },
  'keys.key': { en: 'Key', da: 'Nøgle' },
  'keys.invalid': {
    en: 'Write who owns the key, in 256 characters at most on one line, and choose at least one use.',
    da: 'Skriv, hvem der ejer nøglen, med højst 256 tegn på én linje, og vælg mindst én anvendelse.',
  },
  'keys.already': { en: 'The key was created already', da: 'Nøglen er allerede oprettet' },
  'keys.again': {
    en: 'The form was sent twice, and the other answer showed the key. If nobody has it, revoke it and create another.',
    da: 'Formularen blev sendt to gange, og det andet svar viste nøglen. Hvis ingen har den, så tilbagekald den, og opret en anden.',
  },
  'scope.monitoring': { en: '– manage the list of a job', da: '– styre et jobs liste' },
  'scope.news': { en: '– read news', da: '– læse nyheder' },
  'scope.testwebhook': { en: '– have a webhook tested', da: '– få en webhook prøvet' },
  'scope.admin': { en: '– the admin API: everything', da: '– admin-API’et: alt' },
  'revoke.title': { en: 'Revoke the key of {name}', da: 'Tilbagekald nøglen for {name}' },
  'revoke.help': {
    en: 'The key stops working within a second, for good.',
    da: 'Nøglen holder op med at virke inden for et sekund, for altid.',
  },
  'revoke.noJobs': { en: 'It has no job that is on.', da: 'Den har intet job, der er slået til.' },
  'revoke.jobs': {
    en: {
      one: 'This job is switched off, and its deliveries are held for 14 days. To keep it, move it to another key first.',
      other:
        'These {count} jobs are switched off, and their deliveries are held for 14 days. To keep one, move it to another key first.',
    },
    da: {
      one: 'Dette job slås fra, og dets leveringer tilbageholdes i 14 dage. For at beholde det: flyt det til en anden nøgle først.',
      other:
        'Disse {count} job slås fra, og deres leveringer tilbageholdes i 14 dage. For at beholde et: flyt det til en anden nøgle først.',
    },
  },
  'revoke.keepJobs': {
    en: 'leave them on, so that they still deliver to their webhooks',
    da: 'lad dem være slået til, så de stadig leverer til deres webhooks',
  },
  'revoke.submit': { en: 'Revoke for good', da: 'Tilbagekald for altid' },
} as const;
