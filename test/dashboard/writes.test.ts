/** What was written, and taking it back, through pages: with what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { readSelection, selectionTexts, textsOf } from '../../src/dashboard/addresses/writes.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { asStored } from '../support/history.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { COMPANY, HOSTILE, PERSON, playStory } from './story.ts';
import { startPages, type Visitor } from './visitor.ts';

/** The page of an undo once it is at this point. */
async function reached(visitor: Visitor, path: string, words: string): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      ({ text } = await visitor.get(path));
      return text;
    })
    .toContain(words);
  return text;
}

const located = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): string =>
  String(headers['location'] ?? 'nowhere');

describe.each(SUITE_ENGINES)('writes on %s', (engine) => {
  it('are listed, previewed and taken back; the CRM holds what it held, but for what a person edited', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const list = await ida.get('/writes?provider=hubspot&since=2020-01-01T00:00');
    expect(list.text).toContain('&lt;script>alert(1)');
    expect(list.text).not.toContain('<script>alert');
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: HOSTILE });

    expect(list.text).toContain('<option value="90d">');
    const asked = await ida.post('/runs/undo', { provider: 'hubspot', since: '2020-01-01T00:00', hold: '90d' });
    const path = located(asked);
    const preview = await reached(ida, path, 'Ready: nothing was written yet');
    expect(preview).toContain('held for 90 days');
    expect(preview).toContain('would be restored');
    expect(preview).toContain('edited by a person since');
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: HOSTILE });

    const twice = [await ida.post(`${path}/confirm`, {}), await ida.post(`${path}/confirm`, {})];
    expect(twice.map(located)).toEqual([path, path]);
    await reached(ida, path, 'Done');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: 'Birk ApS', phone: '+4599999999' });
    expect(fixture.salesforce.get(records.salesforce)).toMatchObject({ Name: HOSTILE });
    const audit = await readAudit(fixture.app.store.db, { action: 'undo.run' }, 10);
    const { until } = await fixture.app.store.db
      .selectFrom('override')
      .select('until')
      .where('property', '=', 'name')
      .executeTakeFirstOrThrow();
    expect((until ?? 0) - Date.now()).toBeGreaterThan(89 * 86_400_000);
    expect(audit.map(({ actor, via }) => `${actor.name} ${via}`)).toEqual(['the operator page', 'the operator page']);
    expect((await ida.get('/writes')).text).toContain(`href="${path}"`);
    expect((await ida.post(`${path}/cancel`, {})).status).toBe(303);
    expect((await ida.get(path)).text).toContain('Done');
  });

  it('leave holds that a filter finds, and that end together once their count was confirmed', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    await fixture.cli('undo', '--yes', '--since', '2020-01-01', '--provider', 'hubspot', '--property', 'name');
    await fixture.cli('hold', `hubspot:${records.hubspot}`, 'phone', '--until', '2d', '--reason', 'asked by sales');
    const held = async (): Promise<readonly string[]> =>
      (await fixture.app.store.db.selectFrom('override').select('property').orderBy('property').execute()).map(
        ({ property }) => property,
      );
    expect(await held()).toEqual(['name', 'phone']);
    const { text } = await ida.get('/holds?origin=undo');
    expect(text).toContain(`hubspot <code>${records.hubspot}</code>`);
    expect(text).toContain('an undo');
    expect(text).not.toContain('asked by sales');
    expect((await ida.get('/holds?ends=soon')).text).toContain('asked by sales');
    expect((await ida.get('/holds?ends=soon&origin=undo')).text).toContain('No hold matches');
    const asked = await ida.post('/holds/end', { origin: 'undo', what: 'all' });
    expect(asked.text).toContain('1 hold ends.');
    // What differs there is shown before it is written.
    expect(asked.text).toMatch(/Birk ApS → .*differs, will be written/u);
    expect(await held()).toEqual(['name', 'phone']);
    const sure = { origin: 'undo', what: 'all', confirmed: 'yes' };
    expect(located(await ida.post('/holds/end', sure))).toBe('/holds?origin=undo');
    expect(await held()).toEqual(['phone']);
    expect((await (await signedIn('viewer')).get('/holds')).text).not.toContain('/holds/end');

    expect((await ida.post('/holds/end', { what: 'chosen' })).status).toBe(422);
    const [choice = ''] = [...(await ida.get('/holds')).text.matchAll(/name="hold" value="([^"]*)"/gu)].map(
      ([, value = '']) => value.replaceAll('&quot;', '"'),
    );
    const chosen = { what: 'chosen', hold: choice };
    expect((await ida.post('/holds/end', chosen)).text).toContain('1 hold ends.');
    expect(located(await ida.post('/holds/end', { ...chosen, confirmed: 'yes' }))).toBe('/holds');
    expect(await held()).toEqual([]);
    const [entry] = await readAudit(fixture.app.store.db, { action: 'record.endHolds' }, 1);
    expect(entry?.detail).toMatchObject({ holds: [`hubspot:${records.hubspot} phone`] });
  });

  it('are found by a record alone, whatever connection it is of', async () => {
    const { records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const { text } = await ida.get(`/writes?record=${records.salesforce}`);
    expect(text).toContain(`salesforce <code>${records.salesforce}</code>`);
    expect(text).not.toContain(`hubspot <code>`);
    expect((await ida.get('/writes?record=none')).text).toContain('No write fits this filter');
  });

  it('and differences name their company', async () => {
    const { signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const named = `<a href="/companies/${COMPANY}">${HOSTILE.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')}</a>`;
    for (const path of ['/writes', '/inbox?kind=difference'])
      expect((await ida.get(path)).text.replaceAll('"Søn"', '&quot;Søn&quot;'), path).toContain(named);
  });

  it('name persons to operators and not to viewers, who take nothing back', async () => {
    const { store, signedIn } = await startPages({ engine });
    const row = {
      provider: 'crm',
      entity: COMPANY,
      seq: 1,
      rule: 'ours',
      outcome: 'written',
    };
    await store.write((tx) =>
      tx
        .insertInto('history')
        .values({ ...row, at: 0, record_id: '1', lines: asStored(['board', 'board', null, PERSON, null]) })
        .execute(),
    );
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const address = `/writes?entity=${COMPANY}`;
    expect((await ida.get(address)).text).toContain(PERSON);
    const masked = await gry.get(address);
    expect(masked.text).toContain('S••• M•••');
    expect(masked.text).not.toContain(PERSON);
    expect(masked.text).not.toContain('action="/runs/undo"');
    expect((await gry.post('/runs/undo', { entity: COMPANY })).status).toBe(403);
  });
});

