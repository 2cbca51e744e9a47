/** A proxy may answer 200 with anything: an invalid row is not treated as a missing record. */
import { expect, test } from 'vitest';
import type { Connection } from '../../../providers/provider.ts';
import { live, openBench } from './setup.ts';

test.each<[string, unknown, (connection: Connection, id: string) => Promise<unknown> | undefined]>([
  ['scan', null, (connection) => connection.scan(['Name'], undefined, live())],
  ['scan', {}, (connection) => connection.scan(['Name'], undefined, live())],
  ['find', null, (connection) => connection.find?.('Name', 'A', live())],
  ['find', {}, (connection) => connection.find?.('Name', 'A', live())],
  ['edits', null, (connection, id) => connection.edits?.([id], ['Name'], 0, live())],
  ['edits', {}, (connection, id) => connection.edits?.([id], ['Name'], 0, live())],
  ['notes.find', null, (connection, id) => connection.notes?.find(id, 'cvrsync:1', 0, live())],
])('%s is unavailable if a query is answered with the row %j', async (_verb, row, work) => {
  const { emulator, connection } = await openBench();
  const id = emulator.add({ Name: 'A' });
  await connection.properties(live());
  emulator.fault({ match: '/query', action: { kind: 'status', status: 200, body: { records: [row], done: true } } });
  await expect(work(connection, id)).rejects.toMatchObject({ fault: 'unavailable' });
});
