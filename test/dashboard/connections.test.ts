/** The pages of connections. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { playStory } from './story.ts';

describe('the page of a connection', () => {
  it('shows the account, its calls, and what is to be said of each mapped property', async () => {
    const { signedIn } = await playStory({ connections: { hubspot: { fields: { name: 'nowhere' } } } });
    const gry = await signedIn('viewer');
    expect((await gry.get('/connections')).text).toContain('href="/connections/hubspot"');
    const { text } = await gry.get('/connections/hubspot');
    expect(text).toMatch(/<code>nowhere<\/code>[\s\S]*the CRM has no such property/);
    expect(text).toMatch(/<code>phone<\/code>[\s\S]*fits/);
    expect(text).not.toContain('/try"');
    expect((await gry.post('/connections/hubspot/try', {})).status).toBe(403);
    expect((await gry.get('/connections/none')).status).toBe(404);
  });

  it('tries the credentials now, and says within three seconds where the CRM does not answer', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('operator');
    await ida.get('/connections/hubspot');
    expect((await ida.post('/connections/hubspot/try', {})).text).toMatch(
      /class="state ok"><span lang="en">[^<]+\(\d+\)/,
    );
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const asked = performance.now();
    expect((await ida.post('/connections/hubspot/try', {})).text).toMatch(
      /no answer within 3 s|did not answer in time/,
    );
    expect(performance.now() - asked).toBeLessThan(10_000);
    const audit = await readAudit(fixture.app.store.db, { action: 'connection.try' }, 5);
    expect(audit.map(({ subject, result }) => `${subject} ${result}`)).toEqual(['hubspot failed', 'hubspot done']);
  });
});
