import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DeliveryTable } from '../../src/store/service-schema.ts';
import { runCli } from '../support/cli.ts';
import { newFolder, opened } from '../support/stores.ts';

const DAY = 86_400_000;
const NOON = Date.parse('2026-03-01T12:00:00Z');

/** A service with a monitor that is on and one that is off, and deliveries of both, a day apart each. */
async function furnished(states: readonly DeliveryTable['state'][], more: object = {}) {
  const folder = newFolder();
  const url = join(folder, 'store.db');
  const file = join(folder, 'cvrsync.json');
  const register = { source: 'file', path: join(folder, 'register') };
  await writeFile(file, JSON.stringify({ store: url, service: { register, ...more } }));
  const store = await opened(url);
  const run = (...argv: readonly string[]) => runCli(['--config', file, 'deliveries', ...argv]);
  const activate = (...argv: readonly string[]) => runCli(['--config', file, 'monitors', 'activate', ...argv]);
  const make = async (...more: readonly string[]): Promise<string> => {
    const hook = ['--url', 'https://hooks.example.com/a'];
    const { stdout } = await runCli(['--config', file, 'monitors', 'create', 'List', ...hook, ...more, '--json']);
    const { id }: { id: string } = JSON.parse(stdout);
    return id;
  };
  const [on, off] = [await make(), await make('--inactive')];
  await store.write(async (tx) => {
    for (const [day, state] of states.entries()) {
      const at = NOON + day * DAY;
      const entity = `CVR-1-1000000${day}`;
      const { seq } = await tx
        .insertInto('change')
        .values({
          id: `c${day}`,
          entity,
          name: `Firma ${day} ApS`,
          kind: 'register',
          timestamp: new Date(at).toISOString(),
          updates: '{}',
          created_at: at,
        })
        .returning('seq')
        .executeTakeFirstOrThrow();
      for (const monitor of [on, off])
        await tx
          .insertInto('delivery')
          .values({
            monitor,
            entity,
            change: seq,
            events: '["status","email"]',
            attempts: 0,
            state,
            next_at: at,
            created_at: at,
          })
          .execute();
    }
  });
  const statesOf = async (monitor: string) =>
    (await store.db.selectFrom('delivery').select('state').where('monitor', '=', monitor).orderBy('seq').execute()).map(
      ({ state }) => state,
    );
  return { run, activate, on, off, statesOf };
}

it('lists deliveries by filter, newest first', async () => {
  const { run, on } = await furnished(['done', 'held', 'failed', 'due']);
  const { code, stdout } = await run('list', '--monitor', on, '--json');
  expect(code).toBe(0);
  const rows: { state: string; name: string; made: string; next: string }[] = JSON.parse(stdout);
  expect(rows.map(({ state }) => state)).toEqual(['due', 'failed', 'held', 'done']);
  expect(rows[0]).toMatchObject({
    name: 'Firma 3 ApS',
    made: '2026-03-04T12:00:00.000Z',
    next: '2026-03-04T12:00:00.000Z',
  });
  const count = async (...argv: readonly string[]) =>
    (JSON.parse((await run('list', '--json', ...argv)).stdout) as unknown[]).length;
  expect(await count()).toBe(8);
  expect(await count('--state', 'held')).toBe(2);
  expect(await count('--entity', '10000002', '--monitor', on)).toBe(1);
  expect(await count('--since', '2026-03-02T12:00:00Z', '--until', '2026-03-04T12:00:00Z')).toBe(4);
  const few = await run('list', '--limit', '3');
  expect(few.stdout.trim().split('\n')).toHaveLength(4);
  expect(few.stderr).toContain('there are more');
  expect((await run('list', '--state', 'dropped')).stdout).toBe('There are no such deliveries.\n');
});

it('names events as the configuration does', async () => {
  const { run } = await furnished(['done'], { emailEvent: 'companyMail' });
  expect((await run('list')).stdout).toContain('companyMail');
  const [row]: { events: string }[] = JSON.parse((await run('list', '--json')).stdout);
  expect(row?.events).toBe('status companyMail');
});

