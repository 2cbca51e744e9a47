/** The whole daemon with both halves, a register in a file, and a clock that skips long waits. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { documentOf } from '../../src/commands/emulate/sample/document.ts';
import type { Version } from '../../src/commands/emulate/sample/value-runs.ts';
import { type SampleCompany, sampleCompany } from '../../src/protocol/sample/company.ts';
import type { HandClock } from '../support/clock.ts';
import { type Fixture, type FixtureOptions, startFixture } from '../support/fixture.ts';
import { newFolder } from '../support/stores.ts';

const DAY_MS = 86_400_000;

export const company: SampleCompany = { ...sampleCompany(1), started: '2019-03-01T00:00:00' };
export const entity = company.entityId;

/** The company's document as it was loaded at a time; what is given holds since yesterday. */
export function documentAt(loadedAt: number, is: Partial<SampleCompany> = {}): unknown {
  const first: Version = { company, from: '2019-03-01', at: Date.parse('2019-03-01T12:00:00Z') };
  const from = new Date(loadedAt - DAY_MS).toISOString().slice(0, 10);
  const later: Version = { company: { ...company, ...is }, from, at: loadedAt - 2_000 };
  return documentOf(Object.keys(is).length === 0 ? [first] : [first, later], { loadedAt });
}

export interface ServiceFixture extends Fixture {
  /** Adds documents to the register's file, and has the service look. */
  tell(...documents: readonly unknown[]): Promise<void>;
}

/** A fixture whose service reads a file, may post to this machine, and has what else is given. */
export async function setService(
  options: FixtureOptions & { readonly service?: object } = {},
): Promise<ServiceFixture> {
  const file = join(newFolder(), 'register.ndjson');
  await writeFile(file, '');
  const service = {
    register: { source: 'file', path: file, pollSeconds: 1 },
    webhooks: { allow: ['127.0.0.1'] },
    ...options.service,
  };
  const fixture = await startFixture({ ...options, service });
  return {
    ...fixture,
    async tell(...documents) {
      await appendFile(file, documents.map((one) => `${JSON.stringify(one)}\n`).join(''));
      await fixture.app.service?.look();
    },
  };
}

/** Looks in a row that find work due and nobody at it: its worker waits for a time of its own, as while a server is away. */
const LOOKS = 50;
/** The longest of those times. */
const PAUSE_MS = 60_000;

/**
 * Lets a clock that is set by hand leap to what is due next, or by `atLeastMs`, whenever nothing is worked on, until
 * `isThere` says so. Gives up if nothing has happened for two minutes.
 */
export async function leapUntil(
  { app }: ServiceFixture,
  clock: HandClock,
  isThere: () => Promise<boolean> | boolean,
  atLeastMs = 0,
): Promise<void> {
  const { db } = app.store;
  let idle = 0;
  for (let leapt = performance.now(); !(await isThere()); await sleep(5)) {
    if (performance.now() > leapt + 120_000) throw new Error('it does not come, however long one waits');
    const lanes = await db.selectFrom('lane').select(['due_at', 'fence', 'parked_at']).execute();
    const live = lanes.filter(({ parked_at }) => parked_at === null);
    const next = Math.min(...live.map(({ due_at }) => due_at ?? Number.POSITIVE_INFINITY));
    const isHeld = live.some(({ fence }) => fence !== null);
    const isDue = next <= clock.now();
    idle = isDue && !isHeld ? idle + 1 : 0;
    if (isHeld || (isDue && idle < LOOKS) || !Number.isFinite(next)) continue;
    clock.forward(Math.max(isDue ? PAUSE_MS : next - clock.now(), atLeastMs));
    idle = 0;
    leapt = performance.now();
    // Not awaited: it rings the bells of workers that sleep by the machine's clock.
    void Promise.all([app.service?.drained(), app.connector?.drained()]);
  }
}