describe('the list of writes', () => {
  it('asks for less where all of it would be taken back, and says which time it cannot read', async () => {
    const { signedIn } = await playStory();
    const ida = await signedIn('operator');
    expect((await ida.get('/writes')).text).toContain('narrow the list');
    expect((await ida.post('/runs/undo', { property: 'name' })).status).toBe(422);
    const bad = await ida.get('/writes?since=yesterday');
    expect([bad.status, bad.text]).toEqual([422, expect.stringContaining('cannot read this time: yesterday')]);
    for (const path of ['/runs/999', '/runs/x']) expect((await ida.get(path)).status).toBe(404);
    expect((await ida.post('/runs/999/confirm', {})).status).toBe(404);
  });

  it('goes from page to page and shows each write once', async () => {
    const { store, signedIn } = await startPages();
    const ida = await signedIn('operator');
    const row = {
      provider: 'crm',
      entity: COMPANY,
      seq: 1,
      rule: 'ours',
      outcome: 'written',
    };
    await store.write(async (tx) => {
      for (let at = 0; at < 120; at += 1)
        await tx
          .insertInto('history')
          .values({ ...row, at, record_id: `r${at}.`, lines: asStored(['name', 'name', null, 'x', null]) })
          .execute();
    });
    const seen: string[] = [];
    for (let path: string | undefined = '/writes?rule=ours'; path !== undefined; ) {
      const { text }: { text: string } = await ida.get(path);
      seen.push(...(text.match(/r\d+\.(?=<\/code>)/g) ?? []));
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `r${119 - index}.`));
  });
});

describe('a selection of writes', () => {
  const inZone = (timeZone: string) => (fields: Readonly<Record<string, string>>) =>
    readSelection(
      selectionTexts((name) => fields[name] ?? ''),
      { timeZone },
    );
  const read = inZone('Europe/Copenhagen');

  it.each(['Europe/Copenhagen', 'America/New_York', 'Asia/Kolkata', 'Pacific/Chatham', 'UTC'])(
    'is the same after it was written into an address and read again, whatever the season, in %s',
    (timeZone) => {
      const read = inZone(timeZone);
      for (const since of [
        '2026-01-15T12:00',
        '2026-07-15T00:00',
        '2026-10-25T02:30',
        '2026-11-01T01:30',
        '2026-03-29T03:00:05.250',
      ])
        for (const fields of [
          { since },
          { since, until: '2026-12-01', record: 'hubspot:12', rule: 'ours', event: '7' },
        ]) {
          const first = read(fields);
          if (!first.ok) throw new Error(first.value);
          expect(read(textsOf(first.selection, { timeZone }))).toEqual(first);
        }
    },
  );

  it('takes times as Danish clocks show them, and companies in any spelling', () => {
    expect(read({ since: '2026-07-15T12:00', until: '2026-01-15T12:00Z', entity: '12 34 56 74' })).toMatchObject({
      selection: { since: Date.UTC(2026, 6, 15, 10), until: Date.UTC(2026, 0, 15, 12), entity: COMPANY },
    });
  });
});
