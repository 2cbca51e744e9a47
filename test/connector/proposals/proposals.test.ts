/** A changed configuration that would overwrite what people wrote: it waits until somebody accepts it. */
import { describe, expect, it } from 'vitest';
import { conditionsOf } from '../../../src/alerts/conditions.ts';
import { observe } from '../../../src/alerts/observe.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { reported } from '../../faults/company.ts';
import { daemonWith } from '../../support/daemon.ts';
import { configFor, postWebhook, watchStore } from '../../support/fixture.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { ALWAYS, handwritten, type Started, TRACKED } from '../rules/fixture.ts';

const HAND = ['Kunde 0', 'Kunde 1', 'Kunde 2'];
const REGISTER = ['B ApS', 'B ApS', 'B ApS'];

const conditions = async ({ app: { store } }: Started): Promise<readonly string[]> =>
  conditionsOf(await observe(store, Date.now(), 100), { reviewOver: 100, registerBehindMinutes: 60 }, Date.now()).map(
    ({ what }) => what,
  );

describe.each(SUITE_ENGINES)('a policy that becomes `always` (%s)', (engine) => {
  it('overwrites nothing before `config apply`, is reported with its count, and then applies without a restart', async () => {
    const { ids, start, names } = await handwritten(engine);
    const second = await start(ALWAYS);
    await second.app.connector?.drained();
    expect(names()).toEqual(HAND);
    const told = second.lines.filter(({ msg }) => msg.includes('waits to be accepted'));
    expect(told).toMatchObject([{ provider: 'hubspot', edits: 3, advice: expect.stringContaining('config apply') }]);
    expect(told[0]?.examples).toContain(`hubspot:${ids[0]} name`);
    expect(await conditions(second)).toEqual([
      'A changed configuration of hubspot waits to be accepted: it would write 3 values and replace 3, 3 of them written by people',
    ]);
    const check = await second.cli('--json', 'check');
    expect(check.stdout).toContain('it would write 3 values, replace 3, 3 of them written by people');
    expect(check.stdout).toContain(`hubspot:${ids[0]} name: \\"Kunde 0\\" → \\"B ApS\\" (a person wrote it)`);
    const diff = await second.cli('config', 'diff');
    expect(diff.code).toBe(3);
    expect(diff.stdout).toContain('name → name: tracked → always');
    expect(names()).toEqual(HAND);

    expect((await second.cli('config', 'apply')).code).toBe(2);
    expect(names()).toEqual(HAND);
    const applied = await second.cli('config', 'apply', 'hubspot', '--yes');
    expect(applied.code).toBe(0);
    await expect.poll(names, { timeout: 30_000 }).toEqual(REGISTER);
    expect(await conditions(second)).toEqual([]);
    expect((await second.cli('config', 'diff')).code).toBe(0);
    const [entry] = await readAudit(second.app.store.db, { action: 'config.apply' }, 5);
    expect(entry).toMatchObject({ subject: 'hubspot', via: 'command', result: 'accepted' });
    await second.app.close(1_000);
    const third = await start(ALWAYS);
    await third.app.connector?.drained();
    expect(third.lines.filter(({ msg }) => msg.includes('waits to be accepted'))).toEqual([]);
  });

  it('is accepted by a start with --accept-config, and needs no acceptance in a new store', async () => {
    const { start, names } = await handwritten(engine);
    const actor = { kind: 'user', name: 'deploy' } as const;
    const second = await start(ALWAYS, { rulesAcceptedBy: actor });
    await second.app.connector?.drained();
    expect(names()).toEqual(REGISTER);
    const entries = await readAudit(second.app.store.db, { action: 'config.apply' }, 5);
    expect(entries).toMatchObject([{ actor, subject: 'hubspot' }]);
    expect(await conditions(second)).toEqual([]);
  });

  it('is withdrawn once the file is reverted', async () => {
    const { start, names } = await handwritten(engine);
    const second = await start(ALWAYS);
    await second.app.connector?.drained();
    expect(await conditions(second)).toHaveLength(1);
    await second.app.close(1_000);
    const third = await start(TRACKED);
    await third.app.connector?.drained();
    expect(await conditions(third)).toEqual([]);
    expect(names()).toEqual(HAND);
  });
});

