/** Records without a number beside the companies they may mean: decided on a page, one after the other. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { createOperator, type Role } from '../../src/runtime/operators/operators.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { type Fixture, startFixture } from '../support/fixture.ts';
import { type ENGINES, newFolder, SUITE_ENGINES } from '../support/stores.ts';
import { LOOKS, signIn, useBrowser } from './browser.ts';
import { focusGiven } from './keyboard.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const [A, B, C] = [cvrNumber(1), cvrNumber(2), cvrNumber(3)];
const HOSTILE = '<script>alert(1)</script> Møbler';
const COMPANIES = [
  'number,name,street,postalCode,city,phone',
  `${A},Nordlys Møbler ApS,Ringvej 1,8000,Aarhus C,86123456`,
  `${B},Nordlys Møbler Holding ApS,Ringvej 1,8000,Aarhus C,`,
  `${C},Havblik Cykler A/S,Havnegade 12,5000,Odense C,`,
].join('\n');

interface Matched {
  readonly fixture: Fixture;
  /** Of records in the order of the page: the first means A, the second C. */
  readonly records: readonly [string, string];
  token(role: Role): Promise<string>;
  signedIn(role: Role): Promise<Visitor>;
}

async function matched(engine: (typeof ENGINES)[number] = 'sqlite'): Promise<Matched> {
  const fixture = await startFixture({ engine, connections: { hubspot: { match: { property: 'cvr_number' } } } });
  const { app, hubspot } = fixture;
  const nordlys = hubspot.add({ name: HOSTILE, address: 'Ringvej 1', zip: '8000', phone: '+45 86 12 34 56' });
  const havblik = hubspot.add({ name: 'Havblik Cykler', address: 'Havnegade 12', zip: '5000', city: 'Odense' });
  const companies = path.join(newFolder(), 'companies.csv');
  writeFileSync(companies, COMPANIES);
  await fixture.cli('match', 'index', companies);
  await fixture.cli('match', 'hubspot');
  const token = async (role: Role): Promise<string> =>
    (await app.store.write((tx) => createOperator(tx, { name: `the ${role}`, role }, Date.now()))) ?? '';
  return {
    fixture,
    records: [nordlys, havblik],
    token,
    async signedIn(role) {
      const visitor = newVisitor(app.adminUrl);
      await visitor.signIn(await token(role));
      return visitor;
    },
  };
}

const LIST = '/inbox?kind=match';

/** What the facet of these records says. */
const waiting = (count: number): string => `without a number <span class="count">${count}</span>`;
/** The fields that the form of the record that is shown carries. */
const shownIn = (text: string): Readonly<Record<string, string>> =>
  carried(/<form method="post" action="\/inbox\/match">.*?<\/form>/su.exec(text)?.[0] ?? '');
const carried = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/gu)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

/** The fields of the form that takes the answer before back. */
const noticeIn = (text: string): Readonly<Record<string, string>> =>
  carried(/<form method="post" action="\/inbox\/back".*?<\/form>/su.exec(text)?.[0] ?? '');

