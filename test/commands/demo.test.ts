/** The demo as a visitor starts it: the real program, in a folder of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readEntityRows } from '../../src/commands/erase/erase-entity.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import { newFolder } from '../support/stores.ts';
import { rowsWith } from './whole-store.ts';

test('the demo plays every scene, keeps what a person wrote, and finds the company of a record without a number', async () => {
  const cwd = newFolder();
  const options = { cwd, env: ENVIRONMENT, maxBuffer: 64 * 1_048_576 };
  const { stdout } = await promisify(execFile)(process.execPath, [ENTRY, 'demo', '--once'], options);
  expect(stdout.match(/^\d\./gmu)).toEqual(['1.', '2.', '3.', '4.', '5.', '6.']);
  expect(stdout).toContain('phone is still +4510203040: a person wrote it');
  expect(stdout).toContain('calls made to the CRMs for it: 0');
  const [, number] = /it has no CVR number, and is certainly [^,]+, (\d{8}): name equal/u.exec(stdout) ?? [];
  expect(number).toBeDefined();
  expect(stdout).toContain(`a person accepts it: the record is linked to CVR-1-${number}`);
  expect(stdout.slice(stdout.indexOf('a person accepts it'))).toMatch(/^ {2}hubspot +\d+ \S+=/mu);

  // Of a store that both halves filled, an export finds every row that names the company.
  const store = await openStore(join(cwd, 'data/demo/cvrsync.db'), { migrate: false });
  onTestFinished(() => store.close());
  const entity = `CVR-1-${number}`;
  const named = await rowsWith(store, entity);
  expect(new Set(named.map((row) => row.split(' ', 1)[0])).size).toBeGreaterThan(8);
  const kept: string[] = [];
  for await (const { table, rows } of readEntityRows(store.db, entity, AbortSignal.timeout(60_000)))
    kept.push(...rows.map((row) => `${table} ${JSON.stringify(row)}`));
  expect(named.filter((row) => !kept.includes(row))).toEqual([]);
});
