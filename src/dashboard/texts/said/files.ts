/** What is wrong with the lines of an uploaded file, and what speaks against a plan, in Danish. */
import type { Said } from './sentence.ts';

export const FILES_SAID: readonly Said[] = [
  ['the answer is {text}: write {answers}, or nothing', 'svaret er {text}: skriv {answers}, eller intet'],
  ['the id is blank: take the list from the page of review', 'id’et er tomt: hent listen på siden Gennemsyn'],
  ['{id} is no id: take the list from the page of review', '{id} er ikke et id: hent listen på siden Gennemsyn'],
  ['{id} stands in the file twice', '{id} står to gange i filen'],
  [
    'the sight of {id} is blank: it says what you saw; take the list anew',
    'kolonnen sight er tom for {id}: den siger, hvad du så; hent listen igen',
  ],
  ['the record is blank', 'posten er tom'],
  [
    'the spreadsheet rounded the record id to {text}: open the plan with that column as text',
    'regnearket har afrundet postens id til {text}: åbn planen med den kolonne som tekst',
  ],
  ['{text} can be no record: {reason}', '{text} kan ikke være en post: {reason}'],
  ['it is blank', 'den er tom'],
  [
    'it is no address of a company here: give only the id in it',
    'det er ikke adressen på en virksomhed her: skriv kun det id, der står i den',
  ],
  ['it has blanks in it', 'der er mellemrum i den'],
  ['it stands for all records', 'den står for alle poster'],
  [
    'its provider cannot read it: canonicalId returned neither an id nor a reason',
    'dens udbydermodul kan ikke læse den: canonicalId gav hverken et id eller en grund',
  ],
  ['its provider cannot read it: {reason}', 'dens udbydermodul kan ikke læse den: {reason}'],
  [
    'the action of record {record} is blank: write link, skip or reject',
    'handlingen for posten {record} er tom: skriv link, skip eller reject',
  ],
  [
    'the action of record {record} is {text}: write link, skip or reject',
    'handlingen for posten {record} er {text}: skriv link, skip eller reject',
  ],
  [
    '{count} records would get the number of another record: was a column sorted or moved without the others? If it is meant, correct the numbers in the CRM and make the plan again',
    '{count} poster ville få en anden posts nummer: er en kolonne sorteret eller flyttet uden de andre? Hvis det er meningen, så ret numrene i CRM’et, og lav planen igen',
  ],
  ['is not known', 'er ikke kendt'],
  ['record {record} stands in line {count} already', 'posten {record} står allerede i linje {count}'],
  [
    'record {record} is none of those that were scanned: is this a plan of {name}, and the newest one?',
    'posten {record} er ikke blandt de scannede: er det en plan for {name}, og er det den nyeste?',
  ],
  ['record {record} cannot be linked: it has no number', 'posten {record} kan ikke kobles: den har intet nummer'],
  [
    'record {record} cannot be linked: {text} is no CVR number',
    'posten {record} kan ikke kobles: {text} er ikke et CVR-nummer',
  ],
  [
    'record {record} cannot be linked: {entity} was erased',
    'posten {record} kan ikke kobles: {entity} er slettet på anmodning',
  ],
  [
    'record {record} holds {found}; {number} is the number of record {other}',
    'posten {record} har {found}; {number} er nummeret på posten {other}',
  ],
  ['{count} have another number than the CRM holds', '{count} har et andet nummer end CRM’et'],
  [
    "{count} have a number of yours that fails the register's check (modulus 11)",
    '{count} har et nummer fra dig, der ikke består registrets kontrol (modulus 11)',
  ],
  [
    '{count} have a number of yours that follows the one in the line before',
    '{count} har et nummer fra dig, der følger lige efter nummeret i linjen før',
  ],
  ['{count} have a number that stands in other lines too', '{count} har et nummer, der også står i andre linjer'],
  ['{count} link what the scan advised against', '{count} kobler det, scanningen frarådede'],
  ['{count} have the number of another record', '{count} har en anden posts nummer'],
  ['cannot be read as CSV: {reason}', 'kan ikke læses som CSV: {reason}'],
  ['the file is empty', 'filen er tom'],
  [
    'the first line has no column {columns}: it has {names}',
    'den første linje mangler kolonnen {columns}: den har {names}',
  ],
  ['the first line has no column {columns}: it has nothing', 'den første linje mangler kolonnen {columns}: den er tom'],
  [
    'the file is a workbook: save it as CSV (in Excel: Save As, "CSV UTF-8"), and use that',
    'filen er en projektmappe: gem den som CSV (i Excel: Gem som, “CSV UTF-8”), og brug den',
  ],
  [
    'the file is no text in UTF-8: save it as CSV (in Excel: Save As, "CSV UTF-8")',
    'filen er ikke tekst i UTF-8: gem den som CSV (i Excel: Gem som, “CSV UTF-8”)',
  ],
];
