/** The plan of a backfill as people read it: on its page, narrowed, and as a file. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { storeEntries } from '../../../src/match/index/write.ts';
import { newFile } from '../../connector/backfill/plan-runs.ts';
import { entry } from '../../match/entries.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { HOSTILE } from '../story.ts';
import { revisionIn, startHouse } from './house.ts';

const [A, B, C, D] = [cvrNumber(1), cvrNumber(2), cvrNumber(3), cvrNumber(4)];
const HOSTILE_SHOWN = 'Birk &lt;script>alert(1)&lt;/script> &amp; ';

describe.each(SUITE_ENGINES)('the plan, on %s', (engine) => {
  it('is shown with its counts, and filtered by verdict, part and text', async () => {
    const { fixture, add, signedIn } = await startHouse({ engine });
    const [one, two, three] = [
      add('hubspot', 'DK 10 15 08 17', HOSTILE),
      add('hubspot', 'ukendt', 'ÆBLER 100 % A/S'),
      add('hubspot', null, 'Uden'),
    ];
    const gry = await signedIn('viewer');
    expect((await gry.get('/backfill')).text).toContain('Not scanned yet');
    expect((await gry.get('/backfill/hubspot')).text).not.toContain('plan.csv');
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const list = await gry.get('/backfill');
    expect(list.text).toContain('The plan is ready');
    const { text } = await gry.get('/backfill/hubspot?part=all');
    for (const each of [one, two, three, '10150817', HOSTILE_SHOWN, 'ukendt']) expect(text).toContain(each);
    expect(text).not.toContain('<script>alert');
    const shown = async (query: string): Promise<readonly string[]> => {
      const page = await gry.get(`/backfill/hubspot?${query}`);
      return [one, two, three].filter((id) => page.text.includes(`<code>${id}</code>`));
    };
    expect(await shown(''), 'doubtful first').toEqual([two]);
    expect(await shown('part=all')).toEqual([one, two, three]);
    expect(await shown('verdict=invalid')).toEqual([two]);
    expect(await shown('part=link')).toEqual([one]);
    expect(await shown('part=person')).toEqual([two]);
    expect(await shown('part=skip')).toEqual([two, three]);
    expect(await shown('q=10150817')).toEqual([one]);
    expect(await shown('q=%C3%A6bler')).toEqual([two]);
    expect(await shown('q=100+%25')).toEqual([two]);
    expect(await shown('q=%25')).toEqual([two]);
    expect(await shown(`q=${three}`)).toEqual([three]);
    expect(await shown('q=%27+or+1=1')).toEqual([]);
    expect(await shown('after=2')).toEqual([three]);
    expect(await shown('after=x&verdict=y&part=z')).toEqual([one, two, three]);
    const danish = await gry.get('/backfill/hubspot?part=all', { 'accept-language': 'da' });
    expect(danish.text).toContain('<a href="/backfill/hubspot?verdict=matched">nummeret på en virksomhed</a>');
    expect(danish.text).toMatch(/<option value="ambiguous"[^>]*>flere poster med samme nummer</u);
    expect(danish.text.replaceAll(/<[^>]*>/gu, ' ')).not.toMatch(/\b(matched|invalid|no-number|ambiguous)\b/u);
  });

  it('says that it links nothing, and offers no apply, until a person chooses a company for a record', async () => {
    const { add, signedIn, scan } = await startHouse({ engine });
    const record = add('hubspot', 'ukendt');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const nothing = (await ida.get('/backfill/hubspot')).text;
    expect(nothing).toContain('it links no record');
    expect(nothing).not.toContain('action="/backfill/hubspot/apply"');
    const row = await ida.get(`/backfill/hubspot/row?record=${record}`);
    await ida.post('/backfill/hubspot/row', { record, choice: A, revision: revisionIn(row.text) });
    const chosen = (await ida.get('/backfill/hubspot')).text;
    expect(chosen).toContain('nothing in it is linked before you apply it');
    expect(chosen).toContain('action="/backfill/hubspot/apply"');
  });

  it('names the company beside the record, marks different names, and shows what a link would write', async () => {
    const { fixture, add, signedIn } = await startHouse({ engine });
    const [same, other] = [add('hubspot', A, 'NORDLYS MØBLER  ApS'), add('hubspot', B, 'Et helt andet firma')];
    const [loaded, unknown] = [add('hubspot', C, 'Solvang'), add('hubspot', D, 'Ukendt Firma ApS')];
    const snapshot = { entity: `CVR-1-${C}`, body: JSON.stringify({ name: 'Solvang Gartneri A/S' }), digest: '' };
    await fixture.app.store.write((tx) =>
      storeEntries(tx, [entry(A, 'Nordlys Møbler ApS'), entry(B, 'Havblik <i>Cykler</i> A/S')]),
    );
    await fixture.app.store.write((tx) =>
      tx
        .insertInto('snapshot')
        .values({ ...snapshot, loaded_at: '', updated_at: 1 })
        .execute(),
    );
    await fixture.post({
      entityId: `CVR-1-${B}`,
      timestamp: '2026-03-01T09:00:00.000Z',
      updates: { phoneNumber: { before: null, after: '20304050' } },
    });
    await fixture.settled();
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const gry = await signedIn('viewer');
    const rows = (await gry.get('/backfill/hubspot')).text.split('<tr');
    const rowOf = (id: string): string => rows.find((each) => each.includes(`<code>${id}</code>`)) ?? '';
    expect(rowOf(same)).toContain('Nordlys Møbler ApS');
    expect(rowOf(same)).not.toContain('class="changed"');
    expect(rowOf(other)).toContain('Havblik &lt;i>Cykler&lt;/i> A/S');
    expect(rowOf(other)).toContain('class="changed"');
    expect(rowOf(other)).toContain('another name than the company');
    // Before the first event: by the register that the service has loaded, or by the record itself.
    expect(rowOf(loaded)).toContain('Solvang Gartneri A/S');
    expect(rowOf(unknown)).toContain('Ukendt Firma ApS');
    const ida = await signedIn('operator');
    const offer = (await ida.get(`/backfill/hubspot/row?record=${unknown}`)).text;
    expect(offer).toMatch(new RegExp(`<label for="choice-${D}">[^<]*${D}[^<]* Ukendt Firma ApS</label>`, 'u'));
    expect((await gry.get(`/backfill/hubspot/row?record=${same}`)).text).toContain('the register has sent nothing');
    const page = (await gry.get(`/backfill/hubspot/row?record=${other}`)).text;
    const planned = page.split('<tr').find((each) => each.includes('<code>phone</code>')) ?? '';
    expect(planned).toContain('20304050');
    expect(planned).toContain('differs, will be written');
    expect(fixture.hubspot.get(other)).not.toMatchObject({ phone: expect.anything() });
  });

  it('shows in each row what a link would write, old → new, with one call, and what is unknown', async () => {
    const { fixture, add, signedIn } = await startHouse({ engine });
    const told = add('hubspot', A, 'Nordlys ApS');
    const untold = add('hubspot', B, 'Havblik ApS');
    fixture.hubspot.edit(told, { phone: '+4510203040', city: 'Ribe' });
    await fixture.post({
      entityId: `CVR-1-${A}`,
      timestamp: '2026-03-01T09:00:00.000Z',
      updates: {
        name: { before: null, after: 'Nordlys <b>Møbler</b> ApS' },
        phoneNumber: { before: null, after: '20304050' },
        website: { before: null, after: 'https://nordlys.example' },
      },
    });
    await fixture.settled();
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const gry = await signedIn('viewer');
    const reads = () => fixture.hubspot.calls.filter(({ path }) => path.includes('batch/read')).length;
    const rowOf = (text: string, id: string): string =>
      text.split('<tr').find((each) => each.includes(`<code>${id}</code>`)) ?? '';
    const before = reads();
    expect((await gry.get('/backfill/hubspot?part=all')).text).not.toContain('<code>website</code>');
    expect(reads() - before).toBe(0);
    const { text } = await gry.get('/backfill/hubspot?part=all&outlook=yes');
    expect(reads() - before).toBe(1);
    expect(rowOf(text, told)).toMatch(
      /<code>website<\/code>: <span class="quiet">blank<\/span> → https:\/\/nordlys.example/u,
    );
    expect(rowOf(text, told)).toContain(
      '+4510203040 → +4520304050 <span class="quiet">differs, a person’s edit is kept',
    );
    expect(rowOf(text, told)).toContain('Nordlys ApS → Nordlys &lt;b>Møbler&lt;/b> ApS');
    expect(rowOf(text, untold)).toContain('the register has sent nothing yet');
    expect(text).toContain('name="outlook" value="yes" checked');
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const silent = (await gry.get('/backfill/hubspot?part=all&outlook=yes')).text;
    expect(silent).toContain('hubspot could not be read just now: no answer within 2.5 s');
    expect(rowOf(silent, told)).toContain('Nordlys ApS');
  });

  it('is exported as a file that the command accepts', async () => {
    const { fixture, add, signedIn, links } = await startHouse({ engine });
    const id = add('salesforce', '10150817', '=1+1');
    add('salesforce', null);
    const gry = await signedIn('viewer');
    expect((await gry.get('/backfill/salesforce/plan.csv')).status).toBe(404);
    const written = newFile();
    await fixture.cli('backfill', 'salesforce', '--plan', written);
    const file = await gry.get('/backfill/salesforce/plan.csv');
    expect(file.headers['content-disposition']).toBe('attachment; filename="plan.csv"');
    expect(file.text).toContain(`${id};'=1+1;10150817;matched;link;;10150817`);
    const got = newFile();
    writeFileSync(got, file.text);
    expect((await fixture.cli('backfill', 'salesforce', '--apply', got)).code).toBe(0);
    expect(await links('salesforce')).toEqual({ [id]: 'CVR-1-10150817 number active' });
    expect((await gry.get('/backfill/salesforce')).text).toContain('linked by this plan');
  });
});

it('a connection that is not configured has no page', async () => {
  const { signedIn } = await startHouse();
  const gry = await signedIn('viewer');
  for (const path of ['/backfill/dynamics', '/backfill/dynamics/plan.csv'])
    expect((await gry.get(path)).status, path).toBe(404);
});
