/** A CRM gets right values from an untidy register and untidy filings, through source, webhook and connector. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { serveRegister } from '../../src/commands/emulate/register.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { isJsonObject, type JsonObject } from '../../src/protocol/text/json.ts';
import { person, relation, role } from '../service/register/documents.ts';
import { annual, instance, plus, type Stated } from '../service/reports/instance.ts';
import { page } from '../service/reports/page.ts';
import { openRegister } from '../service/reports/register.ts';
import { type HandClock, handClock } from '../support/clock.ts';
import { startFixture } from '../support/fixture.ts';
import { company, documentAt, entity, leapUntil, type ServiceFixture, setService } from './service-fixture.ts';

const CVR = entity.slice('CVR-1-'.length);

/** The company's document, with parts of it as they are given. */
function documentWith(clock: HandClock, parts: JsonObject = {}): JsonObject {
  const document = documentAt(clock.now());
  const content = isJsonObject(document) && isJsonObject(document['Vrvirksomhed']) ? document['Vrvirksomhed'] : {};
  return { Vrvirksomhed: { ...content, ...parts } };
}

/** A linked record that holds what the register says of the company. */
async function linked(options: { readonly service?: object; readonly first?: JsonObject } = {}) {
  const clock = handClock();
  const fields = {
    altNames: { property: 'founded_year', policy: 'always' },
    board: { property: 'about_us', policy: 'always' },
  };
  const fixture = await setService({ clock, connections: { hubspot: { fields, persons: true } }, ...options });
  return { ...(await link(fixture, clock, () => fixture.tell(documentWith(clock, options.first)))), fixture };
}

async function link(fixture: ServiceFixture, clock: HandClock, first: () => Promise<void>) {
  const id = fixture.hubspot.add({});
  await first();
  const { db } = fixture.app.store;
  await leapUntil(fixture, clock, async () => (await db.selectFrom('snapshot').select('entity').execute()).length > 0);
  await fixture.app.store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId: id, entity, sendUpdate: true, now: clock.now() }),
  );
  const held = (property: string): string => String(fixture.hubspot.get(id)?.[property] ?? '');
  await leapUntil(fixture, clock, () => held('name') === company.name);
  return {
    clock,
    held,
    /** The next document; what is in it wins over the one before. */
    async tell(parts: JsonObject): Promise<void> {
      clock.forward(60_000);
      await fixture.tell(documentWith(clock, parts));
    },
    until: (property: string, value: string | RegExp) =>
      leapUntil(fixture, clock, () =>
        typeof value === 'string' ? held(property) === value : value.test(held(property)),
      ),
  };
}

const called = (navn: string): JsonObject => ({
  navne: [
    { navn, periode: { gyldigFra: '2019-03-01', gyldigTil: null }, sidstOpdateret: '2026-01-05T09:00:00.000+01:00' },
  ],
});
const months = (...figures: readonly (readonly [aar: number, maaned: number, antalAnsatte: number])[]): JsonObject => ({
  maanedsbeskaeftigelse: [],
  erstMaanedsbeskaeftigelse: figures.map(([aar, maaned, antalAnsatte], at) => ({
    ...{ aar, maaned, antalAnsatte },
    sidstOpdateret: `2026-01-0${at + 1}T09:00:00.000+01:00`,
  })),
});

test('a change in a missing shard arrives once the answers of the register are complete', async () => {
  const clock = handClock();
  const emulator = await serveRegister({ companies: 0 });
  onTestFinished(() => emulator.close());
  const register = { ...emulator.settings, pollSeconds: 1, requestsPerSecond: 20 };
  const fixture: ServiceFixture = {
    ...(await startFixture({ clock, service: { register, webhooks: { allow: ['127.0.0.1'] } } })),
    tell: async (...documents) => {
      for (const document of documents) emulator.put(document);
      await fixture.app.service?.look();
    },
  };
  const story = await link(fixture, clock, () => fixture.tell(documentWith(clock)));
  emulator.partial = 'shard';
  await story.tell(called('Ny Havblik ApS'));
  const { db } = fixture.app.store;
  const isRefused = async () =>
    (await db.selectFrom('lane').select('error').where('queue', '=', 'watch').where('error', 'is not', null).execute())
      .length > 0;
  await leapUntil(fixture, clock, isRefused);
  expect(story.held('name')).toBe(company.name);
  emulator.partial = undefined;
  await story.until('cvr_name', 'Ny Havblik ApS');
});