describe('a newly mapped property', () => {
  const status = (policy: string) => ({
    hubspot: { fields: { ...TRACKED.hubspot.fields, status: { property: 'selskabsstatus', policy } } },
  });

  it.each(SUITE_ENGINES)('waits if it would fill blanks, and a rollback withdraws it (%s)', async (engine) => {
    const { crms, ids, start } = await handwritten(engine, 2);
    const second = await start({ hubspot: { fields: { name: ['name', 'selskabsstatus'] } } });
    await second.app.connector?.drained();
    const held = () => crms.hubspot.get(ids[0] ?? '');
    expect(await conditions(second)).toEqual([
      'A changed configuration of hubspot waits to be accepted: it would write 2 values and replace 0, 0 of them written by people',
    ]);
    expect(held()).toMatchObject({ selskabsstatus: null });
    expect((await second.cli('config', 'apply', '--yes')).code).toBe(0);
    await expect.poll(held, { timeout: 30_000 }).toMatchObject({ selskabsstatus: 'B ApS' });
  });

  it.each(SUITE_ENGINES)('needs no acceptance if the register has no value for it (%s)', async (engine) => {
    const { crms, ids, start } = await handwritten(engine, 1);
    const second = await start(status('always'));
    await second.app.connector?.drained();
    expect(await conditions(second)).toEqual([]);
    const entity = await second.app.store.db.selectFrom('link').select('entity').executeTakeFirstOrThrow();
    const event = reported({ status: { before: null, after: 'NORMAL' } }, 9, entity.entity);
    await postWebhook(`${second.app.url}/webhook`, event);
    await second.app.connector?.drained();
    expect(crms.hubspot.get(ids[0] ?? '')).toMatchObject({ selskabsstatus: 'NORMAL' });
  });

  it('waits if people wrote values for which the register has none yet', async () => {
    const { crms, ids, start } = await handwritten('sqlite', 2);
    crms.hubspot.edit(ids[1] ?? '', { selskabsstatus: 'min kunde' });
    const second = await start(status('always'));
    await second.app.connector?.drained();
    expect(await conditions(second)).toHaveLength(1);
    const { entity } = await second.app.store.db
      .selectFrom('link')
      .select('entity')
      .where('record_id', '=', ids[1] ?? '')
      .executeTakeFirstOrThrow();
    const event = reported({ status: { before: null, after: 'NORMAL' } }, 9, entity);
    await postWebhook(`${second.app.url}/webhook`, event);
    await second.app.connector?.drained();
    expect(crms.hubspot.get(ids[1] ?? '')).toMatchObject({ selskabsstatus: 'min kunde' });
    expect((await second.cli('config', 'diff')).stdout).toContain('selskabsstatus: 0 written, 0 replaced');
  });
});

it('a stricter policy applies from the start, beside a waiting change', async () => {
  const { crms, ids, start } = await handwritten('sqlite', 1);
  const fields = { name: { property: 'name', policy: 'always' }, phone: { property: 'phone', policy: 'never' } };
  const second = await start({ hubspot: { fields } });
  await second.app.connector?.drained();
  const { entity } = await second.app.store.db
    .selectFrom('link')
    .select('entity')
    .where('record_id', '=', ids[0] ?? '')
    .executeTakeFirstOrThrow();
  const event = reported({ phoneNumber: { before: null, after: '30405060' } }, 9, entity);
  await postWebhook(`${second.app.url}/webhook`, event);
  await second.app.connector?.drained();
  expect(crms.hubspot.get(ids[0] ?? '')).toMatchObject({ name: 'Kunde 0', phone: null });
});

it.each(SUITE_ENGINES)(
  'a killed daemon overwrites nothing before the acceptance, and everything after it (%s)',
  async (engine) => {
    const { crms, url, start, names } = await handwritten(engine);
    const daemon = await daemonWith(configFor(crms, url, { connections: ALWAYS }));
    for (let round = 0; round < 2; round += 1) {
      await daemon.start();
      await daemon.kill('SIGKILL');
    }
    await daemon.start();
    const store = await watchStore(url);
    const waits = () => store.db.selectFrom('kv').select('key').where('key', '=', 'proposal:hubspot').execute();
    await expect.poll(async () => (await waits()).length, { timeout: 30_000 }).toBe(1);
    expect(names()).toEqual(HAND);
    await daemon.kill('SIGKILL');
    const stopped = await start(ALWAYS);
    await stopped.app.close(0);
    expect((await stopped.cli('config', 'apply', '--yes')).code).toBe(0);
    expect(names()).toEqual(HAND);
    await daemon.start();
    await daemon.kill('SIGKILL');
    await daemon.start();
    await expect.poll(names, { timeout: 30_000 }).toEqual(REGISTER);
  },
);
