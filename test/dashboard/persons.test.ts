/** Names of persons on the pages: masked for viewers, unless the configuration says otherwise. */
import { expect, it } from 'vitest';
import { asStored } from '../support/history.ts';
import { COMPANY, PERSON, playStory } from './story.ts';

const PAGES = [
  '/',
  '/inbox',
  '/inbox?kind=difference',
  '/inbox.csv?kind=difference',
  '/companies',
  `/companies/${COMPANY}`,
  `/writes?entity=${COMPANY}`,
  '/writes.csv',
  '/audit',
  '/audit.csv',
];

const connections = { hubspot: { persons: true, fields: { board: 'description', purpose: false } } };

async function pagesThatName(admin: object | undefined): Promise<readonly string[]> {
  const { fixture, records, signedIn } = await playStory({
    connections,
    ...(admin !== undefined && { admin: { port: 0, ...admin } }),
  });
  const written = { seq: 1, rule: 'ours', outcome: 'written', at: Date.now() };
  const row = { ...written, provider: 'hubspot', record_id: records.hubspot, entity: COMPANY };
  await fixture.app.store.write((tx) =>
    tx
      .insertInto('history')
      .values({ ...row, lines: asStored(['description', 'board', null, PERSON, null]) })
      .execute(),
  );
  const viewer = await signedIn('viewer');
  const named: string[] = [];
  for (const page of PAGES) {
    const { status, text } = await viewer.get(page);
    if (status === 200 && text.includes(PERSON)) named.push(page);
  }
  return named;
}

it('viewers see no name of a person on any page', async () => {
  expect(await pagesThatName(undefined)).toEqual([]);
});

it('viewers see names of persons if the configuration allows it', async () => {
  expect(await pagesThatName({ viewersSeePersons: true })).toEqual(
    expect.arrayContaining([`/companies/${COMPANY}`, `/writes?entity=${COMPANY}`]),
  );
});
