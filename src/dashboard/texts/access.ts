/** Texts about who may use the dashboard: signing in, sessions, forms that are kept. */

export const ACCESS_TEXTS = {
  'login.title': { en: 'Sign in', da: 'Log ind' },
  'login.token': { en: 'Operator token', da: 'Operatørtoken' },
  'login.help': {
    en: 'An admin makes a token with: cvrsync operators create NAME --role viewer. For the first operator, cvrsync prints a link when it starts. Another one: cvrsync operators login-link',
    da: 'En administrator laver et token med: cvrsync operators create NAVN --role viewer. Den første operatør får et link, når cvrsync starter. Et nyt link: cvrsync operators login-link',
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
  'origin.title': { en: 'The form came from another site', da: 'Formularen kom fra et andet websted' },
  'origin.help': {
    en: 'Nothing was done. Open the dashboard and do it there.',
    da: 'Intet er udført. Åbn dashboardet, og gør det der.',
  },
  'signOn.submit': { en: 'Sign in with your organisation', da: 'Log ind med din organisation' },
  'signOn.orToken': { en: 'Or with an operator token:', da: 'Eller med et operatørtoken:' },
  'signOn.silent': {
    en: 'The sign-in of your organisation does not answer. Try again, or sign in with a token or a link, which an admin makes. What cvrsync check finds says more.',
    da: 'Din organisations login svarer ikke. Prøv igen, eller log ind med et token eller et link, som en administrator laver. cvrsync check siger mere.',
  },
  'signOn.refused': {
    en: 'Your organisation did not sign you in. Try again. Where it happens again, the log of cvrsync says why.',
    da: 'Din organisation loggede dig ikke ind. Prøv igen. Sker det igen, står grunden i loggen.',
  },
  'signOn.expired': {
    en: 'This sign-in was not begun in this browser, was used already, or took more than 10 minutes. Sign in again.',
    da: 'Dette login blev ikke begyndt i denne browser, er brugt, eller tog over 10 minutter. Log ind igen.',
  },
  'signOn.revoked': {
    en: 'Your access, {name}, was revoked here. An admin gives it back with: cvrsync operators allow "{name}"',
    da: 'Din adgang, {name}, er fjernet her. En administrator giver den igen med: cvrsync operators allow "{name}"',
  },
  'signOn.noRole': { en: 'You have no role in cvrsync yet', da: 'Du har endnu ingen rolle i cvrsync' },
  'signOn.noRoleHelp': {
    en: 'Your organisation knows you as {name}, but gives you none of the values that open this dashboard. Ask those who manage its sign-in to give you one of these in the claim {claim}: {values}. Then sign in again.',
    da: 'Din organisation kender dig som {name}, men giver dig ingen af de værdier, der giver adgang til dashboardet. Bed dem, der styrer login, om en af disse i claim {claim}: {values}. Log så ind igen.',
  },
  'signOn.held': { en: 'It sent: {values}', da: 'Den sendte: {values}' },
  'signOn.heldNone': { en: 'It sent none.', da: 'Den sendte ingen.' },
  'signOn.again': { en: 'Sign in again', da: 'Log ind igen' },
  'signOn.out': { en: 'You are signed out of cvrsync.', da: 'Du er logget ud af cvrsync.' },
  'signOn.outThere': { en: 'Sign out of your organisation too', da: 'Log også ud af din organisation' },
  'continue.title': { en: 'One moment', da: 'Et øjeblik' },
  'continue.link': { en: 'Go on', da: 'Fortsæt' },
  'confirm.title': { en: 'Confirm what you were about to do', da: 'Bekræft det, du var i gang med' },
  'confirm.help': {
    en: 'Your session changed while you filled in a form. Nothing was done yet. Check it, then go on.',
    da: 'Din session skiftede, mens du udfyldte en formular. Intet er udført endnu. Se det efter, og fortsæt så.',
  },
  'confirm.page': { en: 'Page', da: 'Side' },
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
} as const;
