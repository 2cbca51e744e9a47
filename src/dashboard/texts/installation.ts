/** Texts of the page of the installation. */

export const INSTALLATION_TEXTS = {
  'nav.installation': { en: 'Installation', da: 'Installation' },
  'installation.version': { en: 'Version', da: 'Version' },
  'installation.started': { en: 'Started', da: 'Startet' },
  'installation.daemons': { en: 'Daemons on the store', da: 'Daemons på lageret' },
  'installation.store': { en: 'Store', da: 'Lager' },
  'installation.growth': { en: 'Growth', da: 'Vækst' },
  'installation.free': { en: 'Free on its disk', da: 'Ledigt på dets disk' },
  'installation.findings': { en: 'Findings', da: 'Fund' },
  'installation.nothing': { en: 'Nothing to fix', da: 'Intet at rette' },
  'installation.check': { en: 'Check everything now', da: 'Kontrollér alt nu' },
  'installation.checkHelp': {
    en: 'As cvrsync check does: credentials, mapping, register, mail server. Who does not answer within {seconds} seconds is a finding.',
    da: 'Som cvrsync check gør: adgange, felter, register, mailserver. Hvem der ikke svarer inden for {seconds} sekunder, er et fund.',
  },
  'installation.bundle': { en: 'Support bundle', da: 'Supportpakke' },
  'installation.bundleHelp': {
    en: 'A JSON file with versions, findings, counts, metrics and the configuration: without secrets, mail addresses, companies and values of records. Look through it before you send it.',
    da: 'En JSON-fil med versioner, fund, antal, målinger og konfigurationen: uden hemmeligheder, mailadresser, virksomheder og værdier fra poster. Se den igennem, før du sender den.',
  },
  'installation.download': { en: 'Download', da: 'Hent' },
  'installation.configShow': { en: 'Show it, without secrets', da: 'Vis den, uden hemmeligheder' },
  'installation.config': { en: 'Configuration in force', da: 'Gældende konfiguration' },
  'finding.level': { en: 'Level', da: 'Niveau' },
  'finding.subject': { en: 'About', da: 'Om' },
  'finding.found': { en: 'Found', da: 'Fundet' },
  'finding.advice': { en: 'What to do', da: 'Hvad du kan gøre' },
  'level.ok': { en: 'fine', da: 'i orden' },
  'level.info': { en: 'to know', da: 'til orientering' },
  'level.warn': { en: 'look at it', da: 'se på det' },
  'level.fail': { en: 'fix it', da: 'ret det' },
} as const;
