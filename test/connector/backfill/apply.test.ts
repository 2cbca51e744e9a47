/** Planned rows become links, each looked at once more before: the CRM changes between the scan and the application. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../providers/provider.ts';
import { acceptMatch } from '../../../src/connector/follow/match-property.ts';
import { endLink } from '../../../src/connector/links/links.ts';
import { readValue } from '../../../src/store/kv.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { ENGINES, newFolder } from '../../support/stores.ts';
import { type Fixture, startFixture } from './fixture.ts';

const A = 'CVR-1-10150817';
const B = 'CVR-1-12345674';

/** Does something once the scan is over, before the rows are read again. */
const between = (act: () => Promise<void> | void) => {
  let isDone = false;
  return (real: Connection): Partial<Connection> => ({
    async read(...args) {
      if (!isDone) await act();
      isDone = true;
      return real.read(...args);
    },
  });
};

describe.each(ENGINES)('applying on %s', (engine) => {
  it('links matched records, starts their monitoring, and leaves the rest', async () => {
    const { add, link, run, rows, links, service, outcome, store } = await startFixture({ engine });
    await store.write((tx) => acceptMatch(tx, 'hubspot', 'another', 1));
    const matched = add('DK 10 15 08 17');
    const linked = add('12345674');
    await link(linked, B);
    const none = add(null);
    expect((await run({ sendUpdate: true, trust: 'register' })).ended).toBe('done');
    expect(await rows()).toEqual({
      [matched]: 'matched link done',
      [linked]: 'linked skip planned',
      [none]: 'no-number skip planned',
    });
    expect(await links()).toEqual({
      [matched]: `${A} number register active`,
      [linked]: `${B} person crm active`,
    });
    expect(service.changes.toSorted()).toEqual([`add hubspot ${A} ${matched} +update`, `add hubspot ${B} ${linked}`]);
    // From now on links follow the property that they were made by.
    expect(await readValue(store.db, 'match:hubspot')).toBe('cvr_number');
    expect(await outcome()).toMatchObject({ linked: 1, observed: 1, refused: 0, person: 0 });
  });

  it('adds nothing when it is repeated', async () => {
    const { add, run, service } = await startFixture({ engine });
    for (let at = 0; at < 30; at++) add(cvrNumber(at));
    await run();
    await run();
    expect(service.changes).toHaveLength(30);
  });

  it('does not repeat a link that a person removed, unless a plan file says so', async () => {
    const { add, run, rows, links, store, service } = await startFixture({ engine });
    const [away, other] = [add('10150817'), add('12345674')];
    await run();
    const end = { provider: 'hubspot', state: 'removed', reason: 'by hand', now: Date.now() } as const;
    await store.write((tx) => endLink(tx, { ...end, recordId: away }));
    await store.write((tx) => endLink(tx, { ...end, recordId: other, origin: 'number' }));
    await run();
    expect(await rows()).toEqual({ [away]: 'removed skip planned', [other]: 'matched link done' });
    expect((await links())[away]).toBe(`${A} person crm removed`);
    expect(service.changes.filter((change) => change === `add hubspot ${A} ${away}`)).toHaveLength(1);
    const file = join(newFolder(), 'plan.csv');
    writeFileSync(file, `record;number;action\n${away};10150817;link\n`);
    await run({ mode: { kind: 'file', file } });
    expect((await links())[away]).toBe(`${A} number crm active`);
  });

  it('follows changes that people made in the CRM since the scan', async () => {
    const ids: Record<string, string> = {};
    const fixture: Fixture = await startFixture({
      engine,
      around: between(() => {
        const { emulator } = fixture;
        emulator.remove(ids['gone'] ?? '');
        emulator.merge(ids['survivor'] ?? '', ids['loser'] ?? '');
        emulator.edit(ids['changed'] ?? '', { cvr_number: '30000005' });
        emulator.edit(ids['emptied'] ?? '', { cvr_number: null });
        emulator.edit(ids['held'] ?? '', { about_us: 'ja' });
        emulator.edit(ids['twin'] ?? '', { cvr_number: `DK${cvrNumber(9)}` });
      }),
    });
    const { add, run, rows, links, note } = fixture;
    const names = ['gone', 'loser', 'changed', 'emptied', 'held', 'twin', 'stays'] as const;
    for (const [at, name] of names.entries()) ids[name] = add(cvrNumber(3 + at));
    ids['survivor'] = add(null);
    await run();
    const found = await rows();
    const named = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, found[id]]));
    expect(named).toEqual({
      gone: 'gone skip done',
      loser: 'moved skip done',
      changed: 'matched link done',
      emptied: 'no-number skip done',
      held: 'held skip done',
      twin: 'ambiguous skip done',
      stays: 'matched link done',
      survivor: expect.stringMatching(/link done|no-number/u),
    });
    expect(await note(ids['loser'] ?? '')).toContain('merged into record');
    const linked = await links();
    expect(linked[ids['changed'] ?? '']).toBe('CVR-1-30000005 number crm active');
    expect(linked[ids['stays'] ?? '']).toBe(`CVR-1-${cvrNumber(9)} number crm active`);
    const survivor = Object.keys(linked).filter((id) => linked[id]?.startsWith(`CVR-1-${cvrNumber(4)}`));
    expect([survivor.length, Object.keys(linked).length]).toEqual([1, 3]);
  });

  it('links the survivor of a merge that was made after the scan', async () => {
    const ids: string[] = [];
    let survivor = '';
    const fixture: Fixture = await startFixture({
      engine,
      around: between(() => {
        const [one = ''] = ids;
        // A record that no scan saw, and that takes up the planned one.
        survivor = fixture.emulator.merge(fixture.add(null), one);
      }),
    });
    ids.push(fixture.add('10150817'));
    await fixture.run();
    expect(await fixture.links()).toEqual({ [survivor]: `${A} number crm active` });
  });

  it('leaves companies that got another record meanwhile, or are linked elsewhere, to a person', async () => {
    const ids: string[] = [];
    const fixture: Fixture = await startFixture({
      engine,
      around: between(async () => {
        await fixture.link('77', A);
        await fixture.link(ids[1] ?? '', 'CVR-1-40000003');
      }),
    });
    ids.push(fixture.add('10150817'), fixture.add('12345674'));
    const [one = '', two = ''] = ids;
    await fixture.run();
    expect(await fixture.rows()).toEqual({ [one]: 'ambiguous skip done', [two]: 'differs skip done' });
    expect(await fixture.note(one)).toContain('record 77 stands for this company');
    expect(await fixture.outcome()).toMatchObject({ person: 2, linked: 0 });
  });
});

