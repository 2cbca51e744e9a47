/** What `check` says of the service, the daemons, the admin listener and the alerts, in Danish. */
import type { Said } from './sentence.ts';

export const CHECK_SERVICE_SAID: readonly Said[] = [
  ['{source} gives documents', '{source} giver dokumenter'],
  ['{source} answers, and gives no document', '{source} svarer og giver intet dokument'],
  ['put register documents there', 'læg registerdokumenter dér'],
  ['see that service.register.since is past', 'sørg for, at service.register.since er i fortiden'],
  [
    'put register documents there, or name where they are: a relative path starts at the working directory',
    'læg registerdokumenter dér, eller nævn, hvor de er: en relativ sti begynder i arbejdsmappen',
  ],
  [
    'check service.register: baseUrl, username, password, and whether this machine may reach it',
    'kontrollér service.register: baseUrl, username, password, og om denne maskine må nå det',
  ],
  [
    'cvrsync reads the whole register again beside what is new, and counts anew: see what its log says',
    'cvrsync læser hele registret igen ved siden af det nye og tæller forfra: se, hvad loggen siger',
  ],
  ['the register counted {number} {part}, {stored} are stored', 'registret talte {number} {part}, {stored} er gemt'],
  [
    'the register counted {number} {part} at {time}Z, {stored} are stored',
    'registret talte {number} {part} kl. {time}Z, {stored} er gemt',
  ],
  [
    "cvrsync review accept 'lane/{queue}/{key}' lets it be told, review keep leaves what was known",
    "cvrsync review accept 'lane/{queue}/{key}' lader det blive meldt, review keep beholder det, der var kendt",
  ],
  ['facts of many companies are withheld', 'oplysninger om mange virksomheder holdes tilbage'],
  ['the {part} were never read', '{part} er aldrig læst'],
  ['the {part} were never read: {reason}', '{part} er aldrig læst: {reason}'],
  ['the {part} were last read at {time}Z', '{part} er sidst læst kl. {time}Z'],
  ['the {part} were last read at {time}Z: {reason}', '{part} er sidst læst kl. {time}Z: {reason}'],
  [
    'see that the daemon runs, and what its log says of the register',
    'sørg for, at dæmonen kører, og se, hvad dens log siger om registret',
  ],
  ['not configured: no mail is sent', 'ikke konfigureret: ingen mail bliver sendt'],
  [
    'not configured, and {count} monitors have recipients: their mail is given up',
    'ikke konfigureret, og {count} overvågninger har modtagere: deres mail opgives',
  ],
  ['set service.smtp', 'sæt service.smtp'],
  ['check service.smtp', 'kontrollér service.smtp'],
  [
    'the links that end a mail lead to an address of this machine',
    'de links, der afmelder mail, fører til en adresse på denne maskine',
  ],
  ['the mail server answers and lets us in', 'mailserveren svarer og lukker os ind'],
  ['switched off, since their webhooks failed: {names}', 'slået fra, fordi deres webhooks fejlede: {names}'],
  ['failing now: {names}', 'fejler nu: {names}'],
  ['jobs without a webhook, so that nobody is told: {names}', 'job uden webhook, så ingen får besked: {names}'],
  [
    'ask for events of beneficial owners, which are left out: {names}',
    'beder om hændelser om reelle ejere, som udelades: {names}',
  ],
  ['{names} and {count} more', '{names} og {count} mere'],
  [
    'mend the webhook, then cvrsync monitors activate ID --replay',
    'ret webhooken, og kør så cvrsync monitors activate ID --replay',
  ],
  ['see cvrsync deliveries list --monitor', 'se cvrsync deliveries list --monitor'],
  ['cvrsync monitors update --url', 'cvrsync monitors update --url'],
  [
    'say in beneficialOwners.legalBasis why you may have them, or take those events off',
    'skriv i beneficialOwners.legalBasis, hvorfor du må have dem, eller tag de hændelser af',
  ],
  [
    '{count} deliveries are held for monitors that are off or were',
    '{count} leverancer holdes tilbage for overvågninger, der er eller var slået fra',
  ],
  ['see cvrsync deliveries replay', 'se cvrsync deliveries replay'],
  ['{count} monitors and {jobs} jobs, none in trouble', '{count} overvågninger og {jobs} job, ingen med problemer'],
  [
    'every address may be posted to, those of this machine and its network too',
    'der må sendes til enhver adresse, også på denne maskine og dens netværk',
  ],
  ['name what is needed in service.webhooks.allow', 'nævn det nødvendige i service.webhooks.allow'],
  ['cvrsync operators create NAME --role admin', 'cvrsync operators create NAVN --role admin'],
  ['every operator is revoked: nobody can sign in', 'alle operatører er tilbagekaldt: ingen kan logge ind'],
  ['there is none: nobody can sign in', 'der er ingen: ingen kan logge ind'],
  [
    'open the link that serve printed, or the one of cvrsync operators login-link, or run {command}',
    'åbn det link, som serve skrev, eller det fra cvrsync operators login-link, eller kør {command}',
  ],
  [
    'none yet: serve prints a link that makes the first one',
    'endnu ingen: serve skriver et link, der opretter den første',
  ],
  ['mend the token file, or set admin.token', 'ret tokenfilen, eller sæt admin.token'],
  [
    'there is no admin token: with PostgreSQL none is made by itself',
    'der er intet admin-token: med PostgreSQL oprettes der ikke et automatisk',
  ],
  ['set admin.token, or service.secretKey', 'sæt admin.token eller service.secretKey'],
  [
    'it listens on {host}: other machines can reach the administration',
    'den lytter på {host}: andre maskiner kan nå administrationen',
  ],
  [
    'it listens on {host}: other machines can reach the administration, as admin.exposed says',
    'den lytter på {host}: andre maskiner kan nå administrationen, som admin.exposed siger',
  ],
  [
    'remove admin.host; in a container, or behind a firewall that lets only you through, set admin.exposed: true',
    'fjern admin.host; i en container, eller bag en firewall, der kun lukker dig igennem, så sæt admin.exposed: true',
  ],
  ['the running daemon accepts the admin token', 'den kørende dæmon godtager admin-tokenet'],
  ['the running daemon has another admin token', 'den kørende dæmon har et andet admin-token'],
  [
    'restart it; if it belongs to another configuration, set another admin.port',
    'genstart den; hører den til en anden konfiguration, så sæt en anden admin.port',
  ],
  [
    "the store's last time is {time}Z, {seconds} s ahead of this machine's clock; {count} lanes wait for a time before it",
    'lagerets seneste tid er {time}Z, {seconds} s foran denne maskines ur; {count} baner venter på en tid før den',
  ],
  [
    'set the clock by NTP; a restart of the daemon makes due what waits',
    'stil uret med NTP; en genstart af dæmonen gør det ventende klar',
  ],
  [
    '{name}, started {time}Z, has another configuration than this file in {parts}',
    '{name}, startet {time}Z, har en anden konfiguration end denne fil i {parts}',
  ],
  ['holds nothing of {since} to {until}: {cause}', 'har intet fra {since} til {until}: {cause}'],
  ['it was restored from a copy', 'det er gendannet fra en kopi'],
  [
    'a part of its journal was lost, or a copy was put in its place by hand',
    'en del af dets journal gik tabt, eller en kopi blev lagt i dets sted i hånden',
  ],
  [
    'run cvrsync monitoring update, which asks for the whole state of every linked company, then cvrsync reconcile',
    'kør cvrsync monitoring update, som beder om hele tilstanden for hver koblet virksomhed, og så cvrsync reconcile',
  ],
  ['not configured: no CRM is kept in step', 'ikke konfigureret: intet CRM holdes ajour'],
  ['our own service does not answer: {reason}', 'vores egen tjeneste svarer ikke: {reason}'],
  ['start it with cvrsync serve, then check again', 'start den med cvrsync serve, og kontrollér så igen'],
  ['see the setting service.secretKey', 'se indstillingen service.secretKey'],
  ['mend or restore the key file', 'ret eller gendan nøglefilen'],
  [
    '{count} companies and production units from {source}, {time}Z',
    '{count} virksomheder og produktionsenheder fra {source}, {time}Z',
  ],
  [
    '{count} companies and production units from {source}, {time}Z; partial, as it has fewer than 500,000',
    '{count} virksomheder og produktionsenheder fra {source}, {time}Z; delvist, da det har færre end 500.000',
  ],
  [
    'not finished: {count} companies and production units from {source}, {time}Z; partial, as it has fewer than 500,000',
    'ikke færdigt: {count} virksomheder og produktionsenheder fra {source}, {time}Z; delvist, da det har færre end 500.000',
  ],
  [
    'not finished: {count} companies and production units from {source}, {time}Z',
    'ikke færdigt: {count} virksomheder og produktionsenheder fra {source}, {time}Z',
  ],
  [
    'run the cvrsync match index that was stopped again: until then match finds nothing',
    'kør den afbrudte cvrsync match index igen: indtil da finder match intet',
  ],
  [
    "make it with cvrsync match index FILE from a file of companies, or with cvrsync match index --rebuild from what the service has loaded of the register. Such a file of companies is made of the file download of Datafordeler (register CVR), of an extract of the register's CVR system-to-system access, or is a list of your own; docs/match.md names the columns",
    'lav det med cvrsync match index FIL af en fil med virksomheder, eller med cvrsync match index --rebuild af det, tjenesten har læst af registret. Sådan en fil laves af Datafordelerens filudtræk (registret CVR), af et udtræk fra registrets CVR system-til-system-adgang, eller er din egen liste; docs/match.md nævner kolonnerne',
  ],
  [
    '{count} MiB are free on the disk of the store, {needed} MiB are needed',
    '{count} MiB er ledige på lagerets disk, {needed} MiB er nødvendige',
  ],
  ['register {address} there as the redirect address', 'registrér {address} dér som adresse for viderestilling'],
  ['{issuer} answers', '{issuer} svarer'],
  [
    'check admin.oidc.issuer; tokens and links still sign in',
    'kontrollér admin.oidc.issuer; tokens og links logger stadig ind',
  ],
  [
    'not configured: nobody is told when something needs a person',
    'ikke konfigureret: ingen får besked, når noget kræver en person',
  ],
  ['set alerts.webhook or alerts.mail', 'sæt alerts.webhook eller alerts.mail'],
  [
    'check alerts.webhook; where it stands in a private network, name that in alerts.allow',
    'kontrollér alerts.webhook; står den i et privat netværk, så nævn det i alerts.allow',
  ],
  [
    'check alerts.mail, or service.smtp where that has no url',
    'kontrollér alerts.mail, eller service.smtp, hvis den ingen url har',
  ],
  ['the webhook at {host} is reached (to a GET it {answer})', 'webhooken på {host} kan nås (prøvet med GET: {answer})'],
  [
    'set a secret that is hard to guess, of 16 characters or more: openssl rand -hex 32',
    'sæt en hemmelighed, der er svær at gætte, på 16 tegn eller flere: openssl rand -hex 32',
  ],
  [
    'None: whoever reaches the webhook can write into the CRMs, and this server is reached from outside',
    'None: enhver, der når webhooken, kan skrive i CRM’erne, og denne server kan nås udefra',
  ],
  [
    'the secret has fewer than {count} characters: it can be guessed',
    'hemmeligheden har færre end {count} tegn: den kan gættes',
  ],
  ['plain http: {what} travel in the clear', 'almindelig http: {what} sendes ukrypteret'],
  ['the client secret and sign-ins', 'klienthemmeligheden og logins'],
  ['the access key', 'adgangsnøglen'],
  ['user name, password and what the register answers', 'brugernavn, adgangskode og registrets svar'],
  ['use https where it is answered', 'brug https, hvor der svares på det'],
];
