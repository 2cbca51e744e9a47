/** Parents all the way: the webhook, the daemon, the emulated CRMs. */
import { expect, test } from 'vitest';
import { payloadOf, type Updates } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { CRMS, ENTITY, OTHER, reported } from '../../faults/company.ts';
import { handClock } from '../../support/clock.ts';
import { startFixture } from '../../support/fixture.ts';

const ON = { hubspot: { parent: true }, salesforce: { parent: true } };
const owner = { entityId: OTHER, name: 'Luftkastel Holding ApS', type: 'Company', ownership: '66.67-90' };

/** The whole company with this one owner, as after `sendUpdate`. */
function ownedPayload() {
  const { ownership: _, ...updates } = samplePayload({ now: 0 }).updates;
  const whole: Updates = { ...updates, ownership: { added: [owner], removed: [], changed: [] } };
  return payloadOf(ENTITY, '2026-03-02T08:00:00.000Z', whole);
}

test.each(CRMS)('$crm: the majority owner becomes the parent, and is removed when it sells', async ({ crm, name }) => {
  const clock = handClock();
  const fixture = await startFixture({ clock, connections: ON });
  const child = await fixture.addLinked(crm, ENTITY, { [name]: 'A ApS' });
  const parent = await fixture.addLinked(crm, OTHER, { [name]: 'B ApS' });
  const fresh = async () => {
    await fixture.forward(1_000);
    return fixture[crm].parent(child);
  };
  const POLL = { timeout: 120_000, interval: 20 };
  // The answer to the write is lost: it is ours all the same.
  const write = crm === 'hubspot' ? 'PUT .*/associations/' : 'POST .*/composite$';
  fixture[crm].fault({ match: write, action: { kind: 'reset', applied: true } });
  await fixture.post(ownedPayload());
  await expect.poll(fresh, POLL).toBe(parent);
  await fixture.atRest();
  await fixture.settled();
  await fixture.post(reported({ ownership: { added: [], removed: [owner], changed: [] } }, 9));
  await expect.poll(fresh, POLL).toBeNull();
  await expect
    .poll(async () => (await fixture.history(child)).filter(({ rule }) => rule === 'parent').at(-1)?.detail, POLL)
    .toBe(`parent ${parent} ended: no company owns more than half of ${ENTITY} any more`);
});
