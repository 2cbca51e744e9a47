import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { live, openBench } from './setup.ts';

const loaded = (group: string): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes(`/codegen/crm/${group}/`));

it('the client loads its parts for notes and parents on their first use', async () => {
  const { emulator, connection } = await openBench();
  const [id, parent] = [emulator.add({ name: 'A' }), emulator.add({ name: 'B' })];
  expect([loaded('companies'), loaded('objects/notes'), loaded('associations/v4')]).toEqual([true, false, false]);
  await connection.parents?.write({ id, parent, was: null }, live());
  expect([loaded('objects/notes'), loaded('associations/v4')]).toEqual([false, true]);
  await connection.notes?.add({ recordId: id, at: 0, subject: 'S', text: 'T', marker: 'M' }, live());
  expect(loaded('objects/notes')).toBe(true);
});
