/** Answers to what needs a person, given on the review page: with what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { COMPANY, playStory } from './story.ts';
import { startPages } from './visitor.ts';

const DIFFERENCES = '/inbox?kind=difference';
const choicesIn = (text: string): readonly string[] =>
  [...text.matchAll(/name="choice" value="([^"]+)"/g)].map(([, value = '']) => value.replaceAll('&amp;', '&'));

describe.each(SUITE_ENGINES)('on the review page, on %s', (engine) => {
  it('accepting the register writes its value once, even if the form is sent twice', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    const answered = await ida.post('/inbox/answers', { choice, verb: 'accept-difference', back: DIFFERENCES });
    expect(answered.text).toContain('Write the register’s value: 1 entry.');
    expect(answered.text).toContain('href="/inbox?kind=difference"');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });
    const again = await ida.post('/inbox/answers', {
      choice,
      verb: 'accept-difference',
      back: 'https://elsewhere.example/',
    });
    expect(again.text).toContain('Write the register’s value: 0 entries.');
    expect(again.text).toContain('href="/inbox"');
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 5)).toMatchObject([
      { actor: { name: 'the operator' }, via: 'page', subject: expect.stringContaining('hubspot') },
    ]);
  });

  it("keeping the CRM's value stops later events from overwriting it", async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    await ida.post('/inbox/answers', { choice, verb: 'keep-difference' });
    const updates = { phoneNumber: { before: '30405060', after: '50607080' } };
    await fixture.post({ entityId: COMPANY, timestamp: '2026-03-03T09:00:00.000Z', updates });
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect(choicesIn((await ida.get(DIFFERENCES)).text)).toEqual([]);
  });

  it('undoing an answer ends its hold, shows the difference again, and undoes its write', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    const id = choice.slice(choice.indexOf(' ') + 1);
    const kept = await ida.post('/inbox/answers', { choice, verb: 'keep-difference', back: DIFFERENCES });
    expect(kept.text).toContain('Take this answer back');
    expect((await ida.get('/inbox/answered')).text).toContain('Keep, and hold without an end');
    expect((await ida.post('/inbox/back', { choice: id })).text).toContain('the difference is in review again');
    await fixture.settled();
    const [again = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    expect(again.slice(again.indexOf(' ') + 1)).toBe(id);
    expect((await ida.get('/holds')).text).not.toContain('phone');

    await ida.post('/inbox/answers', { choice: again, verb: 'accept-difference' });
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });
    const { text } = await ida.post('/inbox/back', { choice: id });
    const [, undo = ''] = /href="(\/runs\/\d+)"/u.exec(text) ?? [];
    await fixture.settled();
    await ida.post(`${undo}/confirm`, {});
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect((await ida.post('/inbox/back', { choice: id })).text).toContain('no answer to it can be taken back');
    expect((await ida.post('/inbox/back', {})).status).toBe(422);
    const audit = await readAudit(fixture.app.store.db, { action: 'review.takeBack' }, 5);
    expect(audit.map(({ subject }) => subject)).toEqual([id, id]);
    const gry = await signedIn('viewer');
    expect((await gry.post('/inbox/back', { choice: id })).status).toBe(403);
  });

  it('an answer to an outdated entry does nothing, and says so', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    const updates = { phoneNumber: { before: '30405060', after: '50607080' } };
    await fixture.post({ entityId: COMPANY, timestamp: '2026-03-03T09:00:00.000Z', updates });
    await fixture.settled();
    const { text } = await ida.post('/inbox/answers', { choice, verb: 'accept-difference' });
    expect(text).toContain('it changed since you looked');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 5)).toEqual([]);
  });

  it('an answer that an entry does not accept names those that it accepts, and viewers cannot answer', async () => {
    const { store, signedIn } = await startPages({ engine });
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'crm', recordId: '1', entity: COMPANY, sendUpdate: false, now: 0 });
      await tx.updateTable('link').set({ state: 'conflict', reason: 'two companies' }).execute();
    });
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const [choice = ''] = choicesIn((await ida.get('/inbox')).text);
    expect((await ida.post('/inbox/answers', { choice, verb: 'retry-link' })).text).toContain(
      'answer with “Make the link” or “Remove the link”',
    );
    expect((await ida.post('/inbox/answers', { verb: 'keep-link' })).status).toBe(422);
    expect((await ida.post('/inbox/answers', { choice, verb: 'explode' })).status).toBe(422);
    expect(
      (await ida.post('/inbox/answers', { choice: ' link/crm/none', verb: 'keep-link', sure: 'yes' })).text,
    ).toContain('settled already');
    expect((await gry.get('/inbox')).text).not.toContain('name="choice"');
    expect((await gry.post('/inbox/answers', { choice, verb: 'keep-link' })).status).toBe(403);
    expect((await store.db.selectFrom('link').select('state').executeTakeFirst())?.state).toBe('conflict');
  });

  it('an answer has the effect of its kind of entry, states it, and asks before it ends a link', async () => {
    const { store, signedIn } = await startPages({ engine });
    await store.write(async (tx) => {
      for (const recordId of ['1', '2'])
        await linkRecord(tx, { provider: 'crm', recordId, entity: COMPANY, sendUpdate: false, now: 0 });
      await tx.updateTable('link').set({ state: 'conflict', reason: 'two companies' }).execute();
    });
    const states = async () =>
      (await store.db.selectFrom('link').select('state').orderBy('record_id').execute()).map(({ state }) => state);
    const ida = await signedIn('operator');
    const { text } = await ida.get('/inbox');
    const [choice = ''] = choicesIn(text);
    expect(text).toMatch(
      /value="keep-link">Remove the link<\/button>\s*<span class="quiet">ends the link and the monitoring/u,
    );
    expect(text).not.toContain('Keep the CRM');
    const danish = (await ida.get('/inbox', { 'accept-language': 'da' })).text;
    expect(danish).toMatch(/value="keep-link">Fjern koblingen<\/button>\s*<span class="quiet">afslutter koblingen/u);
    expect(text).not.toContain('It cannot be taken back.');
    const all = (await ida.get('/inbox?kind=link')).text;
    expect(all).toMatch(/value="keep-link" formaction="\/runs\/answers">Remove the link …</u);
    const wrong = await ida.post('/inbox/answers', { choice, verb: 'keep-difference' });
    expect(wrong.text).toContain('this answer is for entries of another kind');
    expect((await ida.post('/inbox/answers', { choice, verb: 'keep' })).status).toBe(422);
    const asked = await ida.post('/inbox/answers', { choice, verb: 'keep-link' });
    expect(asked.text).toContain('This is about 1 entry:');
    expect(await states()).toEqual(['conflict', 'conflict']);
    await ida.post('/inbox/answers', { choice, verb: 'keep-link', sure: 'yes' });
    expect(await states()).toEqual(['removed', 'conflict']);
  });
});