it('replays only after it showed the count and got a yes', async () => {
  const { run, on, off, statesOf } = await furnished(['done', 'held', 'failed', 'due', 'dropped']);
  const asked = await run('replay', '--monitor', on);
  expect(asked).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(
      new RegExp(
        `^2 deliveries would be replayed, as run 1 shows. To do it: cvrsync deliveries replay --monitor ${on} --yes --config `,
        'u',
      ),
    ),
  });
  expect(await statesOf(on)).toEqual(['done', 'held', 'failed', 'due', 'dropped']);
  const reported = await run('replay', '--yes');
  expect(reported.code).toBe(0);
  expect(reported.stdout).toBe('2 deliveries match.\n2 deliveries are replayed.\n');
  expect(await statesOf(on)).toEqual(['done', 'due', 'due', 'due', 'dropped']);
  expect(await statesOf(off)).toEqual(['done', 'held', 'failed', 'due', 'dropped']);
  expect(await run('replay', '--monitor', on)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^There are no such deliveries/u),
  });
});

it('replays the held deliveries of a monitor when it is enabled, on request', async () => {
  const { activate, off, statesOf } = await furnished(['done', 'held', 'failed', 'held']);
  expect((await activate(off)).stdout).toContain('See cvrsync deliveries list --state held.');
  expect(await statesOf(off)).toEqual(['done', 'held', 'failed', 'held']);
  expect((await activate(off, '--replay')).stdout).toContain('is on. 2 held deliveries are sent.');
  expect(await statesOf(off)).toEqual(['done', 'due', 'failed', 'due']);
  expect(JSON.parse((await activate(off, '--replay', '--json')).stdout)).toEqual({
    id: off,
    enabled: true,
    replayed: 0,
  });
  expect(await activate('nobody', '--replay')).toMatchObject({ code: 1, stdout: '' });
});

it('replays the oldest first with a limit, and delivered ones on request', async () => {
  const { run, on, statesOf } = await furnished(['held', 'held', 'done']);
  expect((await run('replay', '--monitor', on, '--limit', '1', '--yes')).code).toBe(0);
  expect(await statesOf(on)).toEqual(['due', 'held', 'done']);
  const { stdout } = await run('replay', '--monitor', on, '--state', 'done', '--yes', '--json');
  expect(JSON.parse(stdout)).toEqual({ run: 2, matching: 1, done: 1 });
  expect(await statesOf(on)).toEqual(['due', 'held', 'due']);
});

it('drops deliveries, also of disabled monitors', async () => {
  const { run, off, statesOf } = await furnished(['done', 'held', 'due']);
  expect((await run('drop', '--monitor', off)).code).toBe(3);
  expect((await run('drop', '--monitor', off, '--yes')).stdout).toContain('2 deliveries are dropped.');
  expect(await statesOf(off)).toEqual(['done', 'dropped', 'dropped']);
});

it.each([
  ['--state', 'lost'],
  ['--entity', 'Nordlys'],
  ['--since', 'yesterday'],
  ['--limit', '-1'],
])('explains the error in %s %s', async (...option) => {
  const { run } = await furnished([]);
  const { code, stderr } = await run('list', ...option);
  expect(code).toBe(2);
  expect(stderr).toContain(option[1]);
});

it('sends named deliveries at once, and recovers all that did not arrive since a time', async () => {
  const { run, on, off, statesOf } = await furnished(['failed', 'done', 'held', 'failed', 'due']);
  const [named, , offOne] = ['1', '2', '2'];
  expect(await run('send', named)).toMatchObject({ code: 0, stdout: expect.stringContaining('due now') });
  expect(await run('send', offOne, '99')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/is off.*no such/su),
  });
  expect(await statesOf(on)).toEqual(['due', 'done', 'held', 'failed', 'due']);
  expect(await run('recover')).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
  expect(await run('recover', '--since', '2026-03-03T00:00:00Z')).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(
      /^2 deliveries would be replayed, as run 1 shows. To do it: cvrsync deliveries recover --since /u,
    ),
  });
  const { stdout } = await run('recover', '--since', '2026-03-03T00:00:00Z', '--monitor', on, '--yes');
  expect(stdout).toContain('2 deliveries are replayed');
  expect(await statesOf(on)).toEqual(['due', 'done', 'due', 'due', 'due']);
  expect(await statesOf(off)).toEqual(['failed', 'done', 'held', 'failed', 'due']);
  expect((await run('list', '--state', 'failing')).stdout).toBe('There are no such deliveries.\n');
});
