/** Texts that every page shares: navigation, states, errors. */

export const FRAME_TEXTS = {
  'nav.label': { en: 'Pages', da: 'Sider' },
  'nav.skip': { en: 'Skip to content', da: 'Gå til indhold' },
  'nav.overview': { en: 'Overview', da: 'Overblik' },
  'nav.sessions': { en: 'Your sessions', da: 'Dine sessioner' },
  'page.keys': {
    en: 'Single keys act in this browser: / goes to the search, j and k go through a list, and the keys of Match answer',
    da: 'Enkelte taster virker i denne browser: / går til søgningen, j og k går gennem en liste, og tasterne i Match svarer',
  },
  'page.zone': { en: 'Times are Danish time.', da: 'Tider er dansk tid.' },
  'live.checked': { en: 'Checked', da: 'Tjekket' },
  'stale.silent': {
    en: 'cvrsync sends no new figures: it does not answer, or could not read them. These are of the last check, and may be wrong by now.',
    da: 'cvrsync sender ingen nye tal: det svarer ikke, eller kunne ikke læse dem. Disse er fra sidste tjek og kan være forkerte nu.',
  },
  'stale.ended': {
    en: 'You are signed out. These figures are of the last check, and may be wrong by now.',
    da: 'Du er logget ud. Disse tal er fra sidste tjek og kan være forkerte nu.',
  },
  'stale.signIn': { en: 'Sign in', da: 'Log ind' },
  'action.cancel': { en: 'Cancel', da: 'Annuller' },
  'secret.once': {
    en: 'Copy this now: no page shows it again.',
    da: 'Kopiér det nu: ingen side viser det igen.',
  },
  'value.yes': { en: 'yes', da: 'ja' },
  'value.no': { en: 'no', da: 'nej' },
  'role.viewer': { en: 'viewer', da: 'læser' },
  'role.operator': { en: 'operator', da: 'operatør' },
  'role.admin': { en: 'admin', da: 'administrator' },
  'error.notFound': { en: 'There is nothing here', da: 'Der er ikke noget her' },
  'error.notFoundHelp': {
    en: 'The address may be mistyped, or what it showed is gone.',
    da: 'Adressen kan være skrevet forkert, eller det, den viste, findes ikke mere.',
  },
  'error.failed': { en: 'Something failed on our side', da: 'Noget gik galt hos os' },
  'error.failedHelp': {
    en: 'Try again in a moment. The log of cvrsync says what happened.',
    da: 'Prøv igen om lidt. Loggen fra cvrsync siger, hvad der skete.',
  },
  'error.refused': { en: 'You may not do this', da: 'Det må du ikke' },
  'error.role': {
    en: 'This needs the role {role}. Ask an admin for a token with that role.',
    da: 'Det kræver rollen {role}. Bed en administrator om et token med den rolle.',
  },
  'error.invalid': { en: 'The request is not valid', da: 'Anmodningen er ikke gyldig' },
  'error.back': { en: 'Go to the overview', da: 'Gå til overblikket' },
  'error.tooLarge': { en: 'This is too large', da: 'Det er for stort' },
  'error.formHelp': {
    en: 'Nothing was changed. This form may have {most} kB and {fields} fields.',
    da: 'Intet er ændret. Formularen må fylde {most} kB og have {fields} felter.',
  },
  'error.fileHelp': {
    en: 'Nothing was changed. A file may have {most} MB. Leave columns out that nobody edits, such as the name, and send it again.',
    da: 'Intet er ændret. En fil må fylde {most} MB. Udelad kolonner, som ingen retter, for eksempel navnet, og send den igen.',
  },
  'error.tooMany': { en: 'Too many attempts', da: 'For mange forsøg' },
  'error.tooManyHelp': {
    en: 'Wait a minute, then try again.',
    da: 'Vent et minut, og prøv så igen.',
  },
} as const;
