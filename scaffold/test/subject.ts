/** What the conformance suite must know about My CRM. `cvrsync provider test .` reads this file too. */
import { defineSubject } from 'cvrsync/testing';
import { myCrm } from '../src/provider.ts';
import { startFake, TOKEN } from './fake.ts';

export const subject = defineSubject({
  provider: myCrm,
  module: new URL('../src/provider.ts', import.meta.url).href,
  start: startFake,
  secrets: [TOKEN],
  // If the CRM has them, also name a choice, date, datetime, boolean, amount, fraction and site: the suite then tries
  // each.
  properties: { text: 'title', long: 'about', number: 'staff' },
  refused: { property: 'email', value: 'no address' },
  // A property that the CRM sets: no mapping may write it.
  readOnly: 'changed',
  absentId: '99999',
  // Add search: 'POST /search' if the CRM has one whose index lags or whose pages end.
  calls: { read: 'POST /companies/read', update: 'POST /companies/update' },
  // Name here what the CRM lacks, and the suite skips the rules that need it: { merge: 'companies are never merged' }.
  lacks: {},
});
