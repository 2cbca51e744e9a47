/** What conditions say, in Danish. `{name}` is a place for a value. */
import type { Said } from './sentence.ts';

export const CONDITIONS_SAID: readonly Said[] = [
  ['The monitoring service', 'Overvågningstjenesten'],
  ['No running daemon has the role {role}', 'Ingen kørende dæmon har rollen {role}'],
  [
    'Nobody answers webhooks: their senders try again, and give up in the end. Start a daemon with `ingest` in `roles`, or see in its log why it ended.',
    'Ingen svarer på webhooks: afsenderne prøver igen og giver op til sidst. Start en dæmon med `ingest` i `roles`, eller se i dens log, hvorfor den sluttede.',
  ],
  [
    'Webhooks are answered and wait in the store: nothing is written to a CRM. Start a daemon with `sync` in `roles`, or see in its log why it ended.',
    'Webhooks bliver besvaret og venter i lageret: intet skrives til et CRM. Start en dæmon med `sync` i `roles`, eller se i dens log, hvorfor den sluttede.',
  ],
  [
    'Nobody reads the register or notifies monitors. Start a daemon with `service` in `roles`, or see in its log why it ended.',
    'Ingen læser registret eller underretter overvågninger. Start en dæmon med `service` i `roles`, eller se i dens log, hvorfor den sluttede.',
  ],
  ['{account} does not accept the credentials', '{account} godtager ikke adgangsoplysningerne'],
  [
    'The work waits, nothing is lost. Correct the credentials in the configuration and restart cvrsync. `cvrsync check` names the cause.',
    'Arbejdet venter, intet går tabt. Ret adgangsoplysningerne i konfigurationen, og genstart cvrsync. `cvrsync check` nævner årsagen.',
  ],
  ['{account} refuses what cvrsync needs', '{account} afviser det, cvrsync har brug for'],
  [
    'The work waits, nothing is lost. `cvrsync check` names the permission or the setting to correct.',
    'Arbejdet venter, intet går tabt. `cvrsync check` nævner den rettighed eller indstilling, der skal rettes.',
  ],
  [
    '{account} takes no more calls for a while: its limit is spent',
    '{account} tager ikke imod flere kald lige nu: grænsen er brugt op',
  ],
  [
    'The work waits, and goes on by itself. Raise the limit, or find out which other software uses it.',
    'Arbejdet venter og fortsætter af sig selv. Hæv grænsen, eller find ud af, hvilket andet program der bruger den.',
  ],
  ['{account} is locked', '{account} er låst'],
  [
    'The work waits, and goes on by itself. `cvrsync review list` says until when it waits.',
    'Arbejdet venter og fortsætter af sig selv. `cvrsync review list` siger, hvor længe det venter.',
  ],
  [
    'The safety limit of the register keeps facts that many companies lost at once',
    'Registrets sikkerhedsgrænse holder på oplysninger, som mange virksomheder mistede på én gang',
  ],
  [
    'cvrsync notifies nobody of it until you decide. Run `cvrsync review list` to see what is gone, and answer with `accept` or `keep`.',
    'cvrsync underretter ingen om det, før du beslutter dig. Kør `cvrsync review list` for at se, hvad der er væk, og svar med `accept` eller `keep`.',
  ],
  [
    'The safety limit of {name} stops links from ending',
    'Sikkerhedsgrænsen for {name} forhindrer, at koblinger ophører',
  ],
  [
    'Many records lost their numbers or were deleted at once. Look at the CRM, then run `cvrsync review list` and answer with `accept` or `keep`.',
    'Mange poster mistede deres numre eller blev slettet på én gang. Se på CRM’et, kør så `cvrsync review list`, og svar med `accept` eller `keep`.',
  ],
  [
    'A changed configuration of {name} waits to be accepted, and cvrsync cannot count what it would write',
    'En ændret konfiguration af {name} venter på godkendelse, og cvrsync kan ikke tælle, hvad den ville skrive',
  ],
  [
    'A changed configuration of {name} waits to be accepted: it would replace {replaced} values, {edits} of them written by people',
    'En ændret konfiguration af {name} venter på godkendelse: den ville erstatte {replaced} værdier, {edits} af dem skrevet af personer',
  ],
  [
    'Until then the former rules decide. {show} shows what it would write, {apply} accepts it; or take the change out of the file.',
    'Indtil da gælder de hidtidige regler. {show} viser, hvad den ville skrive, {apply} godkender den; eller tag ændringen ud af filen.',
  ],
  ['cvrsync cannot make a sound backup of the store', 'cvrsync kan ikke lave en fejlfri sikkerhedskopi af lageret'],
  [
    'The copies of before stay, and cvrsync tries again every 15 minutes. The log names the cause: if a copy is damaged, the store may be, too.',
    'De tidligere kopier bliver liggende, og cvrsync prøver igen hvert 15. minut. Loggen nævner årsagen: er en kopi beskadiget, kan lageret også være det.',
  ],
  ['Work failed for good in {queue} ({count} item)', 'Arbejde mislykkedes endeligt i {queue} ({count} opgave)'],
  ['Work failed for good in {queue} ({count} items)', 'Arbejde mislykkedes endeligt i {queue} ({count} opgaver)'],
  [
    'Run `cvrsync review list`, and answer with `cvrsync review retry` or `cvrsync review drop`.',
    'Kør `cvrsync review list`, og svar med `cvrsync review retry` eller `cvrsync review drop`.',
  ],
  ['cvrsync cannot read the source {source}', 'cvrsync kan ikke læse kilden {source}'],
  ['cvrsync cannot count the documents of the register', 'cvrsync kan ikke tælle registrets dokumenter'],
  [
    'No change is lost: it goes on where it stopped. `cvrsync check` and the log name the cause.',
    'Ingen ændring går tabt: det fortsætter, hvor det slap. `cvrsync check` og loggen nævner årsagen.',
  ],
  [
    '{count} of the {all} {part} that the register counts are not stored',
    '{count} af de {all} {part}, som registret tæller, er ikke gemt',
  ],
  [
    'cvrsync reads the whole register again beside what is new, and counts anew. If this stays, `cvrsync check` and the log name the cause.',
    'cvrsync læser hele registret igen ved siden af det nye og tæller forfra. Bliver det ved, nævner `cvrsync check` og loggen årsagen.',
  ],
  [
    'The disk of the store is almost full: less than 512 MiB are free',
    'Lagerets disk er næsten fuld: mindre end 512 MiB er ledige',
  ],
  [
    'Make room. Below 256 MiB cvrsync refuses webhooks, and their sender tries again later.',
    'Skab plads. Under 256 MiB afviser cvrsync webhooks, og afsenderen prøver igen senere.',
  ],
  [
    'The webhook of the monitor {name} is switched off, since it failed',
    'Webhooken for overvågningen {name} er slået fra, fordi den fejlede',
  ],
  ['The webhook of the monitor {name} fails', 'Webhooken for overvågningen {name} fejler'],
  [
    'Mend the receiver. {list} shows its answers; then run {command}.',
    'Ret modtageren. {list} viser dens svar; kør derefter {command}.',
  ],
  [
    'The mail server refuses the sender: mail for {recipients} waits',
    'Mailserveren afviser afsenderen: mail til {recipients} venter',
  ],
  ['The mail server does not take mail for {recipients}', 'Mailserveren tager ikke imod mail til {recipients}'],
  ['{count} recipient', '{count} modtager'],
  ['{count} recipients', '{count} modtagere'],
  [
    'cvrsync tries again for 72 hours. Correct service.smtp.from, the DNS, SPF and DKIM of its domain, or have the address taken off a block list; `cvrsync review list --kind mail` shows the answer.',
    'cvrsync prøver igen i 72 timer. Ret service.smtp.from eller domænets DNS, SPF og DKIM, eller få adressen taget af en blokeringsliste; `cvrsync review list --kind mail` viser svaret.',
  ],
  [
    'cvrsync tries again for 72 hours. `cvrsync check` and `cvrsync review list --kind mail` name the cause.',
    'cvrsync prøver igen i 72 timer. `cvrsync check` og `cvrsync review list --kind mail` nævner årsagen.',
  ],
  [
    'The mail server refuses {addresses} of the monitor {name}',
    'Mailserveren afviser {addresses} for overvågningen {name}',
  ],
  ['{count} address', '{count} adresse'],
  ['{count} addresses', '{count} adresser'],
  [
    'cvrsync tries each once a day, and ends its mail after three days. {show} names them: correct the recipients, then answer with `cvrsync review retry` or `cvrsync review drop`.',
    'cvrsync prøver hver af dem én gang om dagen og stopper dens mail efter tre dage. {show} nævner dem: ret modtagerne, og svar så med `cvrsync review retry` eller `cvrsync review drop`.',
  ],
  ['More than {count} things wait in review', 'Mere end {count} ting venter i gennemsynet'],
  [
    'Run `cvrsync review list`; it says of each what to do.',
    'Kør `cvrsync review list`; den siger for hver, hvad der skal gøres.',
  ],
];
