/** What a reconcile finds, one kind of difference after the other, and what it does about each. */
import { describe, expect, it } from 'vitest';
import { endLink } from '../../../src/connector/links/links.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { LINKED_AT, MATCH, numberAt, occurring, setComparison } from './comparison.ts';

const [A, B, C] = [numberAt(1), numberAt(2), numberAt(3)];
const idOf = (number: string): string => `CVR-1-${number}`;

describe.each(SUITE_ENGINES)('a reconcile on %s', (engine) => {
  it('finds nothing if the three lists agree, and leaves no rows behind', async () => {
    const fixture = await setComparison({ engine });
    for (const [at, record] of ['1', '2', '3', '4', '5'].entries()) await fixture.agree(record, numberAt(at));
    fixture.records.set('6', { [MATCH]: null });
    const { found } = await fixture.reconcile();
    expect(found).toMatchObject({ records: 6, links: 5, items: 5, doubts: [] });
    expect(occurring(found)).toEqual({});
    expect(await fixture.lanes('heal:crm')).toEqual([]);
    expect(await fixture.lanes('monitoring')).toEqual([]);
    expect(fixture.service.changes).toEqual([]);
  });

  it('reads records that the CRM does not list, with another number, or that were restored', async () => {
    const fixture = await setComparison({ engine });
    for (const record of ['deleted', 'blanked', 'changed', 'restored', 'fine'])
      await fixture.agree(record, numberAt(record.length));
    fixture.records.delete('deleted');
    fixture.records.set('blanked', { [MATCH]: null });
    fixture.records.set('changed', { [MATCH]: numberAt(99) });
    await fixture.link('restored', idOf(numberAt(8)), { state: 'gone', desired: 'off', observed: 'off' });
    fixture.service.take('crm', idOf(numberAt(8)), 'restored');
    const { found } = await fixture.reconcile();
    expect(occurring(found)).toEqual({ absent: 1, number: 2, back: 1 });
    expect(await fixture.lanes('heal:crm')).toEqual(['blanked', 'changed', 'deleted', 'restored']);
    const links = await fixture.store.db
      .selectFrom('link')
      .select(['record_id', 'state'])
      .orderBy('record_id')
      .execute();
    expect(links.map(({ state }) => state)).toEqual(['active', 'active', 'active', 'active', 'gone']);
  });

  it('repeats the monitoring of missing items, and the end of surplus ones', async () => {
    const fixture = await setComparison({ engine });
    const [, lost, ended] = [await fixture.agree('1', A), await fixture.agree('2', B), await fixture.agree('3', C)];
    for (const record of ['4', '5', '6']) await fixture.agree(record, numberAt(Number(record)));
    fixture.service.take('crm', lost, '2');
    await fixture.link('3', ended, { state: 'removed', origin: 'person', desired: 'off', observed: 'off' });
    const { found } = await fixture.reconcile();
    expect(occurring(found)).toEqual({ unmonitored: 1, undesired: 1 });
    expect(await fixture.lanes('monitoring')).toEqual(['crm:2', 'crm:3']);
    const links = await fixture.store.db
      .selectFrom('link')
      .select(['record_id', 'observed'])
      .orderBy('record_id')
      .execute();
    expect(links.map(({ observed }) => observed)).toEqual(['on', 'unknown', 'unknown', 'on', 'on', 'on']);
    expect(occurring(await fixture.survey())).toEqual({});
  });

  it('removes items without a link only if a person requests it', async () => {
    const fixture = await setComparison({ engine });
    await fixture.agree('1', A);
    fixture.service.put('crm', idOf(B), '1');
    fixture.service.put('crm', idOf(C), 'nobody');
    const daemon = await fixture.reconcile();
    expect(occurring(daemon.found)).toEqual({ leftover: 1, stranger: 1 });
    expect(fixture.service.changes).toEqual([]);
    const person = await fixture.reconcile({ person: true });
    expect(person.repaired).toEqual({ counts: { leftover: 1, stranger: 1 }, refused: [] });
    expect(fixture.service.changes.toSorted()).toEqual([`remove crm ${idOf(B)} 1`, `remove crm ${idOf(C)} nobody`]);
    expect(occurring(await fixture.survey())).toEqual({});
  });

  it('never removes an item whose record holds its number, because the link may be missing', async () => {
    const fixture = await setComparison({ engine });
    await fixture.agree('1', A);
    fixture.records.set('2', { [MATCH]: `DK ${B}` });
    fixture.service.put('crm', idOf(B), '2');
    const { found, repaired } = await fixture.reconcile({ person: true });
    expect(occurring(found)).toEqual({ loose: 1 });
    expect(repaired.counts).toEqual({});
    expect(fixture.service.changes).toEqual([]);
  });

  it('reads unlinked records if autoLink is on, except held ones and numbers of several records', async () => {
    const fixture = await setComparison({ engine, crm: { autoLink: true, hold: 'hold' } });
    await fixture.agree('1', A);
    fixture.records.set('2', { [MATCH]: B });
    fixture.records.set('3', { [MATCH]: A });
    fixture.records.set('4', { [MATCH]: C });
    fixture.records.set('5', { [MATCH]: C });
    fixture.records.set('6', { [MATCH]: numberAt(6), hold: 'yes' });
    fixture.records.set('7', { [MATCH]: 'none' });
    const { found } = await fixture.reconcile();
    expect(occurring(found)).toEqual({ unlinked: 1 });
    expect(await fixture.lanes('heal:crm')).toEqual(['2']);
  });

  it('skips links that are newer than its lists, or whose desired state is being sent', async () => {
    const fixture = await setComparison({ engine });
    for (const record of ['1', '2', '3', '4', '5']) await fixture.agree(record, numberAt(Number(record)));
    fixture.records.delete('1');
    await fixture.link('1', idOf(numberAt(1)), { updated_at: fixture.at - 5_000 });
    fixture.service.take('crm', idOf(numberAt(2)), '2');
    fixture.beforePage = async () => {
      // A person ends a link while the CRM is scanned: its item was read before.
      const end = { provider: 'crm', recordId: '3', state: 'removed', reason: 'asked', now: fixture.at } as const;
      await fixture.store.write((tx) => endLink(tx, end));
      await fixture.store.write((tx) => tx.updateTable('lane').set({ fence: 1 }).where('key', '=', 'crm:3').execute());
      return undefined;
    };
    const { found } = await fixture.reconcile();
    expect(occurring(found)).toEqual({ unmonitored: 1 });
    expect(await fixture.lanes('heal:crm')).toEqual([]);
  });

  it('leaves decisions to a person', async () => {
    const fixture = await setComparison({ engine });
    await fixture.agree('1', A, { state: 'conflict', reason: 'two companies' });
    await fixture.agree('2', B, { observed: 'refused', observed_error: 'No such company' });
    fixture.service.take('crm', idOf(B), '2');
    const { found, repaired } = await fixture.reconcile({ person: true, implausible: true });
    expect(occurring(found)).toEqual({ refused: 1, conflict: 1 });
    expect(repaired.counts).toEqual({});
  });

  it("treats an accepted number as no difference, and a number that changed since as the conflict's end", async () => {
    const fixture = await setComparison({ engine });
    await fixture.agree('1', A, { origin: 'person', mismatch: idOf(B) });
    fixture.records.set('1', { [MATCH]: B });
    await fixture.agree('2', C, { origin: 'person', state: 'conflict', mismatch: idOf(B) });
    const { found } = await fixture.reconcile();
    expect(occurring(found)).toEqual({ settled: 1 });
    expect(await fixture.lanes('heal:crm')).toEqual(['2']);
  });

  it('reads only the items of its own provider, in any spelling of the service', async () => {
    const fixture = await setComparison({ engine, crm: { name: 'HubSpot' } });
    fixture.records.set('1', { [MATCH]: A });
    await fixture.link('1', idOf(A));
    fixture.service.put('hubspot', idOf(A), '1');
    fixture.service.put('salesforce', idOf(B), '2');
    expect(occurring(await fixture.survey())).toEqual({});
    // Once another connection of that very name is linked here, the job is that one's.
    await fixture.store.write((tx) => tx.updateTable('link').set({ provider: 'hubspot' }).execute());
    await fixture.link('9', idOf(C), { updated_at: LINKED_AT });
    expect(await fixture.survey()).toMatchObject({ items: 0 });
  });
});
