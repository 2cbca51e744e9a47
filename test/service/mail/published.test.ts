import { expect, test } from 'vitest';
import { publish } from '../../../src/service/publish/publish.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { changed, made, NOW, RENAMED_AND_MOVED } from '../monitored.ts';
import { mailWorker } from './fixture.ts';
import { startMailServer } from './mail-server.ts';

test.each(SUITE_ENGINES)('a change is mailed to the monitors that selected it, on %s', async (engine) => {
  const store = await newStore(engine);
  const office = await startMailServer();
  await made(store, {
    target: 'all',
    name: 'Navne',
    events: ['name', 'ownership'],
    emails: ['bo@example.dk'],
    mailFrequency: 'immediate',
  });
  await made(store, { target: 'all', name: 'Slukket', enabled: false, emails: ['ida@example.dk'] });
  await made(store, { target: 'all', name: 'Dagligt', emails: ['eva@example.dk'], mailFrequency: 'daily' });
  const owner = { entityId: 'CVR-3-4000099001', name: 'Prøve Opdigtsen', type: 'Person', ownership: '15-20' };
  const change = changed({
    updates: { ...RENAMED_AND_MOVED, ownership: { added: [], removed: [], changed: [owner] } },
    formerShares: { [owner.entityId]: '10-15' },
  });
  await store.write((tx) => publish(tx, [change], { now: NOW }));
  const { worker } = mailWorker(store, office.url, () => NOW);
  await worker.drained();
  expect(office.mails.map(({ to }) => to.join())).toEqual(['bo@example.dk']);
  const [mail] = office.mails;
  expect(mail?.headers.get('subject')).toBe('Havblik Handel ApS: Navn, Legale ejere');
  expect(mail?.text).toContain('Navn: Havblik ApS → Havblik Handel ApS');
  expect(mail?.text).toContain('Prøve Opdigtsen: 10-15 % → 15-20 %');
  expect(mail?.text).not.toContain('havblik.example');
  const [lane, ...more] = await store.db
    .selectFrom('lane')
    .select(['key', 'due_at'])
    .where('queue', '=', 'mail')
    .execute();
  expect(more).toEqual([]);
  expect(lane?.key).toMatch(/ eva@example\.dk$/);
  expect(lane?.due_at).toBe(Date.parse('2026-09-02T05:00:00Z'));
});

test.each(SUITE_ENGINES)(
  'a waiting mail names no beneficial owner once the legal basis is gone, on %s',
  async (engine) => {
    const store = await newStore(engine);
    const office = await startMailServer();
    await made(store, { target: 'all', emails: ['bo@example.dk'], mailFrequency: 'immediate' });
    await made(store, {
      target: 'all',
      events: ['trueOwnership'],
      emails: ['eva@example.dk'],
      mailFrequency: 'immediate',
    });
    const owner = { entityId: 'CVR-3-4000099001', name: 'Prøve Opdigtsen', type: 'Person', ownership: '50' };
    const trueOwnership = { added: [owner], removed: [], changed: [] };
    const change = changed({ updates: { ...RENAMED_AND_MOVED, trueOwnership } });
    await store.write((tx) => publish(tx, [change], { now: NOW, beneficialOwners: true }));
    const { worker } = mailWorker(store, office.url, () => NOW, { beneficialOwners: false });
    await worker.drained();
    expect(office.mails.map(({ to }) => to.join())).toEqual(['bo@example.dk']);
    expect(office.mails[0]?.text).toContain('Navn: Havblik ApS → Havblik Handel ApS');
    expect(office.mails[0]?.text).not.toContain(owner.name);
    const rows = await store.db
      .selectFrom('mail')
      .select(['recipient', 'error'])
      .where('failed_at', 'is not', null)
      .execute();
    expect(rows).toEqual([{ recipient: 'eva@example.dk', error: expect.stringContaining('may no longer be sent') }]);
  },
);
