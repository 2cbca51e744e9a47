/** The making of the company index, killed again and again in a process of its own. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillFromFile } from '../../src/match/index/fill.ts';
import { type IndexState, readIndexState } from '../../src/match/index/state.ts';
import type { Db } from '../../src/store/store.ts';
import { lineOf } from '../match/entries.ts';
import { labelledRegister } from '../match/register.ts';
import { startCommand } from '../support/command.ts';
import { watchStore } from '../support/fixture.ts';
import { ENGINES, newFolder, newStore, newStoreUrl } from '../support/stores.ts';
import { NIGHT, sizeOf } from './settings.ts';

const COMPANIES = sizeOf('COMPANIES', 1_000, 2_000);
const KILLS = sizeOf('KILLS', 1, 3);

const indexIn = async (db: Db) => ({
  entries: await db.selectFrom('match_entry').selectAll().orderBy('number').execute(),
  keys: await db.selectFrom('match_key').selectAll().orderBy('key').orderBy('entry').execute(),
  staged: await db.selectFrom('match_key_staged').selectAll().execute(),
});

test.each(NIGHT ? ENGINES : (['sqlite'] as const))(
  'a making that is killed while it reads and while it sorts ends as one that never was, on %s',
  {
    timeout: 600_000,
  },
  async (engine) => {
    const folder = newFolder();
    const file = join(folder, 'companies.jsonl');
    const { entries } = labelledRegister(14, COMPANIES);
    await writeFile(file, entries.map((entry) => `${JSON.stringify(lineOf(entry))}\n`).join(''));
    const config = join(folder, 'cvrsync.json');
    const url = await newStoreUrl(engine);
    await writeFile(config, JSON.stringify({ store: url }));
    const store = await watchStore(url);

    const kills: Record<IndexState['phase'], number> = { clearing: 0, building: 0, sorting: 0, ready: 0 };
    const state = async () => (await readIndexState(store.db)) ?? { phase: 'building' as const };
    const begin = () => startCommand(['match', 'index', file, '--config', config], folder);
    for (let before = await state(); before.phase !== 'ready'; ) {
      const run = begin();
      if (kills[before.phase] >= KILLS) {
        // Enough of this one: the next is struck once this process gets to it.
        const phase = before.phase;
        await expect.poll(async () => (await state()).phase, { timeout: 300_000, interval: 2 }).not.toBe(phase);
      } else await expect.poll(state, { timeout: 300_000, interval: 2 }).not.toEqual(before);
      before = await state();
      if (before.phase === 'ready') expect((await run.ended).code).toBe(0);
      else {
        await run.kill('SIGKILL');
        before = await state();
        kills[before.phase] += 1;
      }
    }
    expect(kills.building).toBeGreaterThanOrEqual(KILLS);
    expect(kills.sorting).toBeGreaterThan(0);

    const whole = await newStore(engine);
    const deps = { store: whole, now: Date.now, report: () => {}, onProblem: () => {} };
    await fillFromFile(deps, file, new AbortController().signal);
    const made = await indexIn(store.db);
    expect(made.staged).toEqual([]);
    expect(made).toEqual(await indexIn(whole.db));
  },
);
