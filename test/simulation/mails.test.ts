/** The oracle of mails: what was mailed is compared with what was sent by webhook. */
import { expect, test } from 'vitest';
import { composeChanges } from '../../src/service/mail/compose.ts';
import { wrongMails } from './mails.ts';
import type { Post } from './receiver.ts';

const ENTITY = 'CVR-1-12345678';

const change = (before: string, after: string) => ({ phoneNumber: { before, after, updated: true } });

const post = (id: string, before: string, after: string): Post => {
  const updates = change(before, after);
  return { id, entity: ENTITY, timestamp: '2026-01-05T00:00:00.000Z', updates, body: JSON.stringify(updates) };
};

const letter = (id: string, ...changes: readonly (readonly [before: string, after: string])[]) => {
  const frame = { monitorName: 'Receiver', unsubscribeUrl: 'http://daemon.sim/u', baseUrl: 'http://news.sim' };
  const about = changes.map(([before, after]) => ({
    entity: ENTITY,
    name: 'Nordhavn ApS',
    updates: change(before, after),
  }));
  return { id, text: composeChanges({ ...frame, changes: about, more: 0 }).text };
};

const POSTS = [post('a', '11', '22'), post('b', '22', '33')];

test('mails that state each change once pass, also if one came twice', () => {
  const both = letter('one', ['11', '22'], ['22', '33']);
  expect(wrongMails([both, both], POSTS)).toEqual([]);
  expect(wrongMails([letter('one', ['11', '22']), letter('two', ['22', '33'])], POSTS)).toEqual([]);
});

test('a change in no mail, in two mails, or in no webhook is an error', () => {
  const [one, two] = [letter('one', ['11', '22']), letter('two', ['22', '33'])];
  const said = (here: number, there: number, line: string): string =>
    `told ${here} times by webhook and ${there} times by mail: 12345678 Telefon: ${line}`;
  expect(wrongMails([one], POSTS)).toEqual([said(1, 0, '22 → 33')]);
  expect(wrongMails([one, two, letter('three', ['22', '33'])], POSTS)).toEqual([said(1, 2, '22 → 33')]);
  expect(wrongMails([one, two], POSTS.slice(0, 1))).toEqual([said(0, 1, '22 → 33')]);
});

test('a mail that comes twice with two texts is an error', () => {
  const again = [letter('one', ['11', '22']), letter('one', ['11', '22'], ['22', '33'])];
  expect(wrongMails(again, POSTS)[0]).toBe('the mail one came with two texts');
});
