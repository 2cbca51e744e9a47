/** The review list as a page: what the command shows, page by page, by kind. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readDifferent, readReview } from '../../src/connector/review/review-list.ts';
import { setAside } from '../../src/store/erasure/quarantine.ts';
import type { Store } from '../../src/store/store.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { startPages, type Visitor } from './visitor.ts';

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

describe.each(SUITE_ENGINES)('the review list on %s', (engine) => {
  it('shows what the command shows, each once, and differences by their kind alone', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 120);
    const wanted = (await readReview(store.db, NOW)).map(({ id }) => id);
    expect(wanted).toHaveLength(121);
    const ids = (text: readonly string[]) => text.map((each) => each.replace('<code>', ''));
    expect(ids(await allOf(await admin(), '/review', /<code>(?:link|body)\/[^<]+/g))).toEqual(wanted);
    expect(await allOf(await admin(), '/review?kind=body', /<code>[a-z]+\/[^<]+/g)).toHaveLength(1);
    const records = await allOf(await admin(), '/review?kind=difference', /<code>1\d\d\d/g);
    expect([records.length, new Set(records).size]).toEqual([120, 120]);
    expect(await allOf(await admin(), '/review?kind=difference&property=name', /<code>1\d\d\d/g)).toHaveLength(60);
    const { text } = await (await admin()).get('/review?kind=difference');
    expect(text).toContain('&lt;b>kept');
    expect(text).not.toContain('<b>');
    expect((await (await admin()).get('/review?kind=body')).text).not.toContain('<i>');
  });

  it('shows what came of a webhook or document that nobody could read, and gives it as a file, but not to viewers', async () => {
    const { signedIn, store } = await startPages({ engine, now });
    const body = '{"entityId": "CVR-1-10000001", "name": <b>Bo Birk</b>';
    await store.write(async (tx) => {
      await setAside(tx, { source: 'webhook', reason: 'not JSON', body: Buffer.from(body), now: NOW });
      await setAside(tx, { source: 'register', reason: 'no name', body: Buffer.from('{"navn":"Bo Birk"}'), now: NOW });
    });
    const ids = (await readReview(store.db, NOW)).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const [operator, viewer] = [await signedIn('operator'), await signedIn('viewer')];
    const { text: list } = await viewer.get('/review');
    for (const id of ids) {
      expect(list).toContain(`<a href="/review/copy/${id}">`);
      expect((await operator.get(`/review/copy/${id}`)).text).toContain('Bo Birk');
      for (const path of [`/review/copy/${id}`, `/review/copy/${id}/file`])
        expect((await viewer.get(path)).text).not.toContain('Bo Birk');
    }
    expect((await viewer.get(`/review/copy/${ids[0]}`)).text).toContain('It is shown to operators and admins.');
    const bodyId = ids.find((id) => id.startsWith('body/'));
    expect((await operator.get(`/review/copy/${bodyId}`)).text).toContain('&lt;b>Bo Birk');
    const file = await operator.get(`/review/copy/${bodyId}/file`);
    expect([file.text, file.headers['content-type']]).toEqual([body, 'application/octet-stream']);
    for (const path of ['body/99', 'body/1x', 'lane/1', 'document/99/file'])
      expect((await operator.get(`/review/copy/${path}`)).status).toBe(404);
  });

  it('says of a blank value that it is, and that to accept it clears the property', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    await store.write((tx) => tx.updateTable('property_state').set({ kept: '""', offered: 'null' }).execute());
    const { text } = await (await admin()).get('/review?kind=difference');
    expect(text).toMatch(/data-label="The CRM holds"><div><span class="quiet">blank<\/span>/u);
    expect(text).toMatch(
      /data-label="The register says"><div>.*blank.*“Write the register’s value” clears the property/u,
    );
    const [entry] = await readDifferent(store.db, now(), {}, 1);
    expect(entry?.reason).toContain('the CRM holds nothing, the register says nothing');
    // A run's preview shows the reason alone.
    expect(entry?.reason).toContain('to accept that clears the property');
    expect(entry?.advice).toContain('accept clears the property');
  });

  it('says who wrote the value that the CRM holds, to whoever may see persons', async () => {
    const { signedIn, store } = await startPages({ engine, now });
    await fill(store, 1);
    const kept_by = JSON.stringify({ name: 'Bo Lind', at: NOW - 86_400_000 });
    await store.write((tx) => tx.updateTable('property_state').set({ kept_by }).execute());
    const path = '/review?kind=difference';
    expect((await (await signedIn('operator')).get(path)).text).toMatch(/Bo Lind, <time datetime="2026-02-28/u);
    expect((await (await signedIn('viewer')).get(path)).text).not.toContain('Bo Lind');
    expect((await (await signedIn('viewer')).get('/review.csv?kind=difference')).text).not.toContain('Bo Lind');
  });

  it('tells of differences that wait where nothing else does, and calls its list by what it leaves out', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 2);
    const whole = (await (await admin()).get('/review')).text;
    expect(whole).toMatch(/<a href="\/review\?kind=difference">2 properties hold another value/u);
    expect(whole).not.toContain('Show all<');
    expect(whole).toContain('Show all but differences');
    await store.write(async (tx) => {
      await tx.updateTable('link').set({ state: 'active' }).execute();
      await tx.deleteFrom('quarantine').execute();
    });
    const { text } = await (await admin()).get('/review');
    expect(text).toContain('Nothing but differences needs a person');
    const overview = (await (await admin()).get('/')).text;
    expect(overview).not.toContain('Nothing needs a person');
    expect(overview).not.toContain('All is well');
    expect(overview).toContain('Nothing is wrong');
  });

  it('calls the answers as its buttons do, in both languages, and names no command', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    const reason = 'to move this link there, remove the one of 2 first with cvrsync review keep, then accept this one';
    await store.write((tx) => tx.updateTable('link').set({ reason }).where('provider', '=', 'other').execute());
    const english = (await (await admin()).get('/review?kind=link')).text;
    expect(english).toContain('“Make the link” makes the link count');
    expect(english).toContain('“Remove the link” leaves the record as it is');
    expect(english).toContain('remove the one of 2 first with “Remove the link”, then “Make the link” this one');
    expect(english).not.toMatch(/cvrsync review|value="retry-link"|value="drop-link"/u);
    const danish = (await (await admin()).get('/review?kind=link', { 'accept-language': 'da' })).text;
    expect(danish).toContain('“Lav koblingen” lader koblingen gælde');
    expect((await (await admin()).get('/review?kind=body')).text).toContain('“Delete the webhook’s copy” deletes it');
  });

  it('says before an answer that keeping a value holds the property without an end', async () => {
    const { admin, store } = await startPages({ engine, now });
    await fill(store, 1);
    const { text } = await (await admin()).get('/review?kind=difference');
    expect(text).toContain('“Keep the CRM’s value” puts the property on hold without an end');
  });

  it('says what will stand here, and that nothing is of a kind', async () => {
    const { admin } = await startPages({ engine, now });
    expect((await (await admin()).get('/review')).text).toContain('Nothing needs a person. What does will stand here');
    expect((await (await admin()).get('/review?kind=sender&from=x')).text).toContain('Nothing of this kind');
    expect((await (await admin()).get('/review?kind=difference&after=nonsense')).text).toContain(
      'Nothing of this kind',
    );
    expect((await (await admin()).get('/review?kind=nonsense')).status).toBe(200);
  });
});
