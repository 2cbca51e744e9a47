/** The list of review with answers, given back as a file: with what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { SUITE_ENGINES } from '../support/stores.ts';
import { playStory } from './story.ts';
import { startPages, type Visitor } from './visitor.ts';

const PATH = '/inbox/upload';
const HEAD = 'id;kind;since;about;reason;answers;answer;revision';

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

/** The downloaded list with an answer in each row that names a record. */
function answered(csv: string, answers: Readonly<Record<string, string>>): string {
  const [head = '', ...rows] = csv.trim().split('\r\n');
  const filled = rows.map((row) => {
    const cells = row.split(';');
    cells[6] = Object.entries(answers).find(([record]) => cells[0]?.includes(record))?.[1] ?? '';
    return cells.join(';');
  });
  return [head, ...filled].join('\r\n');
}

const fileOf = (...rows: readonly string[]): string => [HEAD, ...rows].join('\n');

/** Uploads a file as the page's form does. */
async function upload(visitor: Visitor, file: string) {
  await visitor.get(PATH);
  return visitor.upload(PATH, {}, file);
}

describe.each(SUITE_ENGINES)('answers of a file, on %s', (engine) => {
  it('are previewed, then applied once each, and only to entries that are still as the list showed them', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const companies = ['CVR-1-10150817', 'CVR-1-10150833', 'CVR-1-10150841'];
    const [second = '', third = '', fourth = ''] = await Promise.all(
      companies.map((entity, at) => fixture.addLinked('hubspot', entity, { phone: `+451212121${at}` })),
    );
    const call = (entityId: string, day: number, after: string) =>
      fixture.post({
        entityId,
        timestamp: `2026-03-0${day}T09:00:00.000Z`,
        updates: { phoneNumber: { before: '11111111', after } },
      });
    for (const entity of companies) await call(entity, 2, '22222222');
    await fixture.settled();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    expect((await ida.get('/inbox?kind=difference')).text).toContain(`href="${PATH}"`);
    const { text } = await ida.get('/inbox.csv?kind=difference&provider=hubspot&property=phone');
    const answers = { [records.hubspot]: 'accept', [second]: 'Keep', [third]: 'accept', [fourth]: '' };
    const { status, headers } = await upload(ida, answered(text, answers));
    expect(status).toBe(303);
    const path = String(headers['location']);
    const plan = await reached(ida, path, 'Ready: nothing was written yet');
    expect(plan).toContain('Give 3 answers');
    expect(await fixture.app.store.db.selectFrom('override').selectAll().execute()).toEqual([]);
    expect((await gry.get(path)).text).not.toContain('+451212');

    await call('CVR-1-10150833', 3, '33333333');
    await fixture.settled();
    expect([(await ida.post(`${path}/confirm`, {})).status, (await ida.post(`${path}/confirm`, {})).status]).toEqual([
      303, 303,
    ]);
    expect(await reached(ida, path, 'Done')).toContain('changed since, skipped');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });
    expect(fixture.hubspot.get(second)).toMatchObject({ phone: '+4512121210' });
    expect(fixture.hubspot.get(third)).toMatchObject({ phone: '+4512121211' });
    expect((await ida.get('/audit?action=review.import')).text).toContain('done; 2 done, 1 changed');
    const left = await ida.get('/inbox.csv?kind=difference&provider=hubspot&property=phone');
    expect(left.text).not.toContain(`/${second}/`);
    expect(left.text).toContain(`/${fourth}/`);

    const again = await upload(ida, answered(text, answers));
    const late = await reached(ida, String(again.headers['location']), 'settled by somebody else');
    expect(late).not.toContain('to be answered');
  });
});

describe('a file with answers', () => {
  it('is refused completely, with the line numbers, if a line is implausible', async () => {
    const { store, signedIn } = await startPages();
    const ida = await signedIn('operator');
    const refusals: readonly (readonly [string, string])[] = [
      [fileOf('difference/crm/1/phone;;;;;;maybe;aaaa'), 'line 2: the answer is maybe'],
      [fileOf(';;;;;;keep;'), 'the id is blank'],
      [fileOf('=HYPERLINK(1);;;;;;keep;'), 'is not an id'],
      [fileOf('lane/apply/%00;;;;;;retry;'), 'lane/apply/%00 is not an id'],
      [fileOf('difference/crm/1/phone;;;;;;keep;'), 'the revision of difference/crm/1/phone is blank'],
      [fileOf(...Array.from({ length: 2 }, () => 'lane/apply/x;;;;;;retry;')), 'is in the file twice'],
      [fileOf('lane/apply/x;;;;;;;'), 'no row of the file has an answer'],
      ['id;answer\nlane/apply/x;retry', 'no column revision'],
      ['PK\u0003\u0004 a workbook', 'the file is a workbook'],
      [`${HEAD}\n"lane/apply/x;retry`, 'cannot be read as CSV'],
      ['\n', 'the file is empty'],
      ['', 'choose a file'],
    ];
    for (const [file, words] of refusals) {
      const answer = await upload(ida, file);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(words)]);
    }
    expect(await store.db.selectFrom('run').selectAll().execute()).toEqual([]);
  });

  it('may contain unknown ids, of other connections or of long ago, which answer nothing', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('operator');
    const file = fileOf(
      'difference/other/1/phone;;;<script>alert(1)</script>;;;accept;aaaaaaaaaaaaaaaa',
      'lane/apply/nobody;;;;;;retry;',
      'body/999999;;;;;;drop;',
    );
    const { headers } = await upload(ida, file);
    const page = await reached(ida, String(headers['location']), 'settled by somebody else');
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('to be answered');
    expect(await fixture.app.store.db.selectFrom('override').selectAll().execute()).toEqual([]);
  });

  it('is accepted from operators, with the form of their session, up to ten megabytes', async () => {
    const { signedIn } = await startPages();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const file = fileOf('lane/apply/x;;;;;;retry;');
    expect((await gry.upload(PATH, {}, file)).status).toBe(403);
    expect((await gry.get('/inbox?kind=difference')).text).not.toContain(PATH);
    expect((await ida.upload(PATH, { _form: 'guessed' }, file)).status).toBe(403);
    const padding = `;;;${'x'.repeat(1_000)};;;;`;
    const large = (rows: number) => fileOf('lane/apply/x;;;;;;retry;', ...Array.from({ length: rows }, () => padding));
    expect((await upload(ida, large(9_800))).status).toBe(303);
    expect((await upload(ida, large(12_000))).status).toBe(413);
  });
});
