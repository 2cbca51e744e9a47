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
  absentId: '99999',
  calls: { read: 'POST /companies/read', update: 'POST /companies/update' },
  // What the CRM lacks is said here, so that the rules which need it are skipped: { merge: 'companies are never merged' }.
  lacks: {},
});
