/** Texts of what the daemon runs for a person: previewed, carried out, cancelled. */

export const RUN_TEXTS = {
  'preview.waiting': { en: 'The preview begins', da: 'Forhåndsvisningen begynder' },
  'preview.running': { en: 'Looking what it would do', da: 'Ser, hvad det ville gøre' },
  'preview.done': { en: 'Ready: nothing was written yet', da: 'Klar: intet er skrevet endnu' },
  'preview.cancelled': { en: 'Cancelled: nothing was written', da: 'Afbrudt: intet er skrevet' },
  'preview.failed': {
    en: 'The preview failed: nothing was written',
    da: 'Forhåndsvisningen mislykkedes: intet er skrevet',
  },
  'run.waiting': { en: 'It begins', da: 'Det begynder' },
  'run.running': { en: 'Running', da: 'I gang' },
  'run.done': { en: 'Done', da: 'Færdig' },
  'run.cancelled': { en: 'Cancelled: what was done stays done', da: 'Afbrudt: det, der er gjort, forbliver gjort' },
  'run.failed': { en: 'Failed: what was done stays done', da: 'Mislykket: det, der er gjort, forbliver gjort' },
  'run.which': { en: 'What', da: 'Hvad' },
  'run.state': { en: 'State', da: 'Tilstand' },
  'run.actor': { en: 'Asked for by', da: 'Bestilt af' },
  'run.cancel': { en: 'Cancel', da: 'Afbryd' },
  'run.reload': { en: 'See how far it is', da: 'Se, hvor langt den er' },
  'run.result': { en: 'Result', da: 'Resultat' },
  'run.nothing': { en: 'There is nothing to do.', da: 'Der er intet at gøre.' },
  'run.more': {
    en: '{count} of the results are shown: those that need a person first.',
    da: '{count} af resultaterne vises: dem, der kræver stillingtagen, først.',
  },
} as const;