it('does the same in Salesforce', async () => {
  const ids: string[] = [];
  const fixture: Fixture = await startFixture({
    crm: 'salesforce',
    around: between(() => {
      const [gone = '', loser = '', survivor = ''] = ids;
      fixture.emulator.remove(gone);
      fixture.emulator.merge(survivor, loser);
    }),
  });
  ids.push(fixture.add('30000005'), fixture.add('12345674'), fixture.add(null), fixture.add('DK 10 15 08 17'));
  const [gone = '', loser = '', survivor = '', stays = ''] = ids;
  await fixture.run();
  expect(await fixture.rows()).toMatchObject({
    [gone]: 'gone skip done',
    [loser]: 'moved skip done',
    [stays]: 'matched link done',
  });
  expect((await fixture.links())[stays]).toBe(`${A} number crm active`);
  // A merge keeps the survivor's own blank, or takes the other's number: either way nothing else is linked.
  expect(Object.keys(await fixture.links()).filter((id) => id !== stays && id !== survivor)).toEqual([]);
});

/** Deletes, renumbers and merges records of the page that was scanned, and of those that were not. */
function upset(emulator: Fixture['emulator'], ids: readonly string[]): void {
  const merges = [
    [5, 6],
    [132, 133],
    [7, 134],
  ] as const;
  for (const at of [3, 130]) emulator.remove(ids[at] ?? '');
  for (const at of [4, 131]) emulator.edit(ids[at] ?? '', { cvr_number: cvrNumber(1_000 + at) });
  for (const [from, to] of merges) emulator.merge(ids[to] ?? '', ids[from] ?? '');
}

