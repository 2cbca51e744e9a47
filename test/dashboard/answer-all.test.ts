/** Answers to all that a filter finds, given on the review page: with what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { SUITE_ENGINES } from '../support/stores.ts';
import { COMPANY, HOSTILE, PERSON, playStory } from './story.ts';
import { startPages, type Visitor } from './visitor.ts';

const OTHER = 'CVR-1-10150817';

/** The page of a run once it is at this point. */
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

describe.each(SUITE_ENGINES)('all differences of a property, on %s', (engine) => {
  it('are listed and accepted: the CRM gets the values of the register, except those that changed meanwhile', async () => {
    const { fixture, records, signedIn } = await playStory({ engine });
    const second = await fixture.addLinked('hubspot', OTHER, { name: 'Nord', phone: '+4512121212' });
    const third = await fixture.addLinked('hubspot', 'CVR-1-10150833', { name: 'Syd', phone: '+4534343434' });
    for (const entityId of [OTHER, 'CVR-1-10150833'])
      await fixture.post({
        entityId,
        timestamp: '2026-03-02T09:00:00.000Z',
        updates: { phoneNumber: { before: '11111111', after: '22222222' } },
      });
    await fixture.settled();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const list = await ida.get('/inbox?kind=difference&provider=hubspot&property=phone');
    expect(list.text).toContain('formaction="/runs/answers"');
    const filter = { kind: 'difference', provider: 'hubspot', property: 'phone' };
    const asked = await ida.post('/runs/answers', { ...filter, verb: 'accept-difference' });
    const path = String(asked.headers['location']);
    expect(path).toMatch(/^\/runs\/\d+$/);
    const plan = await reached(ida, path, 'Ready: nothing was written yet');
    expect(plan).toContain('Write the register’s value: 3 entries');
    expect(plan).toContain(`hubspot:${second} phone`);
    expect(fixture.hubspot.get(second)).toMatchObject({ phone: '+4512121212' });

    await fixture.post({
      entityId: 'CVR-1-10150833',
      timestamp: '2026-03-03T09:00:00.000Z',
      updates: { phoneNumber: { before: '22222222', after: '33333333' } },
    });
    await fixture.settled();
    expect([(await ida.post(`${path}/confirm`, {})).status, (await ida.post(`${path}/confirm`, {})).status]).toEqual([
      303, 303,
    ]);
    const done = await reached(ida, path, 'Done');
    expect(done).toContain('changed since, skipped');
    await fixture.settled();
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ phone: '+4530405060' });
    expect(fixture.hubspot.get(second)).toMatchObject({ phone: '+4522222222' });
    expect(fixture.hubspot.get(third)).toMatchObject({ phone: '+4534343434' });
    expect((await ida.get('/inbox')).text).toContain(`href="${path}"`);
    expect((await ida.get('/audit?action=review.accept')).text).toContain('done; 2 done, 1 changed');
    expect((await gry.get(path)).text).not.toContain('+4512121212');
  });
});

describe('an answer to all', () => {
  it('is allowed for operators, for one kind, and for answers that every entry accepts', async () => {
    const { store, signedIn } = await startPages();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    await store.write((tx) =>
      tx
        .insertInto('quarantine')
        .values({ source: 'webhook', reason: HOSTILE, subject: null, received_at: 1, body: 'x' } as never)
        .execute(),
    );
    expect((await ida.get('/inbox?kind=body')).text).toContain(
      'value="drop-body" formaction="/runs/answers">Delete the webhook’s copy …',
    );
    expect((await ida.get('/inbox')).text).not.toContain('formaction="/runs/answers"');
    expect((await gry.get('/inbox?kind=body')).text).not.toContain('formaction="/runs/answers"');
    for (const wrong of [
      { kind: '', verb: 'retry-lane' },
      { kind: 'body', verb: 'retry-lane' },
      { kind: 'lane', verb: 'accept-limit' },
      { kind: 'x', verb: 'y' },
    ])
      expect((await ida.post('/runs/answers', wrong)).status).toBe(422);
    expect((await gry.post('/runs/answers', { kind: 'body', verb: 'drop-body' })).status).toBe(403);
    for (const path of ['/runs/999', '/runs/x']) expect((await ida.get(path)).status).toBe(404);
    const asked = await ida.post('/runs/answers', { kind: 'body', verb: 'drop-body' });
    const path = String(asked.headers['location']);
    expect((await ida.get(path)).text).toContain('The preview begins');
    // A plan that is not ready is not begun.
    expect((await ida.post(`${path}/confirm`, {})).status).toBe(303);
    expect((await ida.get(path)).text).toContain('The preview begins');
    await ida.post(`${path}/cancel`, {});
    expect((await ida.get(path)).text).toContain('Cancelled: nothing was written');
  });
});

describe('the list of review as a file', () => {
  it('contains every entry of the filter, no formulas, and for viewers no persons', async () => {
    const { fixture, signedIn, records } = await playStory({
      connections: { hubspot: { persons: true, fields: { board: 'description', purpose: false } } },
    });
    await fixture.app.store.write((tx) =>
      tx
        .insertInto('property_state')
        .values({
          provider: 'hubspot',
          record_id: records.hubspot,
          property: 'description',
          kept: JSON.stringify(PERSON),
          offered: '"=1+1"',
          kept_at: 1,
        } as never)
        .execute(),
    );
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const file = await ida.get('/inbox.csv?kind=difference');
    expect(file.headers['content-disposition']).toContain('review.csv');
    const rows = file.text.trim().split('\r\n');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toContain('id;kind;since;about;reason;answers');
    expect(file.text).toContain(`difference/hubspot/${records.hubspot}/phone;difference;`);
    expect(file.text).toContain(`of ${COMPANY}`);
    expect(file.text).toContain(PERSON);
    const masked = (await gry.get('/inbox.csv?kind=difference')).text;
    expect(masked).not.toContain(PERSON);
    expect(masked).toContain('+4599999999');
    expect((await ida.get('/inbox?kind=difference')).text).toContain('href="/inbox.csv?kind=difference"');
    expect((await ida.get('/inbox.csv')).text.trim().split('\r\n')).toHaveLength(1);
  });
});