test('a figure of a future year is skipped, and the right one reaches the CRM', async () => {
  const { tell, until } = await linked({ first: months([2025, 4, 4]) });
  await until('numberofemployees', '4');
  await tell(months([2025, 4, 4], [2206, 5, 9]));
  await tell(months([2025, 4, 4], [2206, 5, 9], [2025, 5, 6]));
  await until('numberofemployees', '6');
});

test('a withdrawn figure is replaced in the CRM by the remaining one, until it is stated again', async () => {
  const { tell, until } = await linked({ first: months([2025, 4, 4], [2025, 5, 5]) });
  await until('numberofemployees', '5');
  await tell(months([2025, 4, 4]));
  await until('numberofemployees', '4');
  await tell(months([2025, 4, 4], [2025, 5, 6]));
  await until('numberofemployees', '6');
});

test('an unreadable part of a document leaves the CRM as it was, and the rest arrives', async () => {
  const { tell, until, held } = await linked();
  const purpose = held('description');
  expect(purpose).not.toBe('');
  const empty = { vaerdi: '', periode: { gyldigFra: '2026-01-01', gyldigTil: null } };
  await tell({ ...called('Læselig ApS'), attributter: [{ type: 'FORMÅL', sekvensnr: 0, vaerdier: [empty] }] });
  await until('cvr_name', 'Læselig ApS');
  expect(held('description')).toBe(purpose);
});

test('a deleted list becomes empty in the CRM, and a new name of a member arrives', async () => {
  const chair = (navn: string) => ({
    deltagerRelation: [relation(person(4_000_700_001, navn), role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND'))],
  });
  const alias = { binavne: [{ navn: 'Havblik Butik', periode: { gyldigFra: '2020-01-01', gyldigTil: null } }] };
  const { tell, until, held } = await linked({ first: { ...alias, ...chair('Ida Berg') } });
  await until('founded_year', /Havblik Butik/u);
  await until('about_us', /Ida Berg/u);
  await tell({ binavne: [], ...chair('Ida Holm') });
  await until('about_us', /Ida Holm/u);
  await until('founded_year', '');
  expect(held('about_us')).not.toContain('Berg');
});

/** A company whose reports come from a filing index. */
async function filing() {
  const index = await openRegister();
  const reports = {
    enabled: true,
    indexUrl: `${index.index.url}/offentliggoerelser`,
    documentHosts: ['127.0.0.1'],
    pollSeconds: 1,
  };
  const story = await linked({ service: { reports } });
  let id = 0;
  return {
    ...story,
    /** Publishes a report of the company. */
    async file(document: string, start: string, end: string): Promise<void> {
      id += 1;
      story.clock.forward(3_600_000);
      index.files.set(`${id}.xml`, document);
      index.publish({ id, cvr: Number(CVR), start, end, published: new Date(story.clock.now()).toISOString() });
      await sleep(0);
    },
  };
}

test('a short year after a full one is the new report, even if the registered year is stated first', async () => {
  const { file, until } = await filing();
  const dimension = {
    'gsd:TypeOfReportingPeriodDimension':
      'gsd:RegisteredReportingPeriodDeviatingFromReportedReportingPeriodDueArbitraryDatesMember',
  };
  const short = annual({ cvr: CVR, start: '2025-01-01', end: '2025-09-30', figures: { 'fsa:ProfitLoss': 750 } });
  const full = { id: 'full', start: '2024-01-01', end: '2024-12-31' };
  const stated: Stated = plus(
    short,
    [full, { id: 'registered', start: '2024-10-01', end: '2025-09-30', members: dimension }],
    [{ concept: 'fsa:ProfitLoss', at: 'full', value: 111, unit: 'kroner' }],
  );
  const facts = [
    { concept: 'gsd:ReportingPeriodStartDate', at: 'registered', value: '2024-10-01' },
    { concept: 'gsd:ReportingPeriodEndDate', at: 'registered', value: '2025-09-30' },
    ...stated.facts,
  ];
  await file(instance({ ...stated, facts }), '2024-10-01', '2025-09-30');
  await until('cvr_result', '750');
});

test('the figures of a report are of one entity, never of group and parent mixed', async () => {
  const { file, until, held } = await filing();
  const stated = annual({
    cvr: CVR,
    start: '2025-01-01',
    end: '2025-12-31',
    figures: { 'ifrs-full:Revenue': 99_000, 'fsa:Assets': 1_000, 'fsa:Equity': 400 },
  });
  const document = page(stated, { targetOf: (concept) => (concept.startsWith('fsa:') ? 'danish' : undefined) });
  await file(document, '2025-01-01', '2025-12-31');
  await until('cvr_equity', '400');
  expect(held('cvr_revenue')).toBe('');
});
