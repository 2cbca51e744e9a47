/** The short form of `npm run acceptance`: what is shipped starts, and its own alerts tell of a fault, once. */
import { expect, onTestFinished, test } from 'vitest';
import { readDoc, tableIn } from '../support/docs.ts';
import { newFolder } from '../support/stores.ts';
import { startClock } from './clock.ts';
import { FAULTS } from './faults.ts';
import { type Cell, install } from './installation.ts';
import { tryFault, tryHealthy } from './trial.ts';

const CELLS: readonly (readonly [fault: string, cell: Cell])[] = [
  ['token revoked', { engine: 'sqlite', form: 'chart' }],
  ['store stopped', { engine: 'postgres', form: 'roles' }],
];

test.each(CELLS)('%s, on what %o ships', async (name, cell) => {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) throw new Error(`${name} is no fault`);
  const at = await install(cell, { folder: newFolder(), clock: startClock(SCALE), prometheus: false, links: 1 });
  onTestFinished(() => at.close());
  expect((await tryHealthy(at, 0.5)).wrong).toEqual([]);
  expect((await tryFault(at, fault, 'begin')).wrong).toEqual([]);
});

/** A deadline of 30 s is one of 1.5 s then, which a busy machine keeps. */
const SCALE = 20;

test('docs/alerts.md lists every fault with the alerts of the rules that it asks for', () => {
  const rows = tableIn(readDoc('docs/alerts.md'), 'Fault', 'Rules', 'cvrsync itself');
  expect(rows.map(({ Fault }) => Fault)).toEqual(FAULTS.map(({ name }) => name));
  const listed = rows.map(({ Rules = '' }) => (Rules.match(/Cvrsync\w+/gu) ?? []).toSorted());
  expect(listed).toEqual(FAULTS.map(({ rules, mayFire = [] }) => [...rules, ...mayFire].toSorted()));
});
