/** The review list as a page: what the command shows, page by page, by kind. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readDifferent, readReview } from '../../src/connector/review/review-list.ts';
import { setAside } from '../../src/store/erasure/quarantine.ts';
import type { Store } from '../../src/store/store.ts';
import { crmOf } from '../support/crm.ts';
import { newStore, SUITE_ENGINES } from '../support/stores.ts';
import { startPages, type Visitor } from './visitor.ts';

/** A connection that maps the two properties. */
const crm = (store: Store, name: string) => ({
  ...crmOf({ store, connection: {} as never, mapping: MAPPING, properties: [], now }),
  name,
});
const MAPPING = (['name', 'phone'] as const).map((field) => ({ field, property: field, policy: 'tracked' as const }));

const NOW = Date.parse('2026-03-01T12:00:00Z');
const now = () => NOW;

/** Conflicts, differences and bodies that nobody could read. */
async function fill(store: Store, count: number): Promise<void> {
  await store.write(async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const recordId = String(1000 + index);
      await linkRecord(tx, { provider: 'crm', recordId, entity: 'CVR-1-10000001', sendUpdate: false, now: NOW });
      const state = { provider: 'crm', record_id: recordId, property: index % 2 ? 'name' : 'phone' };
      const none = { refused: null, refused_reason: null, refused_schema: null };
      await tx
        .insertInto('property_state')
        .values({ ...state, ...none, kept: '"<b>kept</b>"', offered: '"told"', kept_at: NOW })
        .execute();
    }
    for (let index = 0; index < count; index += 1)
      await linkRecord(tx, {
        provider: 'other',
        recordId: String(index),
        entity: 'CVR-1-10000002',
        sendUpdate: false,
        now: NOW,
      });
    await tx
      .updateTable('link')
      .set({ state: 'conflict', reason: 'two companies' })
      .where('provider', '=', 'other')
      .execute();
    await setAside(tx, { source: 'webhook', reason: '<i>no id</i>', body: Buffer.from('{}'), now: NOW });
  });
}

async function allOf(visitor: Visitor, first: string, pattern: RegExp): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let path: string | undefined = first; path !== undefined; ) {
    const { text }: { text: string } = await visitor.get(path);
    seen.push(...(text.match(pattern) ?? []));
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return seen;
}

const CHOICE = /(?<=aria-label=")choose [^"]+/gu;