describe.each(SUITE_ENGINES)('the match page on %s', (engine) => {
  it('shows a record beside its companies, links an accepted one, and writes its number', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const { text } = await ida.get(LIST);
    expect(text).toContain(waiting(2));
    expect(text).toContain('&lt;script>alert(1)&lt;/script> Møbler');
    expect(text).toMatch(/86123456 <span class="quiet">same</u);
    expect(text).toContain(`value="${A}"`);
    expect(text).toContain(
      `<a href="https://app.hubspot.com/contacts/24680135/record/0-2/${records[0]}" rel="noreferrer"><code>${records[0]}</code></a>`,
    );
    expect(/<\/code><\/a><\/span>: ([^<]+)</u.exec(text)?.[1]).toBe('the name or place is not quite the same');
    const fields = { ...shownIn(text), company: A };
    expect((await ida.post('/inbox/match', fields)).headers['location']).toBe(
      `${LIST}&at=match%2Fhubspot%2F${records[1]}&done=match%2Fhubspot%2F${records[0]}`,
    );
    // A second click finds it decided.
    expect((await ida.post('/inbox/match', fields)).status).toBe(409);
    await fixture.settled();
    expect(fixture.hubspot.get(records[0])).toMatchObject({ cvr_number: A });
    expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toMatchObject([
      { record: records[0], entity: `CVR-1-${A}` },
    ]);
    const [entry] = await readAudit(fixture.app.store.db, { action: 'match.accept' }, 1);
    expect(entry).toMatchObject({ subject: `hubspot:${records[0]}`, detail: { entity: `CVR-1-${A}` } });
    expect((await ida.get(LIST)).text).toContain(waiting(1));
  });

  it('does not propose rejected companies again, and accepts another number', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    await ida.post('/inbox/match', { ...shownIn((await ida.get(LIST)).text), company: 'none' });
    expect((await fixture.cli('match', 'hubspot', '--json')).stdout).not.toContain(A);
    const page = (await ida.get(LIST)).text;
    expect(page).toContain(waiting(1));
    const other = { ...shownIn(page), company: 'other' };
    expect((await ida.post('/inbox/match', { ...other, other: '12345678' })).status).toBe(422);
    const asked = await ida.post('/inbox/match', { ...other, other: B });
    const address = String(asked.headers['location']);
    expect(address).toMatch(new RegExp(`^/companies/CVR-1-${B}/link\\?`));
    const preview = (await ida.get(address)).text;
    expect(preview).toContain('Nordlys Møbler Holding ApS');
    expect(preview).toContain('writes the number into the record');
    await fixture.settled();
    expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toEqual([]);
    const done = await ida.post(`/companies/CVR-1-${B}/link`, carried(preview));
    expect(done.headers['location']).toBe(`${LIST}&done=match%2Fhubspot%2F${records[1]}`);
    await fixture.settled();
    expect(fixture.hubspot.get(records[1])).toMatchObject({ cvr_number: B });
    expect((await ida.get(LIST)).text).toContain('No record without a number waits.');
    const [entry] = await readAudit(fixture.app.store.db, { action: 'match.accept' }, 1);
    expect(entry).toMatchObject({ subject: `hubspot:${records[1]}`, detail: { entity: `CVR-1-${B}` } });
  });

  it('warns before an answer that the company has another record in the connection', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const before = shownIn((await ida.get(LIST)).text);
    const holder = await fixture.addLinked('hubspot', `CVR-1-${A}`, { name: 'Nordlys' });
    expect((await ida.post('/inbox/match', { ...before, company: A })).status).toBe(409);
    const { text } = await ida.get(LIST);
    expect(text).toContain(`linked already to record ${holder}`);
    // A second record takes a click: no key answers so, and the button does not stand out.
    expect(/<button name="company" value="(\d+)">/u.exec(text)?.[1]).toBe(A);
    expect(text).not.toContain('data-key="1"');
    expect(text).not.toMatch(/value="\d+"[^>]*class="primary"/u);
    const other = await ida.get(`/companies/CVR-1-${A}/link?provider=hubspot&record=${records[1]}&match=yes`);
    expect(other.text).toContain(`already linked to another record of hubspot: ${holder}`);
  });

  it('shows the current record if its name or address changed since the page was shown', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const first = shownIn((await ida.get(LIST)).text);
    fixture.hubspot.edit(records[0], { name: 'Havblik Cykler', address: 'Havnegade 12', zip: '5000', city: 'Odense' });
    const refused = await ida.post('/inbox/match', { ...first, company: A });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('somebody changed the record')]);
    expect(refused.text).toContain('1. Havblik Cykler A/S');
    expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toEqual([]);
    expect((await ida.post('/inbox/match', { ...shownIn(refused.text), company: C })).status).toBe(303);
    await fixture.settled();
    expect(fixture.hubspot.get(records[0])).toMatchObject({ cvr_number: C });
  });

  it('names the company that the previous record was linked to, or was not, with a link', async () => {
    const { records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const first = shownIn((await ida.get(LIST)).text);
    const accepted = await ida.post('/inbox/match', { ...first, company: A });
    const { text } = await ida.get(String(accepted.headers['location']));
    expect(text).toContain(
      `<code>match/hubspot/${records[0]}</code> <a href="/companies/CVR-1-${A}">Nordlys Møbler ApS</a>`,
    );
    const rejected = await ida.post('/inbox/match', { ...shownIn(text), company: 'none' });
    expect((await ida.get(String(rejected.headers['location']))).text).toContain(
      `Never suggest it again: <code>match/hubspot/${records[1]}</code> <a href="/companies/CVR-1-${C}">`,
    );
  });

  it('undoes an accepted company: the link ends, an undo of its writes is previewed, and the record waits', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const accepted = await ida.post('/inbox/match', { ...shownIn((await ida.get(LIST)).text), company: A });
    await fixture.settled();
    expect(fixture.hubspot.get(records[0])).toMatchObject({ cvr_number: A });
    const notice = noticeIn((await ida.get(String(accepted.headers['location']))).text);
    const taken = await ida.post('/inbox/back', notice);
    const undo = String(taken.headers['location']);
    expect(undo).toMatch(/^\/runs\/\d+$/u);
    await fixture.settled();
    expect((await ida.get(undo)).text).toContain('Ready: nothing was written yet');
    await ida.post(`${undo}/confirm`, {});
    await fixture.settled();
    expect(fixture.hubspot.get(records[0])?.['cvr_number'] ?? '').toBe('');
    expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toMatchObject([{ state: 'removed' }]);
    const again = (await ida.get(LIST)).text;
    expect(again).toContain(waiting(2));
    expect((await ida.post('/inbox/back', notice)).text).toContain('no answer to it can be taken back');
    expect((await ida.post('/inbox/match', { ...shownIn(again), company: A })).status).toBe(303);
  });

  it('undoes a rejection: the record is shown again, and matches propose its companies', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const rejected = await ida.post('/inbox/match', { ...shownIn((await ida.get(LIST)).text), company: 'none' });
    expect((await ida.get(LIST)).text).toContain(waiting(1));
    const notice = noticeIn((await ida.get(String(rejected.headers['location']))).text);
    const again = `${LIST}&at=match%2Fhubspot%2F${records[0]}`;
    expect((await ida.post('/inbox/back', notice)).headers['location']).toBe(again);
    expect((await ida.get(again)).text).toContain(waiting(2));
    expect((await fixture.cli('match', 'hubspot', '--json')).stdout).toContain(A);
    const [entry] = await readAudit(fixture.app.store.db, { action: 'review.takeBack' }, 1);
    expect(entry).toMatchObject({
      subject: `match/hubspot/${records[0]}`,
      result: 'the record waits for an answer again',
    });
  });

  it('links nothing if the record got a number, was deleted, or was matched again since it was shown', async () => {
    const { fixture, records, signedIn } = await matched(engine);
    const ida = await signedIn('operator');
    const first = shownIn((await ida.get(LIST)).text);
    fixture.hubspot.edit(records[0], { cvr_number: C });
    const numbered = await ida.post('/inbox/match', { ...first, company: A });
    expect([numbered.status, numbered.text]).toEqual([409, expect.stringContaining(`the number of CVR-1-${C} by now`)]);
    const second = shownIn((await ida.get(`${LIST}&at=match/hubspot/${records[1]}`)).text);
    expect((await ida.post('/inbox/match', { ...second, company: C, revision: 'another' })).status).toBe(409);
    expect((await ida.post('/inbox/match', { ...second, company: A })).status).toBe(422);
    fixture.hubspot.remove(records[1]);
    expect((await ida.post('/inbox/match', { ...second, company: C })).status).toBe(409);
    expect(JSON.parse((await fixture.cli('links', '--json')).stdout)).toEqual([]);
  });

  it('shows viewers the records without the answers', async () => {
    const { signedIn } = await matched(engine);
    const visitor = await signedIn('viewer');
    const { text } = await visitor.get(LIST);
    expect(text).toContain('1. Nordlys Møbler ApS');
    expect(text).not.toContain('<button name="company"');
    expect((await visitor.post('/inbox/match', { company: A })).status).toBe(403);
  });
});

