/** Answers to what needs a person, given on the review page: with what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { ENGINES } from '../support/stores.ts';
import { COMPANY, playStory } from './story.ts';
import { startPages } from './visitor.ts';

const DIFFERENCES = '/review?kind=difference';
const choicesIn = (text: string): readonly string[] =>
  [...text.matchAll(/name="choice" value="([^"]+)"/g)].map(([, value = '']) => value.replaceAll('&amp;', '&'));

describe.each(ENGINES)('on the review page, on %s', (engine) => {
  it('the register is accepted: its value is written once, also where the form is sent twice', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    const answered = await ida.post('/review/answers', { choice, verb: 'accept', back: DIFFERENCES });
    expect(answered.text).toContain('Accept the register: 1 entry.');
    expect(answered.text).toContain('href="/review?kind=difference"');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });
    const again = await ida.post('/review/answers', { choice, verb: 'accept', back: 'https://elsewhere.example/' });
    expect(again.text).toContain('Accept the register: 0 entries.');
    expect(again.text).toContain('href="/review"');
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 5)).toMatchObject([
      { actor: { name: 'the operator' }, via: 'page', subject: expect.stringContaining('hubspot') },
    ]);
  });

  it('the value of the CRM is kept, and no later event writes over it', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    await ida.post('/review/answers', { choice, verb: 'keep' });
    const updates = { phoneNumber: { before: '30405060', after: '50607080' } };
    await fixture.post({ entityId: COMPANY, timestamp: '2026-03-03T09:00:00.000Z', updates });
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect(choicesIn((await ida.get(DIFFERENCES)).text)).toEqual([]);
  });

  it('an answer to something else than what was seen does nothing, and says so', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const ida = await signedIn('operator');
    const [choice = ''] = choicesIn((await ida.get(DIFFERENCES)).text);
    const updates = { phoneNumber: { before: '30405060', after: '50607080' } };
    await fixture.post({ entityId: COMPANY, timestamp: '2026-03-03T09:00:00.000Z', updates });
    await fixture.settled();
    const { text } = await ida.post('/review/answers', { choice, verb: 'accept' });
    expect(text).toContain('it changed since you looked');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4599999999' });
    expect(await readAudit(fixture.app.store.db, { action: 'review.accept' }, 5)).toEqual([]);
  });

  it('an answer that something does not take says what it takes, and viewers answer nothing', async () => {
    const { store, signedIn } = await startPages({ engine });
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'crm', recordId: '1', entity: COMPANY, sendUpdate: false, now: 0 });
      await tx.updateTable('link').set({ state: 'conflict', reason: 'two companies' }).execute();
    });
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const [choice = ''] = choicesIn((await ida.get('/review')).text);
    expect((await ida.post('/review/answers', { choice, verb: 'retry' })).text).toContain(
      'answer with “Accept the register” or “Keep the CRM’s”',
    );
    expect((await ida.post('/review/answers', { verb: 'keep' })).status).toBe(422);
    expect((await ida.post('/review/answers', { choice, verb: 'explode' })).status).toBe(422);
    expect((await ida.post('/review/answers', { choice: ' link/crm/none', verb: 'keep' })).text).toContain(
      'settled already',
    );
    expect((await gry.get('/review')).text).not.toContain('name="choice"');
    expect((await gry.post('/review/answers', { choice, verb: 'keep' })).status).toBe(403);
    expect((await store.db.selectFrom('link').select('state').executeTakeFirst())?.state).toBe('conflict');
  });
});
