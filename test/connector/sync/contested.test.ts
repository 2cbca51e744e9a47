/** Records whose number was changed in the CRM since it was last asked: an event of their old company is not theirs. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { payloadOf, type Updates, type Writable } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { CRMS, renamed, reported } from '../../faults/company.ts';
import { handClock } from '../../support/clock.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { startFixture } from '../../support/fixture.ts';
import { ENGINES } from '../../support/stores.ts';

const [A, B, C] = [cvrNumber(1), cvrNumber(2), cvrNumber(3)];
const [OLD, NEW, OWNER] = [companyEntityId(A), companyEntityId(B), companyEntityId(C)];
const owner = { entityId: OWNER, name: 'Ejer ApS', type: 'Company', ownership: '100' };
const { ownership: _, ...updates } = samplePayload({ now: 0 }).updates;
const whole: Updates = { ...updates, ownership: { added: [owner], removed: [], changed: [] } };
const OWNED = payloadOf(OLD, '2026-03-02T09:00:00.000Z', whole);
const BANKRUPT = reported({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 9, OLD);
const RENAMED = renamed('Gammel ApS', 'Gammel og Søn ApS', 9, OLD);
const POLL = { timeout: 120_000, interval: 20 };
const MATCH = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' };
// Each engine and each CRM once: neither knows of the other.
const CASES = CRMS.map((each, index) => ({ engine: ENGINES[index] ?? 'sqlite', ...each }));

interface Case {
  readonly origin: 'number' | 'person';
  /** What the record holds in place of its number. */
  readonly number: string | null;
  /** What is told of its old company then. */
  readonly changed: Writable;
}

describe.each(CASES)(
  'a record of $crm on $engine that got another number meanwhile',
  ({ crm, engine, name: theirs, own }) => {
    /** A record that holds its company's name, and whose number is another company's by now. */
    async function renumbered({ origin = 'number', number = B, changed = RENAMED }: Partial<Case> = {}) {
      const clock = handClock();
      const connection = { match: { property: MATCH[crm] }, notes: ['status'], parent: true };
      const fixture = await startFixture({ engine, clock, connections: { [crm]: connection } });
      const owner = await fixture.addLinked(crm, OWNER, { [theirs]: 'Ejer ApS', [MATCH[crm]]: C });
      const id = fixture[crm].add({ [theirs]: 'En kunde', [MATCH[crm]]: A });
      await fixture.app.store.write((tx) =>
        linkRecord(tx, { provider: crm, recordId: id, entity: OLD, origin, sendUpdate: false, now: clock.now() }),
      );
      await fixture.post(renamed(null, 'Gammel ApS', 8, OLD));
      await fixture.post(renamed(null, 'Ny ApS', 8, NEW));
      await fixture.settled();
      expect(fixture[crm].get(id)?.[own]).toBe('Gammel ApS');
      fixture[crm].edit(id, { [MATCH[crm]]: number });
      await fixture.post(changed);
      await fixture.settled();
      const name = () => fixture[crm].get(id)?.[own];
      const link = () =>
        fixture.app.store.db
          .selectFrom('link')
          .select(['entity', 'state', 'reason'])
          .where('record_id', '=', id)
          .executeTakeFirst();
      return { fixture, id, owner, name, link };
    }

    it('gets no values of its old company, and the known values of the new one', async () => {
      const { fixture, name, link, id } = await renumbered();
      await fixture.atRest();
      expect([name(), await link()]).toMatchObject(['Ny ApS', { entity: NEW, state: 'active' }]);
      expect((await fixture.history(id)).map(({ now }) => now)).not.toContain('Gammel og Søn ApS');
    });

    it('waits for a person if it was linked by hand, and is written once they keep the link', async () => {
      const { fixture, name, link, id } = await renumbered({ origin: 'person' });
      expect([name(), await link()]).toMatchObject(['Gammel ApS', { entity: OLD, state: 'conflict' }]);
      expect(await fixture.cli('review', 'accept', `link/${crm}/${id}`)).toMatchObject({ code: 0 });
      await fixture.atRest();
      expect([name(), await link()]).toMatchObject(['Gammel og Søn ApS', { entity: OLD, state: 'active' }]);
    });

    it('is not written, and loses its link, if the number was removed', async () => {
      const { name, link } = await renumbered({ number: null });
      expect([name(), await link()]).toMatchObject(['Gammel ApS', { entity: OLD, state: 'removed' }]);
    });

    it('gets no note of its old company', async () => {
      const { fixture, id } = await renumbered({ changed: BANKRUPT });
      const states = async () => {
        await fixture.forward(5_000);
        return (await fixture.app.store.db.selectFrom('note').select('state').execute()).map(({ state }) => state);
      };
      await expect.poll(states, POLL).not.toContain('due');
      expect(await states()).toEqual(['dropped']);
      expect(fixture[crm].notes(id)).toEqual([]);
    });

    it('gets no parent of its old company', async () => {
      const { fixture, id } = await renumbered({ changed: OWNED });
      const lanes = async () => {
        await fixture.forward(5_000);
        return fixture.app.store.db.selectFrom('lane').select('key').where('queue', '=', `parent:${crm}`).execute();
      };
      await expect.poll(lanes, POLL).toEqual([]);
      expect(fixture[crm].parent(id) ?? null).toBe(null);
    });

    it('gets note and parent once a person keeps its link', async () => {
      const { fixture, id, owner } = await renumbered({ origin: 'person', changed: BANKRUPT });
      await fixture.post(OWNED);
      await fixture.settled();
      expect([fixture[crm].notes(id), fixture[crm].parent(id) ?? null]).toEqual([[], null]);
      expect(await fixture.cli('review', 'accept', `link/${crm}/${id}`)).toMatchObject({ code: 0 });
      const given = async () => {
        await fixture.forward(5_000);
        return [fixture[crm].notes(id).length, fixture[crm].parent(id)];
      };
      await expect.poll(given, POLL).toEqual([1, owner]);
    });

    it('becomes no parent for its old company', async () => {
      const { fixture, id, owner } = await renumbered({ number: A, changed: RENAMED });
      fixture[crm].edit(owner, { [MATCH[crm]]: B });
      await fixture.post(OWNED);
      const link = async () => {
        await fixture.forward(5_000);
        return fixture.app.store.db.selectFrom('link').select('state').where('record_id', '=', owner).execute();
      };
      await expect.poll(link, POLL).toEqual([{ state: 'conflict' }]);
      await fixture.settled();
      expect(fixture[crm].parent(id) ?? null).toBe(null);
    });
  },
);