it('ends correctly if the CRM changes during the scan', async () => {
  const ids: string[] = [];
  let pages = 0;
  const fixture: Fixture = await startFixture({
    around: ({ scan }) => ({
      async scan(...args) {
        pages += 1;
        if (pages === 2) upset(fixture.emulator, ids);
        return scan(...args);
      },
    }),
  });
  for (let at = 0; at < 150; at++) ids.push(fixture.add(cvrNumber(at)));
  expect((await fixture.run()).ended).toBe('done');
  const live = new Map<string, string>();
  const merged = ['5', '6', '7', '132', '133', '134'].map((at) => ids[Number(at)]);
  for (const [at, id] of ids.entries()) {
    if ([3, 130].includes(at) || merged.includes(id)) continue;
    live.set(id, `CVR-1-${cvrNumber([4, 131].includes(at) ? 1_000 + at : at)} number crm active`);
  }
  const links = await fixture.links();
  const survivors = Object.keys(links).filter((id) => !live.has(id));
  expect(Object.fromEntries(Object.entries(links).filter(([id]) => live.has(id)))).toEqual(Object.fromEntries(live));
  for (const id of survivors) {
    const number = fixture.emulator.get(id)?.['cvr_number'];
    expect(links[id]).toBe(`CVR-1-${number} number crm active`);
  }
  expect(survivors).toHaveLength(3);
});

it('retries records that the CRM does not return, and finally leaves them to a person', async () => {
  const silent = new Map<string, number>();
  const fixture = await startFixture({
    around: (real) => ({
      async read(ids, ...rest) {
        const reads = await real.read(ids, ...rest);
        return reads.map((read) => {
          const left = silent.get(read.id) ?? 0;
          silent.set(read.id, left - 1);
          return left > 0 ? { kind: 'retry' as const, id: read.id, reason: 'locked by another' } : read;
        });
      },
    }),
  });
  const [once, ever, never] = [fixture.add('10150817'), fixture.add('12345674'), fixture.add('20000007')];
  silent.set(once, 1).set(ever, 99);
  await fixture.run();
  expect(await fixture.rows()).toEqual({
    [once]: 'matched link done',
    [ever]: 'matched link failed',
    [never]: 'matched link done',
  });
  expect(await fixture.note(ever)).toBe('locked by another');
  expect(await fixture.outcome()).toMatchObject({ linked: 2, failed: 1, person: 1 });
});

it('links by the numbers of the scan if the CRM cannot read the number back', async () => {
  const fixture = await startFixture({
    around: (real) => ({
      async read(...args) {
        const reads = await real.read(...args);
        return reads.map((read) => (read.kind === 'found' ? { ...read, properties: {} } : read));
      },
    }),
  });
  const id = fixture.add('10150817');
  await fixture.run();
  expect(await fixture.links()).toEqual({ [id]: `${A} number crm active` });
});

it('links up to the limit, and the rest in the next run', async () => {
  const { add, run, links, steps } = await startFixture();
  for (let at = 0; at < 250; at++) add(cvrNumber(at));
  expect((await run({ limit: 120, trust: 'register' })).ended).toBe('limited');
  expect(Object.keys(await links())).toHaveLength(120);
  const scans = steps.filter(({ phase }) => phase === 'scan').length;
  expect((await run({ limit: 130 })).ended).toBe('done');
  expect(new Set(Object.values(await links()).map((link) => link.split(' ')[2]))).toEqual(new Set(['register']));
  expect([Object.keys(await links()).length, steps.filter(({ phase }) => phase === 'scan').length]).toEqual([
    250,
    scans,
  ]);
});

it('counts refusals of the monitoring service', async () => {
  const { add, run, service, outcome } = await startFixture();
  add('10150817');
  add('12345674');
  service.refuse(A, 404, 'No such company');
  expect((await run()).ended).toBe('done');
  expect(await outcome()).toMatchObject({ linked: 2, observed: 1, refused: 1 });
});

it('discards an unfinished apply only on request', async () => {
  const { add, run, links } = await startFixture();
  for (let at = 0; at < 3; at++) add(cvrNumber(at));
  await run({ limit: 1 });
  await expect(run({ mode: { kind: 'look' } })).rejects.toThrow(/go on with cvrsync backfill hubspot.*--restart/u);
  expect((await run({ mode: { kind: 'look' }, restart: true })).ended).toBe('planned');
  expect(Object.keys(await links())).toHaveLength(1);
});
