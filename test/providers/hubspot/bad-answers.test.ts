/** A proxy may answer 200 with anything: what HubSpot did not confirm is not believed, and a person is notified. */
import { expect, test } from 'vitest';
import type { Connection } from '../../../providers/provider.ts';
import { live, openBench } from './setup.ts';

type Work = (connection: Connection, id: string, other: string) => Promise<unknown> | undefined;

const check: Work = (connection) => connection.check(live());
const properties: Work = (connection) => connection.properties(live());
const scan: Work = (connection) => connection.scan(['name'], undefined, live());
const begin: Work = (connection) => connection.changes?.(['name'], undefined, live());
const find: Work = (connection) => connection.find?.('name', 'A', live());
const findNote: Work = (connection, id) => connection.notes?.find(id, 'cvrsync:1', 0, live());
const edits: Work = (connection, id) => connection.edits?.([id], ['name'], 0, live());
const readParents: Work = (connection, id) => connection.parents?.read([id], live());
const writeParent: Work = (connection, id, parent) => connection.parents?.write({ id, parent, was: null }, live());

const NOTHING = [null];
const NAMELESS = [{}];

test.each<[string, string, unknown, Work]>([
  ['check', 'account-info', {}, check],
  ['properties', '/properties/', '', properties],
  ['properties', '/properties/', {}, properties],
  ['properties', '/properties/', { results: NOTHING }, properties],
  ['properties', '/properties/', { results: NAMELESS }, properties],
  ['scan', '/companies', { results: NOTHING }, scan],
  ['scan', '/companies', { results: NAMELESS }, scan],
  ['scan', '/companies', { results: [{ id: '1', properties: null }] }, scan],
  ['changes', '/search', { results: NOTHING }, begin],
  ['find', '/search', { results: NAMELESS }, find],
  ['notes.find', '/associations/', { results: NOTHING }, findNote],
  ['notes.find', '/associations/', { results: NAMELESS }, findNote],
  ['edits', '/batch/read', {}, edits],
  ['edits', '/batch/read', { results: NOTHING }, edits],
  ['edits', '/batch/read', { results: NAMELESS }, edits],
  ['parents.read', '/associations/', { results: NAMELESS }, readParents],
  ['parents.write', '^GET .*/associations/', { results: NAMELESS }, writeParent],
  ['parents.write', '^PUT .*/associations/', {}, writeParent],
])('%s is unavailable if %s is answered 200 with %j', async (_verb, match, body, work) => {
  const { emulator, connection } = await openBench();
  const [id, other] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
  emulator.fault({ match, action: { kind: 'status', status: 200, body } });
  await expect(work(connection, id, other)).rejects.toMatchObject({
    fault: 'unavailable',
    message: expect.stringMatching(/^HubSpot /),
  });
});

test('an empty batch that HubSpot answers 201 proves the scopes', async () => {
  const { emulator, connection } = await openBench();
  const action = { kind: 'status', status: 201, body: { status: 'COMPLETE', results: [] } } as const;
  emulator.fault({ match: 'batch/create$', times: 2, action });
  expect(await connection.missingRights?.(['notes', 'define'], live())).toEqual([]);
});