describe.each(SUITE_ENGINES)('the inbox on %s', (engine) => {
  it('shows the entries of the command, each once, and differences only by their kind', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 120);
    const differences = (await readDifferent(store.db, NOW, {}, 200)).map(({ id }) => id);
    const wanted = [...(await readReview(store.db, NOW)).map(({ id }) => id), ...differences];
    expect(wanted).toHaveLength(241);
    expect(await allOf(await admin(), '/inbox', CHOICE)).toEqual(wanted.map((id) => `choose ${id}`));
    expect(await allOf(await admin(), '/inbox?kind=body', CHOICE)).toHaveLength(1);
    const records = await allOf(await admin(), '/inbox?kind=difference', CHOICE);
    expect([records.length, new Set(records).size]).toEqual([120, 120]);
    expect(await allOf(await admin(), '/inbox?kind=difference&property=name', CHOICE)).toHaveLength(60);
    expect(await allOf(await admin(), '/inbox?kind=link&provider=other', CHOICE)).toHaveLength(120);
    expect(await allOf(await admin(), '/inbox?kind=link&provider=crm', CHOICE)).toEqual([]);
    const { text } = await (await admin()).get('/inbox?kind=difference');
    expect(text).toContain('&lt;b>kept');
    expect(text).not.toContain('<b>');
    expect((await (await admin()).get('/inbox?kind=body')).text).not.toContain('<i>');
  });

  it('shows an unreadable webhook or document, and exports it as a file, but not to viewers', async () => {
    const { signedIn, store } = await startPages({ engine, now });
    const body = '{"entityId": "CVR-1-10000001", "name": <b>Bo Birk</b>';
    await store.write(async (tx) => {
      await setAside(tx, { source: 'webhook', reason: 'not JSON', body: Buffer.from(body), now: NOW });
      await setAside(tx, { source: 'register', reason: 'no name', body: Buffer.from('{"navn":"Bo Birk"}'), now: NOW });
    });
    const ids = (await readReview(store.db, NOW)).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const [operator, viewer] = [await signedIn('operator'), await signedIn('viewer')];
    const { text: list } = await viewer.get('/inbox');
    for (const id of ids) {
      expect(list).toContain(`href="/inbox?at=${encodeURIComponent(id)}"`);
      expect((await viewer.get(`/inbox?at=${id}`)).text).toContain(`<a href="/inbox/copy/${id}">`);
      expect((await operator.get(`/inbox/copy/${id}`)).text).toContain('Bo Birk');
      for (const path of [`/inbox/copy/${id}`, `/inbox/copy/${id}/file`])
        expect((await viewer.get(path)).text).not.toContain('Bo Birk');
    }
    expect((await viewer.get(`/inbox/copy/${ids[0]}`)).text).toContain('It is shown to operators and admins.');
    const bodyId = ids.find((id) => id.startsWith('body/'));
    expect((await operator.get(`/inbox/copy/${bodyId}`)).text).toContain('&lt;b>Bo Birk');
    const file = await operator.get(`/inbox/copy/${bodyId}/file`);
    expect([file.text, file.headers['content-type']]).toEqual([body, 'application/octet-stream']);
    for (const path of ['body/99', 'body/1x', 'lane/1', 'document/99/file'])
      expect((await operator.get(`/inbox/copy/${path}`)).status).toBe(404);
  });

  it('says that a value is blank, and that accepting it clears the property', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    await store.write((tx) => tx.updateTable('property_state').set({ kept: '""', offered: 'null' }).execute());
    const { text } = await (await admin()).get('/inbox?kind=difference');
    expect(text).toMatch(/The CRM holds<\/dt><dd class="value side"><span class="quiet">blank<\/span>/u);
    expect(text).toMatch(/The register says<\/dt><dd .*blank.*“Write the register’s value” clears the property/u);
    const [entry] = await readDifferent(store.db, now(), {}, 1);
    expect(entry?.reason).toContain('the CRM holds nothing, the register says nothing');
    // A run's preview shows the reason alone.
    expect(entry?.reason).toContain('to accept that clears the property');
    expect(entry?.advice).toContain('accept clears the property');
  });

  it("names the author of the CRM's value to people who may see persons", async () => {
    const { signedIn, store } = await startPages({ engine, now });
    await fill(store, 1);
    const kept_by = JSON.stringify({ name: 'Bo Lind', at: NOW - 86_400_000 });
    await store.write((tx) => tx.updateTable('property_state').set({ kept_by }).execute());
    const path = '/inbox?kind=difference';
    expect((await (await signedIn('operator')).get(path)).text).toMatch(/Bo Lind, <time datetime="2026-02-28/u);
    expect((await (await signedIn('viewer')).get(path)).text).not.toContain('Bo Lind');
    expect((await (await signedIn('viewer')).get('/inbox.csv?kind=difference')).text).not.toContain('Bo Lind');
  });

  it('counts entries by kind, connection and property, and links to each', async () => {
    const store = await newStore(engine);
    const { admin } = await startPages({ engine, now, store, crms: [crm(store, 'crm'), crm(store, 'other')] });
    await fill(store, 4);
    const ida = await admin();
    const whole = (await ida.get('/inbox')).text;
    const counts = (text: string) =>
      Object.fromEntries(
        [...text.matchAll(/class="facet" href="([^"]*)"[^>]*>[^<]* <span class="count">([^<]*)</gu)].map(
          ([, href = '', count]) => [href.replaceAll('&amp;', '&'), count],
        ),
      );
    expect(counts(whole)).toEqual({
      '/inbox': '9',
      '/inbox?kind=link': '4',
      '/inbox?kind=body': '1',
      '/inbox?kind=difference': '4',
      '/inbox?provider=crm': '4',
      '/inbox?provider=other': '4',
    });
    const some = (await ida.get('/inbox?kind=difference&provider=crm')).text;
    expect(counts(some)).toMatchObject({
      '/inbox?kind=difference&provider=crm': '4',
      '/inbox?kind=difference&provider=crm&property=name': '2',
      '/inbox?kind=difference&provider=crm&property=phone': '2',
    });
  });

  it('names the answers like its buttons, in both languages, and mentions no command', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    const reason = 'to move this link there, remove the one of 2 first with cvrsync review keep, then accept this one';
    await store.write((tx) => tx.updateTable('link').set({ reason }).where('provider', '=', 'other').execute());
    const english = (await (await admin()).get('/inbox?kind=link')).text;
    expect(english).toContain('“Make the link” confirms the link');
    expect(english).toContain('“Remove the link” leaves the record as it is');
    expect(english).toContain('remove the one of 2 first with “Remove the link”, then “Make the link” this one');
    expect(english).not.toMatch(/cvrsync review|value="retry-link"|value="drop-link"/u);
    const danish = (await (await admin()).get('/inbox?kind=link', { 'accept-language': 'da' })).text;
    expect(danish).toContain('“Lav koblingen” lader koblingen gælde');
    expect((await (await admin()).get('/inbox?kind=body')).text).toContain('“Delete the webhook’s copy” deletes it');
  });

  it('says before an answer that keeping a value holds the property, for a time or without an end', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    const { text } = await (await admin()).get('/inbox?kind=difference');
    const words = (name: string) =>
      new RegExp(`value="${name}".*?</button>\\s*<span class="quiet">([^<]*)`, 'u').exec(text)?.[1];
    expect(words('keep90-difference')).toContain('cvrsync writes nothing there until then');
    expect(words('keep-difference')).toContain('until somebody ends the hold');
  });

  it('explains itself while it is empty, and says that a kind has no entries', async () => {
    const { admin } = await startPages({ engine, now });
    expect((await (await admin()).get('/inbox')).text).toContain(
      'Nothing needs a person. Entries that do will appear here',
    );
    expect((await (await admin()).get('/inbox?kind=sender&from=x')).text).toContain('Nothing of this kind');
    expect((await (await admin()).get('/inbox?kind=difference&after=nonsense')).text).toContain('Nothing of this kind');
    expect((await (await admin()).get('/inbox?kind=nonsense')).status).toBe(200);
  });
});
