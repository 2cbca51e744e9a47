/** Companies: found by whatever a person has at hand, and each with its whole story. */
import { describe, expect, it } from 'vitest';
import { findCompanies } from '../../src/connector/explain/find-company.ts';
import { writeHistory } from '../../src/connector/history/history.ts';
import { linkRecord } from '../../src/connector/links/links.ts';
import { recordAudit } from '../../src/runtime/operators/audit.ts';
import type { Store } from '../../src/store/store.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../support/stores.ts';
import { COMPANY, PERSON, playStory } from './story.ts';

const reader = (name: string) => ({ name, provider: {}, settings: {} });
const readers = [reader('hubspot'), reader('salesforce')];

async function withNames(engine: (typeof ENGINES)[number], names: readonly string[]): Promise<Store> {
  const store = await newStore(engine);
  await store.write(async (tx) => {
    for (const [index, name] of names.entries())
      await tx
        .insertInto('fact')
        .values({
          entity: `CVR-1-1000000${index}`,
          field: 'name',
          value: JSON.stringify({ scalar: name }),
          clock: '',
          seq: index,
        })
        .execute();
    await linkRecord(tx, {
      provider: 'hubspot',
      recordId: '9007',
      entity: 'CVR-1-10000001',
      sendUpdate: false,
      now: 1,
    });
    await linkRecord(tx, {
      provider: 'salesforce',
      recordId: '001Qy01',
      entity: 'CVR-1-10000002',
      sendUpdate: false,
      now: 1,
    });
  });
  return store;
}

describe.each(SUITE_ENGINES)('a search on %s', (engine) => {
  const NAMES = ['Birk ApS', 'BIRK Byg A/S', 'Ærø "Havn" 100%_\\ I/S', 'Nordbirk P/S', 'Österbro'];
  const found = async (text: string, limit = 50): Promise<readonly string[]> =>
    (await findCompanies((await stored).db, readers, { text, limit })).companies.map(
      ({ name, entity }) => name ?? entity,
    );
  let stored: Promise<Store>;

  it.each([
    ['a CVR number', '10000000', ['Birk ApS']],
    ['a CVR number as people write it', ' DK-10 00 00 00 ', ['Birk ApS']],
    ['an entity id', 'cvr-1-10000000', ['Birk ApS']],
    ["a record's id", '9007', ['BIRK Byg A/S']],
    ["a record's id with its connection", 'salesforce:001Qy01', [NAMES[2]]],
    [
      'the address of a HubSpot record',
      'https://app.hubspot.com/contacts/42/record/0-2/9007?interaction=note',
      ['BIRK Byg A/S'],
    ],
    ['the address of a HubSpot contact', 'https://app.hubspot.com/contacts/999/record/0-1/9007', []],
    ['the older address of a HubSpot contact', 'https://app.hubspot.com/contacts/999/contact/9007/', []],
    ['the older address of a HubSpot company', 'https://app.hubspot.com/contacts/42/company/9007/', ['BIRK Byg A/S']],
    [
      'the address of a Salesforce record',
      'https://birk.lightning.force.com/lightning/r/Account/001Qy01/view',
      [NAMES[2]],
    ],
    [
      'the beginning of a name, in any case, before what holds it',
      'bIRk',
      ['Birk ApS', 'BIRK Byg A/S', 'Nordbirk P/S'],
    ],
    ['a name that begins with a Danish letter', 'ærø', [NAMES[2]]],
    ['signs that mean something to a database', '100%_\\ i', [NAMES[2]]],
    ['a quotation mark', '"havn"', [NAMES[2]]],
    ['a percent sign alone', '%', [NAMES[2]]],
    ['a number that nobody has', '99999999', []],
    ['nothing', '  ', []],
    ['a text that is in no name', 'scalar', []],
  ])('finds by %s', async (_what, text, names) => {
    stored = withNames(engine, NAMES);
    expect((await found(text)).toSorted()).toEqual([...names].toSorted());
    expect((await found(text, 1)).length).toBeLessThanOrEqual(1);
  });
});

