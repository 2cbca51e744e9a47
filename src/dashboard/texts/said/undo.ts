/** What became of a write that was taken back, and what of a payload is written nowhere, in Danish. */
import type { Said } from './sentence.ts';

export const UNDO_SAID: readonly Said[] = [
  ['nothing was written', 'intet blev skrevet'],
  ['it holds what a person wrote: {value}', 'det har, hvad en person skrev: {value}'],
  ['the CRM does not say what it holds now', 'CRM’et siger ikke, hvad det har nu'],
  ['it holds what it held before', 'det har, hvad det havde før'],
  [
    'the record stands for {entity} now, whose register says the same',
    'posten hører nu til {entity}, og registret siger det samme om den',
  ],
  ['somebody changed it to {value} since', 'nogen har siden ændret det til {value}'],
  ['it was taken back already', 'det er allerede taget tilbage'],
  [
    'event {event} wrote {value} since: undo that first, or both together',
    'hændelse {event} har siden skrevet {value}: fortryd den først, eller begge sammen',
  ],
  [
    'a later write made it {value} since: undo that first, or both together',
    'en senere skrivning har siden gjort det til {value}: fortryd den først, eller begge sammen',
  ],
  ['the record was deleted in the CRM', 'posten er slettet i CRM’et'],
  ['the record was merged into {record} in the CRM', 'posten er lagt sammen med {record} i CRM’et'],
  ['the CRM has no property {property} any more', 'CRM’et har ikke længere feltet {property}'],
  ['the CRM holds another value: {value}', 'CRM’et har en anden værdi: {value}'],
  ['the CRM said nothing of this record', 'CRM’et sagde intet om denne post'],
  ['{property} cannot be written with these credentials', '{property} kan ikke skrives med disse adgangsoplysninger'],
  ['{property} cannot be written: {reason}', '{property} kan ikke skrives: {reason}'],
  [
    'somebody else has worked on the record for {count} s: try again',
    'en anden har arbejdet på posten i {count} s: prøv igen',
  ],
  [
    '{name} is not configured under connector.providers any more',
    '{name} er ikke længere konfigureret under connector.providers',
  ],
  [
    '{property}, which it stands together with, is not put back: {reason}',
    '{property}, som det hører sammen med, er ikke lagt tilbage: {reason}',
  ],
  [
    'nothing in it can be written: the value after the change is not there',
    'intet i den kan skrives: værdien efter ændringen mangler',
  ],
  ['nothing in it can be written: its period is not usable', 'intet i den kan skrives: dens periode kan ikke bruges'],
  ['known in part only: written nowhere', 'kun delvis kendt: skrives ingen steder'],
  [
    'known in part only: written nowhere until a full update states it',
    'kun delvis kendt: skrives ingen steder, før en fuld opdatering nævner det',
  ],
  [
    'no event of this name is known: it says nothing to a CRM',
    'ingen hændelse med det navn er kendt: den siger intet til et CRM',
  ],
  ['the body is empty', 'indholdet er tomt'],
  ['the body is not UTF-8', 'indholdet er ikke UTF-8'],
  ['the body is nested deeper than {count} levels', 'indholdet er indlejret dybere end {count} niveauer'],
];
