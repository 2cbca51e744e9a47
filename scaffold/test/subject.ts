/** What the conformance suite must know about My CRM. `cvrsync provider test .` reads this file too. */
import { defineSubject } from 'cvrsync/testing';
import { myCrm } from '../src/provider.ts';
import { startFake, TOKEN } from './fake.ts';

export const subject = defineSubject({
  provider: myCrm,
  module: new URL('../src/provider.ts', import.meta.url).href,
  start: startFake,
  secrets: [TOKEN],
  // A choice, date, datetime, boolean, amount, fraction and site too, where the CRM has them: name one of each, and they are tried.
  properties: { text: 'title', long: 'about', number: 'staff' },
  refused: { property: 'email', value: 'no address' },
  // What the CRM sets by itself: no mapping may write it.
  readOnly: 'changed',
  absentId: '99999',
  // And search: 'POST /search', where the CRM has one whose index lags or whose pages end.
  calls: { read: 'POST /companies/read', update: 'POST /companies/update' },
  // What the CRM lacks is said here, so that the rules which need it are skipped: { merge: 'companies are never merged' }.
  lacks: {},
});
