/** What `check` says of a mapping and of an account's properties, in Danish. */
import type { Said } from './sentence.ts';

export const CHECK_MAPPING_SAID: readonly Said[] = [
  ['{count} of {all} mapped properties exist', '{count} af {all} tilknyttede felter findes'],
  [
    '{count} of {all} mapped properties exist; see the remarks on {names}',
    '{count} af {all} tilknyttede felter findes; se bemærkningerne til {names}',
  ],
  [
    '{count} of {all} mapped properties exist; see the remarks on {names} and {more} more',
    '{count} af {all} tilknyttede felter findes; se bemærkningerne til {names} og {more} mere',
  ],
  [
    '{fields} of companies are written, but not whether a company is protected against advertising',
    '{fields} for virksomheder bliver skrevet, men ikke om en virksomhed er reklamebeskyttet',
  ],
  ['phone and email', 'phone og email'],
  ['map advertisingProtected to a property of the CRM', 'tilknyt advertisingProtected til et felt i CRM’et'],
  [
    'map advertisingProtected to a property of the CRM, or create {property} in the CRM',
    'tilknyt advertisingProtected til et felt i CRM’et, eller opret {property} i CRM’et',
  ],
  [
    'map advertisingProtected to a property of the CRM, or create {property} with cvrsync check --create-properties',
    'tilknyt advertisingProtected til et felt i CRM’et, eller opret {property} med cvrsync check --create-properties',
  ],
  [
    'is never written: events name one member at a time, and no payload names them all',
    'skrives aldrig: hændelser nævner ét medlem ad gangen, og intet indhold nævner dem alle',
  ],
  ['set {setting} under {key}', 'sæt {setting} under {key}'],
  ['the CRM has no such property', 'CRM’et har ikke det felt'],
  ['the CRM has no such property; did you mean {near}?', 'CRM’et har ikke det felt; mente du {near}?'],
  ['the CRM has no such property: {other} is used instead', 'CRM’et har ikke det felt: {other} bruges i stedet'],
  ['create it, or set {setting} under {key}', 'opret det, eller sæt {setting} under {key}'],
  ['cannot be written with these credentials', 'kan ikke skrives med disse adgangsoplysninger'],
  [
    'give the credentials the right to edit it, or set {setting} under {key}',
    'giv adgangsoplysningerne ret til at redigere det, eller sæt {setting} under {key}',
  ],
  ['cannot be written: {reason}', 'kan ikke skrives: {reason}'],
  [
    'no amount is written: no property in the CRM says what currency it is in',
    'intet beløb skrives: intet felt i CRM’et siger, hvilken valuta det er i',
  ],
  [
    'map {field} to a property, or set currency under connector.providers.{name} where the CRM has one currency',
    'tilknyt {field} til et felt, eller sæt currency under connector.providers.{name}, hvis CRM’et har én valuta',
  ],
  [
    'create {property}, or set currency under connector.providers.{name} where the CRM has one currency',
    'opret {property}, eller sæt currency under connector.providers.{name}, hvis CRM’et har én valuta',
  ],
  [
    'takes only amounts in the currency that {property} of the record says',
    'tager kun beløb i den valuta, som postens {property} siger',
  ],
  [
    'no amount is written: nothing says what currency the CRM shows it in',
    'intet beløb skrives: intet siger, hvilken valuta CRM’et viser det i',
  ],
  ['set currency under connector.providers.{name}', 'sæt currency under connector.providers.{name}'],
  [
    'shows amounts in {currency}: amounts in another currency are set aside',
    'viser beløb i {currency}: beløb i en anden valuta lægges til side',
  ],
  [
    'correct currency under connector.providers.{name}: it says {currency}',
    'ret currency under connector.providers.{name}: der står {currency}',
  ],
  [
    'the CRM fills a blank domain by it, and may fill other blanks by the domain: pages on social networks and shared hosts are set aside',
    'CRM’et udfylder et tomt domæne efter det og kan udfylde andre tomme felter efter domænet: sider på sociale netværk og delte værter lægges til side',
  ],
  [
    'must be unique: two records of one company cannot both have it',
    'skal være entydigt: to poster for én virksomhed kan ikke begge have det',
  ],
  ['use a property without that rule', 'brug et felt uden den regel'],
  [
    'choose a property that takes a {kind}, or map the values: values: { {field}: { … } }',
    'vælg et felt, der tager typen {kind}, eller tilknyt værdierne: values: { {field}: { … } }',
  ],
  ['values that are not mapped: {reason}', 'værdier uden tilknytning: {reason}'],
  [
    'takes only its {count} options ({names}); other values are set aside',
    'tager kun sine {count} muligheder ({names}); andre værdier lægges til side',
  ],
  ["map the register's values: values: { {field}: { … } }", 'tilknyt registrets værdier: values: { {field}: { … } }'],
  ['use a text property', 'brug et tekstfelt'],
  ['is a number: leading zeros of a code are lost', 'er et tal: en kodes foranstillede nuller går tabt'],
  ['takes whole numbers: figures are rounded', 'tager hele tal: tal afrundes'],
  [
    'is made for a {type}, and may refuse or change a {kind}',
    'er lavet til typen {type} og kan afvise eller ændre typen {kind}',
  ],
  ['holds {count} characters: longer texts are cut', 'rummer {count} tegn: længere tekster afkortes'],
  ['the value map for {key} does not fit: {reason}', 'værditilknytningen for {key} passer ikke: {reason}'],
  ['correct values.{field}.{key}', 'ret values.{field}.{key}'],
  ['has a value map and goes to no property', 'har en værditilknytning og går ikke til noget felt'],
  [
    'name a property under connector.providers.{name}.fields.{field}',
    'nævn et felt under connector.providers.{name}.fields.{field}',
  ],
  [
    'correct connector.providers.{name}.match.{field}: until then records are matched without it',
    'ret connector.providers.{name}.match.{field}: indtil da matches poster uden det',
  ],
  ['the CRM has no property {property}', 'CRM’et har intet felt {property}'],
  ['the CRM has no property {property}; did you mean {near}?', 'CRM’et har intet felt {property}; mente du {near}?'],
  ['not set: companies are not found by their CVR number', 'ikke sat: virksomheder findes ikke ved deres CVR-nummer'],
  ['set match: { property: … }', 'sæt match: { property: … }'],
  ['create it, or name the one that holds the CVR number', 'opret det, eller nævn det, der har CVR-nummeret'],
  ['{property} ({type}) cannot hold a CVR number', '{property} ({type}) kan ikke rumme et CVR-nummer'],
  ['use a text property of 8 characters or more', 'brug et tekstfelt på 8 tegn eller flere'],
  [
    '{property} is a number: it loses leading zeros, and 7 digits are taken for a CVR number that lost one',
    '{property} er et tal: det mister foranstillede nuller, og 7 cifre læses som et CVR-nummer, der har mistet et',
  ],
  ['{property} holds the CVR number', '{property} har CVR-nummeret'],
  [
    '{property} cannot be read back, so no record can be held',
    '{property} kan ikke læses tilbage, så ingen post kan holdes',
  ],
  ['let records be read (readUrl), or take hold out', 'lad poster blive læst (readUrl), eller tag hold ud'],
  ['records where {property} is set are left alone', 'poster, hvor {property} er sat, lades i fred'],
  [
    'the CRM has no property {property}, so no record can be held',
    'CRM’et har intet felt {property}, så ingen post kan holdes',
  ],
  ['create it, or take hold out', 'opret det, eller tag hold ud'],
  ['{count} can be created: {names}', '{count} kan oprettes: {names}'],
  ['cvrsync check --create-properties creates them', 'cvrsync check --create-properties opretter dem'],
];
