/** The page that waits for the first event of another monitoring service. */
import { expect, it } from 'vitest';
import { startFixture } from '../../support/fixture.ts';
import { tokenOf } from '../story.ts';
import { newVisitor } from '../visitor.ts';

it('waits for the first event, and says when it arrived', async () => {
  const fixture = await startFixture();
  const ida = newVisitor(fixture.app.adminUrl);
  expect((await ida.get('/first-event')).status).toBe(303);
  await ida.signIn(await tokenOf(fixture, 'operator'));
  const waiting = (await ida.get('/first-event')).text;
  expect(waiting).toContain('Waiting for the first event');
  expect(waiting).toContain('/webhook</code>');
  expect(waiting).toContain('data-live="soon"');
  const name = { before: 'Birk ApS', after: 'Birk Byg ApS' };
  await fixture.post({ entityId: 'CVR-1-12345674', timestamp: '2026-03-01T09:00:00.000Z', updates: { name } });
  expect((await ida.get('/first-event')).text).toContain('The first event was received');
});
