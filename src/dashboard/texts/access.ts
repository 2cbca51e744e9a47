/** Texts about who may use the dashboard: signing in, sessions, forms that are kept. */

export const ACCESS_TEXTS = {
  'login.title': { en: 'Sign in', da: 'Log ind' },
  'login.token': { en: 'Operator token', da: 'Operatørtoken' },
  'login.help': {
    en: 'An admin makes a token with: cvrsync operators create NAME --role viewer',
    da: 'En administrator laver et token med: cvrsync operators create NAVN --role viewer',
  },
  'login.submit': { en: 'Sign in', da: 'Log ind' },
  'login.wrong': {
    en: 'This is not the token of an active operator. Check that you copied all of it.',
    da: 'Det er ikke et token for en aktiv operatør. Se efter, om du fik det hele med.',
  },
  'login.linkUsed': {
    en: 'This link was used already, or is too old. Sign in with your token.',
    da: 'Linket er brugt allerede, eller det er for gammelt. Log ind med dit token.',
  },
  'login.ended': {
    en: 'Your session ended. Sign in to go on: what you filled in is kept.',
    da: 'Din session er slut. Log ind for at fortsætte: det, du har udfyldt, er gemt.',
  },
  'login.signOut': { en: 'Sign out', da: 'Log ud' },
  'login.local': { en: 'this machine', da: 'denne maskine' },
  'local.title': { en: 'Operators must be created first', da: 'Der skal oprettes operatører først' },
  'local.help': {
    en: 'Without operators the dashboard answers only on the machine that cvrsync runs on, at localhost. To reach it from elsewhere, run: cvrsync operators create NAME --role admin',
    da: 'Uden operatører svarer siden kun på den maskine, cvrsync kører på, på localhost. For at nå den andre steder fra: cvrsync operators create NAVN --role admin',
  },
  'origin.title': { en: 'The form came from another site', da: 'Formularen kom fra et andet websted' },
  'origin.help': {
    en: 'Nothing was done. Open the dashboard and do it there.',
    da: 'Intet er udført. Åbn siden her, og gør det der.',
  },
  'confirm.title': { en: 'Confirm what you were about to do', da: 'Bekræft det, du var i gang med' },
  'confirm.help': {
    en: 'Your session changed while you filled in a form. Nothing was done yet. Check it, then go on.',
    da: 'Din session skiftede, mens du udfyldte en formular. Intet er udført endnu. Se det efter, og fortsæt så.',
  },
  'confirm.field': { en: 'Field', da: 'Felt' },
  'confirm.value': { en: 'Value', da: 'Værdi' },
  'confirm.submit': { en: 'Go on', da: 'Fortsæt' },
  'confirm.cancel': { en: 'Do nothing', da: 'Gør ingenting' },
  'sessions.help': {
    en: 'Where you are signed in. A session ends after {hours} hours without use, and after {days} days in any case.',
    da: 'Hvor du er logget ind. En session slutter efter {hours} timer uden brug, og under alle omstændigheder efter {days} dage.',
  },
  'sessions.browser': { en: 'Browser', da: 'Browser' },
  'sessions.started': { en: 'Signed in', da: 'Logget ind' },
  'sessions.seen': { en: 'Last used', da: 'Sidst brugt' },
  'sessions.ends': { en: 'Ends at the latest', da: 'Slutter senest' },
  'sessions.here': { en: 'this one', da: 'denne' },
  'sessions.end': { en: 'End', da: 'Afslut' },
  'sessions.action': { en: 'Action', da: 'Handling' },
  'sessions.none': {
    en: 'You use the dashboard on this machine without signing in: there are no operators yet. To make one: cvrsync operators create NAME --role admin',
    da: 'Du bruger siden på denne maskine uden at logge ind: der er ingen operatører endnu. For at oprette en: cvrsync operators create NAVN --role admin',
  },
} as const;
