/** What `check` says of the connector: the monitoring service, the accounts, the webhook, what waits; in Danish. */
import type { Said } from './sentence.ts';

export const CHECK_CONNECTOR_SAID: readonly Said[] = [
  ['did not answer in time', 'svarede ikke i tide'],
  [
    'not configured: links are kept here, nobody is asked to monitor them',
    'ikke konfigureret: koblinger gemmes her, men ingen bliver bedt om at overvåge dem',
  ],
  ['set connector.upstream', 'sæt connector.upstream'],
  ['{address} accepts the key; {jobs}', '{address} godtager nøglen; {jobs}'],
  ['1 job', '1 job'],
  ['{count} jobs', '{count} job'],
  ['check connector.upstream.accessKey', 'kontrollér connector.upstream.accessKey'],
  ['check connector.upstream.baseUrl', 'kontrollér connector.upstream.baseUrl'],
  [
    'cvrsync config apply {name} accepts it; until then the daemon decides by the former rules',
    'cvrsync config apply {name} godkender den; indtil da bruger dæmonen de hidtidige regler',
  ],
  [
    'it changes {settings}, and that is not accepted yet: {totals}',
    'den ændrer {settings}, og det er endnu ikke godkendt: {totals}',
  ],
  [
    'it changes {settings}, and that is not accepted yet; what it would write: {reason}',
    'den ændrer {settings}, og det er endnu ikke godkendt; hvad den ville skrive: {reason}',
  ],
  [
    'it would write {writes} values, replace {replaced}, {edits} of them written by people ({read})',
    'den ville skrive {writes} værdier, erstatte {replaced}, {edits} af dem skrevet af personer ({read})',
  ],
  [
    'it would write {writes} values, replace {replaced}, {edits} of them written by people; the next changes would overwrite {later} more ({read})',
    'den ville skrive {writes} værdier, erstatte {replaced}, {edits} af dem skrevet af personer; de næste ændringer ville overskrive {later} mere ({read})',
  ],
  ['about {count}', 'omkring {count}'],
  ['a sample of {count} of {all} linked records was read', 'en stikprøve på {count} af {all} koblede poster blev læst'],
  ['{count} of {all} linked records were read', '{count} af {all} koblede poster blev læst'],
  ['{read}; the CRM did not answer for {count}', '{read}; CRM’et svarede ikke for {count}'],
  ['{example} (a person wrote it)', '{example} (skrevet af en person)'],
  ['see the setting `store`', 'se indstillingen `store`'],
  ['look at connector.providers.{name}', 'se på connector.providers.{name}'],
  ['paused until {time}: {reason}', 'på pause til {time}: {reason}'],
  [
    'paused until {time}: {reason}; {name} ({id}) accepts the credentials now',
    'på pause til {time}: {reason}; {name} ({id}) godtager nu adgangsoplysningerne',
  ],
  ['paused until {time}: {reason}; tried now: {now}', 'på pause til {time}: {reason}; prøvet nu: {now}'],
  [
    'cvrsync review retry account/{name} calls it at once; restart the daemon where you changed its configuration',
    'cvrsync review retry account/{name} kalder den straks; genstart dæmonen, hvis du ændrede dens konfiguration',
  ],
  ['correct the cause first', 'ret først årsagen'],
  [
    'renew the credentials in the configuration, and see that they have the rights to read and edit companies',
    'forny adgangsoplysningerne i konfigurationen, og sørg for, at de har ret til at læse og redigere virksomheder',
  ],
  [
    'see that the credentials have the rights to read and edit companies',
    'sørg for, at adgangsoplysningerne har ret til at læse og redigere virksomheder',
  ],
  [
    'try again later, or lower `rate` where other software shares the account',
    'prøv igen senere, eller sænk `rate`, hvis andre programmer deler kontoen',
  ],
  ['try again later', 'prøv igen senere'],
  [
    'check the address, and whether this machine may reach it (HTTPS_PROXY is honoured)',
    'kontrollér adressen, og om denne maskine må nå den (HTTPS_PROXY følges)',
  ],
  [
    'no setting mends this: report it to the author of the provider',
    'ingen indstilling løser det: meld det til udbydermodulets forfatter',
  ],
  ['take {key} out of connector.providers.{name}', 'tag {key} ud af connector.providers.{name}'],
  ['this provider leaves no notes', 'dette udbydermodul skriver ingen noter'],
  ['this provider knows no parents', 'dette udbydermodul kender ikke moderselskaber'],
  ['nothing tells of new records here', 'intet fortæller om nye poster her'],
  ['{rule} (must be filled in): {about}', '{rule} (skal udfyldes): {about}'],
  ['{rule} (a validation rule): {about}', '{rule} (en valideringsregel): {about}'],
  ['{rule} (a duplicate rule): {about}', '{rule} (en dubletregel): {about}'],
  ['and {count} more', 'og {count} mere'],
  ['anybody who reaches it is believed (method None)', 'enhver, der når den, bliver troet (metoden None)'],
  [
    'set connector.webhook.auth to Header, BasicAuth or Signature',
    'sæt connector.webhook.auth til Header, BasicAuth eller Signature',
  ],
  ['reachability not tried', 'det er ikke prøvet, om den kan nås'],
  [
    'set server.publicUrl to how the world reaches this server',
    'sæt server.publicUrl til den adresse, hvor verden når denne server',
  ],
  ['{address} is not encrypted', '{address} er ikke krypteret'],
  ['put a proxy with TLS in front, and use https', 'sæt en proxy med TLS foran, og brug https'],
  [
    'is the daemon running, and does the proxy lead to it? Then check again',
    'kører dæmonen, og fører proxyen til den? Kontrollér så igen',
  ],
  ['{address}/live answers {status}', '{address}/live svarer {status}'],
  [
    '{address}/live answers; the monitoring service posts to {target}',
    '{address}/live svarer; overvågningstjenesten sender til {target}',
  ],
  ['nothing needs a person', 'intet kræver en person'],
  ['1 thing needs a person', '1 ting kræver en person'],
  ['{number} things need a person', '{number} ting kræver en person'],
  ['see cvrsync review', 'se cvrsync review'],
  ['these credentials may not read companies', 'disse adgangsoplysninger må ikke læse virksomheder'],
  [
    'these credentials may not write companies: nothing would be updated',
    'disse adgangsoplysninger må ikke skrive virksomheder: intet ville blive opdateret',
  ],
  [
    'these credentials may not leave and find notes, which `notes` asks for',
    'disse adgangsoplysninger må ikke skrive og finde noter, som `notes` kræver',
  ],
  [
    'these credentials may not set the parent of a company, which `parent` asks for',
    'disse adgangsoplysninger må ikke angive en virksomheds moderselskab, som `parent` kræver',
  ],
  [
    'these credentials may not create companies: `transfer` would be refused',
    'disse adgangsoplysninger må ikke oprette virksomheder: `transfer` ville blive afvist',
  ],
  [
    'these credentials may not make properties: `check --create-properties` would be refused',
    'disse adgangsoplysninger må ikke oprette felter: `check --create-properties` ville blive afvist',
  ],
  [
    'grant it to these credentials, or take it out of the configuration; it is tried again by itself',
    'giv adgangsoplysningerne retten, eller tag det ud af konfigurationen; det prøves selv igen',
  ],
  ['our own service makes its job with the first link', 'vores egen tjeneste opretter sit job med den første kobling'],
  [
    'the monitoring service lists no job named {name} for the key (it has none): it would refuse every link',
    'overvågningstjenesten har intet job med navnet {name} for nøglen (den har ingen): den ville afvise hver kobling',
  ],
  [
    'the monitoring service lists no job named {name} for the key (it has {names}): it would refuse every link',
    'overvågningstjenesten har intet job med navnet {name} for nøglen (den har {names}): den ville afvise hver kobling',
  ],
  [
    "name the connection as the service's job is named: its name below connector.providers, in place of {name}",
    'giv forbindelsen samme navn som tjenestens job: dens navn under connector.providers i stedet for {name}',
  ],
  [
    "unless a job named otherwise is for {other}, name the connection as the service's job is named: its name below connector.providers, in place of {name}",
    'medmindre et job med et andet navn er for {other}, så giv forbindelsen samme navn som tjenestens job: dens navn under connector.providers i stedet for {name}',
  ],
  [
    '{provider} is not configured, and has {count} links: their companies are still monitored, and no record follows',
    '{provider} er ikke konfigureret og har {count} koblinger: virksomhederne overvåges stadig, men ingen post følger med',
  ],
  [
    'was it renamed? Give it back the name {name} under connector.providers',
    'er den omdøbt? Giv den navnet {name} tilbage under connector.providers',
  ],
  [
    'links were made by {before}, and do not follow {match}',
    'koblinger blev lavet efter {before} og følger ikke {match}',
  ],
  [
    'put {before} back, or run cvrsync backfill {name} (--dry-run first): links follow {match} from then on',
    'sæt {before} tilbage, eller kør cvrsync backfill {name} (først med --dry-run): derefter følger koblinger {match}',
  ],
];