/** Presses a key until the page behind the answer is there: a key answers only what has been on screen for a while. */
const pressUntil = async (page: Page, key: string, done: string): Promise<void> =>
  expect
    .poll(async () => {
      await page.keyboard.press(key);
      return new URL(page.url()).searchParams.get('done');
    })
    .toBe(done);

/** Waits until the entry of an id is shown beside the list. */
const shows = (page: Page, id: string): Promise<unknown> => page.waitForSelector(`#entry[data-shown="${id}"]`);

describe('in a browser', () => {
  const { open } = useBrowser();

  it('a key that is pressed repeatedly answers one record, and the answer can be undone', async () => {
    const { fixture, records, token } = await matched();
    const { page, expectSound } = await open();
    const base = fixture.app.adminUrl;
    await signIn(page, base, await token('operator'));
    await page.goto(base + LIST);
    const linked = async () =>
      JSON.parse((await fixture.cli('links', '--json')).stdout).map(
        ({ record, state }: Readonly<Record<'record' | 'state', string>>) => `${record} ${state}`,
      );
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('1');
    expect(await linked()).toEqual([]);
    await pressUntil(page, '1', `match/hubspot/${records[0]}`);
    const behind = page.url();
    for (let pressed = 0; pressed < 5; pressed += 1) await page.keyboard.press('1');
    expect([await linked(), page.url()]).toEqual([[`${records[0]} active`], behind]);
    await expectSound();
    await page.click('form[action="/inbox/back"] button');
    await page.waitForURL((url) => url.href !== behind);
    expect(await linked()).toEqual([`${records[0]} removed`]);
  });

  it('single keys can be switched off for this browser, in their list and on the page of sessions', async () => {
    const { fixture, records, token } = await matched();
    const { page, expectSound } = await open();
    const base = fixture.app.adminUrl;
    await signIn(page, base, await token('operator'));
    await page.goto(base + LIST);
    const box = page.getByLabel('Single keys act in this browser');
    expect(await box.isChecked()).toBe(true);
    await box.uncheck();
    await expectSound();
    await page.reload();
    expect(await box.isChecked()).toBe(false);
    await focusGiven(page);
    // By then a key would have answered.
    await expect
      .poll(async () => {
        for (const key of ['1', 'n', 'j', '/', 'g', 'd']) await page.keyboard.press(key);
        return Number(await page.evaluate('performance.now()'));
      })
      .toBeGreaterThan(1_000);
    expect([page.url(), await page.evaluate('document.activeElement.className')]).toEqual([base + LIST, 'entry-link']);
    await page.goto(`${base}/sessions`);
    await box.check();
    await page.goto(base + LIST);
    await focusGiven(page);
    await page.keyboard.press('j');
    await shows(page, `match/hubspot/${records[1]}`);
  });

  it.each(LOOKS)('the page of matches is sound ($theme, $width px)', async (look) => {
    const { fixture, token } = await matched();
    const { page, expectSound } = await open(look);
    const base = fixture.app.adminUrl;
    const secret = await token('operator');
    await page.goto(`${base}/login?next=${encodeURIComponent('/match')}`);
    await page.fill('#token', secret);
    await page.click('button.primary');
    await page.waitForURL(base + LIST);
    await expectSound();
  });

  it('a record is decided with one key, also one that another key opened', async () => {
    const { fixture, records, token } = await matched();
    const { page } = await open();
    const base = fixture.app.adminUrl;
    await signIn(page, base, await token('operator'));
    await page.goto(base + LIST);
    await focusGiven(page);
    await page.keyboard.press('j');
    await shows(page, `match/hubspot/${records[1]}`);
    await pressUntil(page, '1', `match/hubspot/${records[1]}`);
    await fixture.settled();
    expect(fixture.hubspot.get(records[1])).toMatchObject({ cvr_number: C });
    // A figure typed into the field is no answer, and outside the list a letter is none.
    await page.goto(base + LIST);
    await page.focus('#other');
    await page.keyboard.type('1n');
    await page.focus('.brand');
    await page.keyboard.press('n');
    expect([await page.inputValue('#other'), page.url()]).toEqual(['1n', base + LIST]);
    // And Enter there sends what was typed, not the first candidate.
    await page.fill('#other', B);
    await page.press('#other', 'Enter');
    await page.waitForURL(`${base}/companies/CVR-1-${B}/link?**`);
    await page.click('main button.primary');
    await page.waitForURL(`${base}${LIST}&done=match%2Fhubspot%2F${records[0]}`);
    await fixture.settled();
    expect(fixture.hubspot.get(records[0])).toMatchObject({ cvr_number: B });
  });
});
