/** Companies suggested for new records without a number: from the CRM's word to the answer of a person. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readValue } from '../../../src/store/kv.ts';
import { type HandClock, handClock } from '../../support/clock.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { type Fixture, startFixture } from '../../support/fixture.ts';
import { ENGINES, newFolder } from '../../support/stores.ts';

const A = cvrNumber(1);
const HOUR_MS = 3_600_000;
const WAITING = { timeout: 120_000, interval: 50 };
const clientSecret = 'the-secret-of-the-app';
const CASES = [
  {
    crm: 'hubspot',
    how: 'by its webhook',
    match: 'cvr_number',
    name: 'name',
    nordlys: { name: 'Nordlys Møbler', address: 'Ringvej 1', zip: '8000' },
  },
  {
    crm: 'salesforce',
    how: 'when it is asked',
    match: 'CVR_Number__c',
    name: 'Name',
    nordlys: { Name: 'Nordlys Møbler', BillingStreet: 'Ringvej 1', BillingPostalCode: '8000' },
  },
] as const;

interface Suggested {
  readonly id: string;
  readonly about: string;
  readonly reason: string;
}

interface Stage {
  readonly fixture: Fixture;
  readonly clock: HandClock;
  suggestions(): Promise<readonly Suggested[]>;
}

async function open({ crm, match }: (typeof CASES)[number], engine: (typeof ENGINES)[number]): Promise<Stage> {
  const clock = handClock();
  const fixture = await startFixture({
    engine,
    clock,
    hubspot: { now: clock.now },
    salesforce: { now: clock.now },
    connections: {
      [crm]: {
        match: { property: match },
        autoMatch: 'suggest',
        ...(crm === 'hubspot' ? { clientSecret } : { pollMinutes: 10 }),
      },
    },
  });
  const { url, store } = fixture.app;
  if (crm === 'hubspot')
    fixture.hubspot.subscribe({ url: `${url}/providers/hubspot/webhook`, clientSecret, shape: 'object' });
  else await expect.poll(() => readValue(store.db, `changes:${crm}`), WAITING).toBeDefined();
  const companies = path.join(newFolder(), 'companies.csv');
  writeFileSync(companies, `number,name,street,postalCode\n${A},Nordlys Møbler ApS,Ringvej 1,8000\n`);
  expect((await fixture.cli('match', 'index', companies)).code).toBe(0);
  return {
    fixture,
    clock,
    suggestions: async () => {
      const { stdout } = await fixture.cli('review', 'list', '--kind', 'match', '--json');
      return JSON.parse(stdout);
    },
  };
}

describe.each(CASES.map((one, at) => ({ ...one, engine: ENGINES[at] ?? 'sqlite' })))(
  'a record without a number that $crm tells of $how ($engine)',
  (one) => {
    const { crm, match, name, nordlys, engine } = one;

    test('gets a suggestion, and an accepted one is linked and numbered', async () => {
      const { fixture, clock, suggestions } = await open(one, engine);
      const emulator = fixture[crm];
      const unknown = emulator.add({ [name]: 'Fremmed Firma' });
      const numbered = emulator.add({ ...nordlys, [match]: cvrNumber(2) });
      const id = emulator.add(nordlys);
      clock.forward(HOUR_MS);
      const waiting = () => fixture.app.store.db.selectFrom('match_result').select('record_id').execute();
      await expect.poll(waiting, WAITING).toEqual([{ record_id: id }]);
      await fixture.settled();
      expect(await suggestions()).toMatchObject([
        {
          id: `match/${crm}/${id}`,
          about: `${crm}:${id} Nordlys Møbler`,
          reason: expect.stringMatching(`is certainly Nordlys Møbler ApS, ${A}: name equal but for the form`),
          verbs: ['accept', 'keep'],
        },
      ]);
      expect(emulator.get(id)?.[match] ?? null).toBe(null);

      const accepted = await fixture.cli('review', 'accept', `match/${crm}/${id}`);
      expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringContaining(`linked to CVR-1-${A}`)]);
      await fixture.settled();
      expect(emulator.get(id)?.[match]).toBe(A);
      expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toMatchObject([
        { record: id, entity: `CVR-1-${A}` },
      ]);
      expect(await suggestions()).toEqual([]);
      expect([emulator.get(unknown)?.[match] ?? null, emulator.get(numbered)?.[match]]).toEqual([null, cvrNumber(2)]);

      const second = emulator.add(nordlys);
      clock.forward(HOUR_MS);
      await expect.poll(async () => (await suggestions()).length, WAITING).toBe(1);
      const refused = await fixture.cli('review', 'accept', `match/${crm}/${second}`);
      expect(refused.code).not.toBe(0);
      expect(refused.stdout + refused.stderr).toContain(`CVR-1-${A} is linked to ${id} already`);
    });

    test('with a number that fails the check and belongs to no company keeps it beside the accepted company', async () => {
      const { fixture, clock, suggestions } = await open(one, engine);
      const emulator = fixture[crm];
      const id = emulator.add({ ...nordlys, [match]: '12345678' });
      clock.forward(HOUR_MS);
      await expect.poll(async () => (await suggestions()).length, WAITING).toBe(1);
      expect((await fixture.cli('review', 'accept', `match/${crm}/${id}`)).code).toBe(0);
      emulator.edit(id, { [name]: 'Nordlys' });
      clock.forward(HOUR_MS);
      await fixture.settled();
      const links = await fixture.app.store.db.selectFrom('link').select(['entity', 'state', 'mismatch']).execute();
      expect(links).toEqual([{ entity: `CVR-1-${A}`, state: 'active', mismatch: 'CVR-1-12345678' }]);
      expect(emulator.get(id)?.[match]).toBe('12345678');
    });

    test('loses the suggestion when it gets a number, and does not get a rejected one again', async () => {
      const { fixture, clock, suggestions } = await open(one, engine);
      const emulator = fixture[crm];
      const [rejected, numbered] = [emulator.add(nordlys), emulator.add(nordlys)];
      clock.forward(HOUR_MS);
      await expect.poll(async () => (await suggestions()).length, WAITING).toBe(2);
      const kept = await fixture.cli('review', 'keep', `match/${crm}/${rejected}`);
      expect([kept.code, kept.stdout]).toEqual([0, expect.stringContaining('not suggested for it again')]);
      const id = `match/${crm}/${rejected}`;
      expect((await fixture.cli('review', 'answered')).stdout).toContain(id);
      const back = await fixture.cli('review', 'take-back', id);
      expect([back.code, back.stdout]).toEqual([0, `${id}: the record waits for an answer again\n`]);
      expect(await suggestions()).toHaveLength(2);
      expect((await fixture.cli('review', 'take-back', id)).code).toBe(1);
      await fixture.cli('review', 'keep', id);
      emulator.edit(numbered, { [match]: cvrNumber(2) });
      emulator.edit(rejected, { [name]: 'Nordlys Moebler' });
      clock.forward(HOUR_MS);
      await expect.poll(async () => (await suggestions()).length, WAITING).toBe(0);
      await fixture.settled();
      expect(await suggestions()).toEqual([]);
      expect((await fixture.cli('review', 'accept', `match/${crm}/${rejected}`)).code).not.toBe(0);
      expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toEqual([]);
    });
  },
);
