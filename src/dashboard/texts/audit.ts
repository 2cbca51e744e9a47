/** Texts of the audit's page. */

export const AUDIT_TEXTS = {
  'nav.audit': { en: 'Audit', da: 'Revisionsspor' },
  'audit.help': {
    en: 'What people and programs did by hand, the newest first. Entries are kept for 400 days.',
    da: 'Hvad personer og programmer har gjort manuelt, det nyeste først. Det gemmes i 400 dage.',
  },
  'audit.empty': {
    en: 'Nothing yet. Each action by hand will stand here: who, when, what, and what came of it.',
    da: 'Intet endnu. Hver manuel handling kommer til at stå her: hvem, hvornår, hvad, og hvad der kom ud af det.',
  },
  'audit.noMatch': { en: 'No entry fits this filter.', da: 'Ingen handling passer til filtret.' },
  'audit.at': { en: 'When', da: 'Hvornår' },
  'audit.actor': { en: 'Who', da: 'Hvem' },
  'audit.via': { en: 'From', da: 'Fra' },
  'audit.action': { en: 'Action', da: 'Handling' },
  'audit.subject': { en: 'What', da: 'Hvad' },
  'audit.detail': { en: 'Details', da: 'Detaljer' },
  'audit.result': { en: 'Result', da: 'Resultat' },
  'audit.anyVia': { en: 'anywhere', da: 'hvor som helst' },
  'via.page': { en: 'page', da: 'side' },
  'via.command': { en: 'command', da: 'kommando' },
  'via.api': { en: 'API', da: 'API' },
  'actor.operator': { en: 'dashboard user', da: 'bruger af dashboardet' },
  'actor.key': { en: 'API key', da: 'API-nøgle' },
  'actor.user': { en: 'system user', da: 'systembruger' },
  'list.filter': { en: 'Filter', da: 'Filtrér' },
  'list.all': { en: 'Show all', da: 'Vis alle' },
  'list.older': { en: 'Older', da: 'Ældre' },
  'list.newest': { en: 'Newest', da: 'Nyeste' },
  'list.names': { en: '{first} and {count} more', da: '{first} og {count} flere' },
  'list.csv': { en: 'Download as CSV', da: 'Hent som CSV' },
} as const;
