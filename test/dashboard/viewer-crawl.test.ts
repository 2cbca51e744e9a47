/** Every page and file that a viewer can reach: none holds a mail address, a c/o name or the name of a person. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { sampleAddress } from '../../src/protocol/sample/parts.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { recordAudit } from '../../src/runtime/operators/audit.ts';
import { setAside } from '../../src/store/erasure/quarantine.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { newFolder } from '../support/stores.ts';
import { COMPANY, PERSON, playStory, type Story } from './story.ts';
import type { Visitor } from './visitor.ts';

const CARE = 'Fiktivsen';
const OLD_CARE = 'Påfundsen';
/** Of mail addresses, what stands before the domain. */
const LOCALS = ['vagn.fiktivsen', 'kontor.nord', 'modtager.et', 'redigeret.af', 'uden.nummer'];
const WORDS = [CARE, OLD_CARE, ...PERSON.split(' '), ...LOCALS];

const fields = { email: 'about_us', coName: 'address2', board: 'description', purpose: false };
const connections = { hubspot: { persons: true, fields, match: { property: 'cvr_number' } } };

/** Values of persons in facts, in both CRMs, in what was decided and kept, in a plan, a match, the audit and a monitor. */
async function populated(): Promise<Story> {
  const story = await playStory({ connections, service: { register: { source: 'file', path: newFolder() } } });
  const { fixture, records } = story;
  const { store } = fixture.app;
  for (const [day, mail, care] of [
    ['03', 'kontor.nord@example.com', `Vagn ${OLD_CARE}`],
    ['04', 'vagn.fiktivsen@example.com', `Vagn ${CARE}`],
  ] as const) {
    const address = { ...sampleAddress(randomFrom(1), '2026-03-01'), coName: care };
    await fixture.post({
      entityId: COMPANY,
      timestamp: `2026-03-${day}T09:00:00.000Z`,
      updates: { email: { before: null, after: mail }, address: { before: null, after: address } },
    });
    await fixture.settled();
    fixture.hubspot.edit(records.hubspot, {
      about_us: 'redigeret.af@example.com',
      address2: `c/o Vagn ${CARE}`,
    });
  }
  await fixture.post({
    entityId: COMPANY,
    timestamp: '2026-03-05T09:00:00.000Z',
    updates: { email: { before: 'vagn.fiktivsen@example.com', after: 'kontor.nord@example.com' } },
  });
  await fixture.settled();
  await fixture.cli('monitors', 'create', 'Mail', '--all', '--email', 'modtager.et@example.com');
  await fixture.cli('hold', `hubspot:${records.hubspot}`, 'name', '--reason', 'asked by kontor.nord@example.com');
  fixture.hubspot.add({ name: 'Nordlys Møbler uden.nummer@example.com', zip: '8000', website: 'nordlys.example' });
  const companies = path.join(newFolder(), 'companies.csv');
  writeFileSync(
    companies,
    `number,name,street,postalCode,city,email\n${cvrNumber(1)},Nordlys Møbler ApS,Ringvej 1,8000,Aarhus C,uden.nummer@nordlys.example`,
  );
  await fixture.cli('match', 'index', companies);
  await fixture.cli('match', 'hubspot');
  await fixture.cli('backfill', 'hubspot', '--dry-run');
  await store.write(async (tx) => {
    const actor = { kind: 'operator', name: 'redigeret.af@example.com' } as const;
    await recordAudit(
      tx,
      { actor, via: 'page', action: 'search', subject: 'kontor.nord@example.com', result: 'done' },
      1,
    );
    const body = Buffer.from(`{"c/o":"Vagn ${CARE}"`);
    await setAside(tx, { source: 'webhook', reason: 'kontor.nord@example.com is not an entity id', body, now: 1 });
  });
  return story;
}

const linksIn = (text: string): readonly string[] =>
  [...text.matchAll(/href="([^"#]*)/gu)].map(([, link = '']) => link.replaceAll('&amp;', '&'));

/** All that links lead to from the overview on, by address. */
async function crawl(visitor: Visitor): Promise<ReadonlyMap<string, string>> {
  const read = new Map<string, string>();
  const queue = ['/'];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    if (read.has(next) || read.size >= 300) continue;
    const { text, headers, status } = await visitor.get(next);
    expect(status, next).toBeLessThan(500);
    read.set(next, text);
    const { location } = headers;
    const found = typeof location === 'string' ? [location] : linksIn(text);
    queue.push(...found.filter((link) => link.startsWith('/') && !link.startsWith('/assets')));
  }
  return read;
}

const naming = (pages: ReadonlyMap<string, string>, words: readonly string[]): readonly string[] =>
  [...pages].flatMap(([address, text]) =>
    words.filter((word) => `${address} ${text}`.includes(word)).map((word) => `${address} ${word}`),
  );

it('a viewer finds no mail address, no c/o name and no person on any page or file', async () => {
  const { signedIn } = await populated();
  const pages = await crawl(await signedIn('viewer'));
  expect(naming(pages, WORDS)).toEqual([]);
  expect(pages.size).toBeGreaterThan(40);
  // What is masked is there: an admin sees it on the same pages.
  const admin = await signedIn('admin');
  const seen = new Map<string, string>();
  for (const [address, text] of pages) if (text.includes('•••')) seen.set(address, (await admin.get(address)).text);
  expect(WORDS.filter((word) => naming(seen, [word]).length === 0)).toEqual([]);
});