describe("a company's page", () => {
  it('shows the register beside each CRM, the differences with reasons, links and timeline, and foreign markup as text', async () => {
    const { signedIn, records } = await playStory();
    const ida = await signedIn('operator');
    const { status, text } = await ida.get(`/companies/${COMPANY}`);
    expect(status).toBe(200);
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('<h1>Birk &lt;script>alert(1)&lt;/script> &amp; &quot;Søn&quot; ApS</h1>');
    const row = (field: string): string =>
      text.split('<tr').find((each) => each.includes(`>${field}</span></div></th>`)) ?? '';
    expect(row('Phone')).toContain('30405060');
    expect(row('Phone')).toContain('+4599999999');
    expect(row('Phone')).toContain('a person’s edit is kept');
    expect(row('Board')).toContain(PERSON);
    // What differs stands open; the rest is folded behind it.
    const [open = '', ...folded] = text.split('<details');
    expect([open.includes('title="phone"'), open.includes('title="name"')]).toEqual([true, false]);
    expect(folded[0]).toMatch(/2 values are the same.*title="name"/u);
    expect(text).toMatch(/changed (?=.*Name)(?=.*Board)(?=.*Phone)/);
    for (const [provider, record] of Object.entries(records))
      expect(text).toContain(`${provider} <code>${record}</code>`);
  });

  it('begins with its state, and links to its records and the register', async () => {
    const { fixture, records, signedIn } = await playStory();
    const { hubspot: id } = records;
    const ida = await signedIn('viewer');
    const line = async () =>
      /<main.*?<p class="actions">(.*?)<\/p>/u.exec((await ida.get(`/companies/${COMPANY}`)).text)?.[1];
    expect(await line()).toContain('1 value differs and stays');
    expect(await line()).toContain(`href="https://app.hubspot.com/contacts/24680135/record/0-2/${id}"`);
    expect(await line()).toContain('href="https://datacvr.virk.dk/enhed/virksomhed/12345674"');
    fixture.hubspot.edit(id, { phone: '+4530405060' });
    expect(await line()).toContain('All records hold the register’s values');
    const links = fixture.app.store;
    const untold = { provider: 'hubspot', recordId: fixture.hubspot.add({}), entity: 'CVR-1-10000009' };
    await links.write((tx) => linkRecord(tx, { ...untold, sendUpdate: false, now: Date.now() }));
    expect((await ida.get('/companies/CVR-1-10000009')).text).toContain('The register has sent nothing about it yet');
    await links.write((tx) => tx.updateTable('link').set({ state: 'conflict' }).where('record_id', '=', id).execute());
    expect(await line()).toContain('A link needs a person');
    await links.write((tx) => tx.updateTable('link').set({ state: 'removed' }).execute());
    expect(await line()).toContain('No record is linked');
  });

  it('has the possible actions beside each value, for people with the role', async () => {
    const { records, signedIn } = await playStory();
    const of = { provider: 'hubspot', record: records.hubspot, property: 'phone' };
    const ida = await signedIn('operator');
    const cell = (text: string): string => /<td data-label="hubspot">.*?<\/td>/u.exec(text)?.[0] ?? '';
    const page = async () => cell((await ida.get(`/companies/${COMPANY}`)).text);
    const hold = `/companies/${COMPANY}/hold?${new URLSearchParams(of)}`.replaceAll('&', '&amp;');
    const release = `/companies/${COMPANY}/release?${new URLSearchParams({ ...of, once: 'yes' })}`;
    expect(await page()).toContain(`href="${hold}" aria-label="Hold …: phone"`);
    expect(await page()).toContain(`href="${release.replaceAll('&', '&amp;')}"`);
    expect((await ida.get(release)).text).toContain('+4530405060');
    expect((await ida.get(`/companies/${COMPANY}/hold?${new URLSearchParams(of)}`)).text).toContain('class="primary"');
    const revision = /name="revision" value="([^"]+)"/u.exec((await ida.get(hold.replaceAll('&amp;', '&'))).text)?.[1];
    await ida.post(`/companies/${COMPANY}/hold`, { ...of, revision: revision ?? '' });
    expect(await page()).toContain('End the hold …');
    expect(cell((await (await signedIn('viewer')).get(`/companies/${COMPANY}`)).text)).not.toContain('/hold?');
  });

  it('shows an event with its writes in one row, and a write an hour later in its own row', async () => {
    const { fixture, records, signedIn } = await playStory();
    const { hubspot: id } = records;
    const planned = { field: 'phone', property: 'phone', action: 'write', rule: 'released', seq: 2 } as const;
    await fixture.app.store.write((tx) =>
      writeHistory(
        tx,
        [{ provider: 'hubspot', id, entity: COMPANY, planned: { ...planned, old: 'a', now: 'b' } }],
        [],
        Date.now() + 3_700_000,
      ),
    );
    const { text } = await (await signedIn('viewer')).get(`/companies/${COMPANY}`);
    const rows = (text.split('<h2>Timeline</h2>')[1] ?? '').split('<tr>').slice(2);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/hubspot.*Phone <code class="quiet">phone<\/code>: a → b.*href="#event-2"/u);
    expect(rows[1]).toMatch(
      /id="event-2".*kept<\/span>\s+Phone <code class="quiet">phone<\/code>: \+4599999999 → \+4530405060/u,
    );
    expect(rows[1]).toMatch(/salesforce <code>.*written/u);
    expect(rows[2]).toMatch(/id="event-1"/u);
  });

  it('shows a text that is composed of several fields, too', async () => {
    const { fixture, records, signedIn } = await playStory({
      connections: {
        hubspot: { fields: { composed: { property: 'description', text: '{name}, {phone}' }, purpose: false } },
      },
    });
    fixture.hubspot.edit(records.hubspot, { description: 'ours' });
    const { text } = await (await signedIn('viewer')).get(`/companies/${COMPANY}`);
    const row = text.split('<tr').find((each) => each.includes('>Composed text</span>'));
    expect(row).toMatch(/ApS, 30405060.*ours/u);
  });

  it('shows actions of people, and notes', async () => {
    const { fixture, records, signedIn } = await playStory();
    const { hubspot: record } = records;
    const { store } = fixture.app;
    const note = { provider: 'hubspot', record_id: record, marker: 'a', seq: 1, entity: COMPANY, body: '' };
    const left = { ...note, subject: `Direktør: ${PERSON} <b>`, at: 1, done_at: Date.now(), note_id: '7' };
    await store.write((tx) =>
      tx
        .insertInto('note')
        .values({ ...left, state: 'done', attempted_at: 1 })
        .execute(),
    );
    await fixture.cli('hold', `hubspot:${record}`, 'phone');
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    await ida.get('/inbox');
    const other = { actor: { kind: 'operator', name: 'Ida' }, via: 'page', result: 'done' } as const;
    for (const subject of [
      `difference/hubspot/${record}/phone`,
      `hubspot:${record}0 name`,
      `hubspot ${COMPANY} ${record}`,
    ])
      await store.write((tx) => recordAudit(tx, { ...other, action: 'told', subject }, Date.now()));
    const { text } = await ida.get(`/companies/${COMPANY}`);
    expect(text).toContain(`<code>record.hold</code> hubspot:${record} phone`);
    expect(text).toContain(`<code>told</code> difference/hubspot/${record}/phone`);
    expect(text).toContain(`<code>told</code> hubspot ${COMPANY} ${record}`);
    expect(text).not.toContain(`${record}0 name`);
    expect(text).toContain(`note left</span> <span lang="da">Direktør: ${PERSON} &lt;b>`);
    expect((await gry.get(`/companies/${COMPANY}`)).text).not.toContain(PERSON);
    const explained = (await fixture.cli('explain', COMPANY)).stdout;
    expect(explained).toMatch(/By hand\n(?:.*\n)*.*\(command\): record.hold hubspot:\d+ phone, done/u);
    expect(explained).toContain(`done: Direktør: ${PERSON}`);
  });

  it('shows a long timeline page by page, each entry once', async () => {
    const { fixture, records, signedIn } = await playStory();
    const { hubspot: record } = records;
    const moments = [...Array(70).keys()].map((at) => 1_000 + at);
    const planned = { field: 'name', action: 'write', rule: 'ours', seq: 1, old: 'a' } as const;
    for (const moment of moments)
      await fixture.app.store.write((tx) =>
        writeHistory(
          tx,
          [...Array(moment === 1_010 ? 400 : 5).keys()].map((at) => ({
            ...{ provider: 'hubspot', id: record, entity: COMPANY },
            planned: { ...planned, property: `p${at}`, now: `moment ${moment}.` },
          })),
          [],
          moment,
        ),
      );
    const ida = await signedIn('viewer');
    const seen: string[] = [];
    let pages = 0;
    for (let path: string | undefined = `/companies/${COMPANY}`; path !== undefined; pages += 1) {
      const { text } = await ida.get(path);
      expect(text.includes('Register and CRM')).toBe(pages === 0);
      seen.push(...(text.match(/moment \d+/gu) ?? []));
      path = /rel="next" href="([^"]+)"/u.exec(text)?.[1];
    }
    expect(pages).toBeGreaterThan(2);
    expect(seen).toHaveLength(69 * 5 + 400);
    expect(seen).toEqual(seen.toSorted().toReversed());
  });

  it('names no person to a viewer', async () => {
    const { fixture, records, signedIn } = await playStory({
      connections: { hubspot: { persons: true, fields: { board: 'description', purpose: false } } },
    });
    const { hubspot: id } = records;
    const value = { provider: 'hubspot', record_id: id, property: 'description' };
    await fixture.app.store.write(async (tx) => {
      const planned = { field: 'board', property: 'description', action: 'write', rule: 'ours', seq: 1 } as const;
      await writeHistory(
        tx,
        [{ provider: 'hubspot', id, entity: COMPANY, planned: { ...planned, old: null, now: PERSON } }],
        [],
        1,
      );
      const aside = {
        refused: JSON.stringify(PERSON),
        refused_reason: 'too long',
        refused_over: JSON.stringify(PERSON),
        refused_schema: 'x',
      };
      await tx
        .insertInto('property_state')
        .values({ ...value, ...aside, kept: JSON.stringify(PERSON), offered: JSON.stringify(PERSON), kept_at: 1 })
        .execute();
    });
    const [viewer, operator] = [await signedIn('viewer'), await signedIn('operator')];
    for (const path of [`/companies/${COMPANY}`, '/inbox?kind=difference', '/inbox?kind=value']) {
      expect((await operator.get(path)).text, path).toContain('Mønstergaard');
      expect((await viewer.get(path)).text, path).not.toContain('Mønstergaard');
    }
    expect((await viewer.get(`/companies/${COMPANY}`)).text).toContain('S••• M•••');
  });

  it('says within three seconds that a CRM does not answer, and shows what is known', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('viewer');
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const asked = performance.now();
    const { status, text } = await ida.get(`/companies/${COMPANY}`);
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(status).toBe(200);
    expect(text).toMatch(/hubspot \d+ could not be read just now: no answer within 2.5 s/);
    expect(text).toContain('Not all records could be read');
    const cell = (field: string): string =>
      new RegExp(`title="${field}".*?<td data-label="hubspot, as last known">(.*?)</td>`, 'u').exec(text)?.[1] ?? '';
    expect(cell('phone')).toMatch(/\+4599999999 .*a person’s edit is kept/u);
    expect(cell('name')).toContain('Birk &lt;script>alert(1)');
    expect(text).toContain('<th scope="col">salesforce</th>');
  });

  it('says that a record is gone', async () => {
    const { fixture, records, signedIn } = await playStory();
    fixture.hubspot.remove(records.hubspot);
    const { text } = await (await signedIn('viewer')).get(`/companies/${COMPANY}`);
    expect(text).toContain('The CRM has no record with this id');
  });

  it.each(['CVR-1-99999999', 'nonsense', '%00', 'CVR-1-12345674%2F..'])('does not exist for %s', async (entity) => {
    const { signedIn } = await playStory();
    const { status, text } = await (await signedIn('admin')).get(`/companies/${entity}`);
    expect([status, text.includes('There is nothing here')]).toEqual([404, true]);
  });

  it('is found by the search, which says when nothing matches', async () => {
    const { signedIn, records } = await playStory();
    const ida = await signedIn('viewer');
    expect((await ida.get('/companies?q=birk')).text).toContain(`href="/companies/${COMPANY}"`);
    for (const text of [
      records.hubspot,
      '12345674',
      `https://app.hubspot.com/contacts/42/record/0-2/${records.hubspot}`,
    ]) {
      const { status, headers } = await ida.get(`/companies?q=${encodeURIComponent(text)}`);
      expect([status, headers['location']]).toEqual([303, `/companies/${COMPANY}`]);
    }
    expect((await ida.get('/companies?q=<script>')).text).toContain('value="&lt;script>"');
    expect((await ida.get('/companies?q=nobody')).text).toContain('No company fits');
  });
});
