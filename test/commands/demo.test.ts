/** The demo as a visitor starts it: the real program, in a folder of its own. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import { newFolder } from '../support/stores.ts';

test('the demo plays every scene, keeps what a person wrote, and finds the company of a record without a number', async () => {
  const options = { cwd: newFolder(), env: ENVIRONMENT };
  const { stdout } = await promisify(execFile)(process.execPath, [ENTRY, 'demo', '--once'], options);
  expect(stdout.match(/^\d\./gmu)).toEqual(['1.', '2.', '3.', '4.', '5.', '6.']);
  expect(stdout).toContain('phone is still +4510203040: a person wrote it');
  expect(stdout).toContain('calls made to the CRMs for it: 0');
  const [, number] = /it has no CVR number, and is certainly [^,]+, (\d{8}): name equal/u.exec(stdout) ?? [];
  expect(number).toBeDefined();
  expect(stdout.slice(stdout.indexOf('a person accepts it'))).toMatch(/^ {2}hubspot +\d+ \S+=/mu);
});
