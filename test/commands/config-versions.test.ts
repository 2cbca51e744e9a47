/** `config history`, `diff`, `apply` and `rollback`: the versions of the accepted configuration. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readAllAccepted } from '../../src/connector/rules/accepted.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { ALWAYS, handwritten, type Started, TRACKED } from '../connector/rules/fixture.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

const HAND = ['Kunde 0', 'Kunde 1', 'Kunde 2'];
const REGISTER = ['B ApS', 'B ApS', 'B ApS'];
const ACTOR = { kind: 'user', name: 'deploy' } as const;

interface Version {
  readonly version: number;
  readonly acceptedBy: string;
}

const json = async ({ cli }: Started, ...argv: readonly string[]) => JSON.parse((await cli('--json', ...argv)).stdout);

const history = async (started: Started): Promise<readonly Version[]> => json(started, 'config', 'history');

const policyOf = async ({ app }: Started): Promise<string | undefined> =>
  (await readAllAccepted(app.store.db)).get('hubspot')?.rules.mapping.find(({ property }) => property === 'name')
    ?.policy;

describe.each(SUITE_ENGINES)('versions of the accepted configuration (%s)', (engine) => {
  it('begin with the first start, hold no secret, and grow only by acceptance', async () => {
    const { start } = await handwritten(engine, 1);
    const same = await start(TRACKED);
    expect((await history(same)).map(({ acceptedBy }) => acceptedBy)).toEqual(['first start']);
    await same.app.close(0);
    const changed = await start({ hubspot: { ...ALWAYS.hubspot, reconcileHours: 7 } });
    await changed.app.connector?.drained();
    expect((await history(changed)).map(({ acceptedBy }) => acceptedBy)).toEqual(['start', 'first start']);
    const diff = await json(changed, 'config', 'diff');
    expect(diff).toMatchObject({
      settings: [],
      proposals: [{ provider: 'hubspot', preview: { writes: 1, edits: 1 } }],
    });
    const { content } = await changed.app.store.db
      .selectFrom('config_version')
      .select('content')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(content)).toMatchObject({
      connector: {
        'providers.hubspot': { reconcileHours: 7, settings: { accessToken: '***' } },
        'providers.hubspot.mapping': {
          mapping: expect.arrayContaining([{ field: 'name', property: 'name', policy: 'tracked' }]),
        },
      },
    });
    expect((await changed.cli('config', 'apply', '--yes')).code).toBe(0);
    expect(await history(changed)).toHaveLength(3);
  });

  it('can be restored with a preview, and the file is set aside until a person applies it', async () => {
    const { crms, ids, start, names } = await handwritten(engine);
    const second = await start(ALWAYS, { rulesAcceptedBy: ACTOR });
    await second.app.connector?.drained();
    expect(names()).toEqual(REGISTER);
    for (const [at, id] of ids.entries()) crms.hubspot.edit(id, { name: `Kunde ${at}` });
    const [, first] = await history(second);
    expect((await second.cli('config', 'rollback', '99')).stderr).toContain('there is no version');
    const rolled = await second.cli('config', 'rollback');
    expect(rolled.stdout).toContain('name → name: always → tracked');
    expect(await policyOf(second)).toBe('always');
    const diff = await json(second, 'config', 'diff');
    expect(diff).toMatchObject({
      proposals: [{ provider: 'hubspot', fromVersion: first?.version, isSetAside: false }],
    });
    expect((await second.cli('config', 'apply', '--yes')).code).toBe(0);
    expect(await policyOf(second)).toBe('tracked');
    await second.app.close(1_000);

    const third = await start(ALWAYS);
    await third.app.connector?.drained();
    expect(names()).toEqual(HAND);
    expect(third.lines.filter(({ msg }) => msg.includes('waits to be accepted'))).toEqual([]);
    expect((await third.cli('config', 'diff')).code).toBe(0);
    expect((await third.cli('check', '--all')).stdout).toContain('a rollback set that aside');
    expect((await third.cli('config', 'apply', '--yes')).stdout).toContain('decides as the accepted rules do');
    expect((await third.cli('config', 'apply', 'hubspot', '--yes')).code).toBe(0);
    expect(await policyOf(third)).toBe('always');
    const actions = (await readAudit(third.app.store.db, {}, 9)).map(({ action, result }) => `${action} ${result}`);
    expect(actions).toContain('config.rollback proposed');
  });

  it('are proposed once, and withdrawn by proposing the version in force', async () => {
    const { start } = await handwritten(engine, 1);
    const second = await start(ALWAYS, { rulesAcceptedBy: ACTOR });
    await second.app.connector?.drained();
    const [head, first] = await history(second);
    await second.cli('config', 'rollback', String(first?.version));
    expect((await second.cli('config', 'diff')).code).toBe(3);
    expect((await second.cli('config', 'rollback', String(head?.version))).stdout).toContain('No former version');
    expect((await second.cli('config', 'diff')).code).toBe(0);
  });
});

it('the removal of a connection waits with its count, and the connection misses nothing if it returns', async () => {
  const { start, names } = await handwritten('sqlite');
  const without = await start({ hubspot: false });
  await without.app.connector?.drained();
  const said = without.lines.filter(({ msg }) => msg.includes('no longer configured'));
  expect(said).toMatchObject([{ provider: 'hubspot', linked: 3 }]);
  expect((await without.cli('check')).stdout).toContain('it would stop updating 3 linked records');
  const before = await history(without);
  expect((await without.cli('config', 'apply', 'hubspot', '--yes')).code).toBe(0);
  expect(await history(without)).toHaveLength(before.length + 1);
  expect((await without.cli('config', 'diff')).code).toBe(0);
  await without.app.close(0);
  const back = await start(ALWAYS);
  await back.app.connector?.drained();
  expect(names()).toEqual(HAND);
  expect((await back.cli('config', 'diff')).code).toBe(3);
});

it('reads a file with comments and anchors, and names the line of an error', async () => {
  const { start, names } = await handwritten('sqlite', 1);
  const { app, file, content, cli } = await start(TRACKED);
  const changed = JSON.stringify(JSON.parse(content), null, 2).replace('"policy": "tracked"', '"policy": "always"');
  const yaml = `# Who wins: the register\n${changed.replace('"name": {', '"name": &rule { # ours')}\n`;
  await writeFile(file, yaml);
  const diff = await cli('config', 'diff');
  expect([diff.code, diff.stdout]).toEqual([3, expect.stringContaining('name → name: tracked → always')]);
  await writeFile(file, yaml.replace('"policy": "always"', '"policy" "always"'));
  const slip = await cli('config', 'apply', '--yes');
  expect([slip.code, slip.stderr]).toEqual([2, expect.stringMatching(/line \d+/u)]);
  await app.connector?.drained();
  expect(names()).toEqual(['Kunde 0']);
});
