/** Commits of a store that were lost with a part of SQLite's journal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../src/store/engines/open.ts';
import { noteSeen } from '../../src/store/file/marker.ts';
import { readGaps, writeSeen } from '../../src/store/recovery/gap.ts';
import { hasLostCommits } from '../../src/store/recovery/journal.ts';
import { builtScript, ENVIRONMENT } from '../support/program.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const PROCESS = builtScript(path.join(import.meta.dirname, 'store-process.ts'));
const FRAME = 24 + 4_096;

/** A store of which a process was killed after it had written much: all of that is in the journal. */
async function killed(): Promise<{ readonly url: string; readonly wal: string }> {
  const url = await newStoreUrl('sqlite');
  const child = spawn(process.execPath, [PROCESS, url, 'write-and-stay', '30'], {
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(framesIn(`${url}-wal`)).toBeGreaterThan(29);
  return { url, wal: `${url}-wal` };
}

const framesIn = (wal: string): number => Math.floor((statSync(wal).size - 32) / FRAME);

/** Changes a byte of a frame's page, or of its header. */
function flip(wal: string, frame: number, at = 100): void {
  const file = openSync(wal, 'r+');
  const place = 32 + frame * FRAME + at;
  writeSync(file, Buffer.from([(readFileSync(wal)[place] ?? 0) ^ 0xff]), 0, 1, place);
  closeSync(file);
}

/** The gaps that a daemon finds when it starts. */
async function gapsAt(url: string) {
  const store = await openStore(url, { claim: true });
  const gaps = await readGaps(store.db);
  await store.close();
  return gaps;
}

describe('the journal of a store', () => {
  it.each([
    ['a page', 100],
    ['the checksum of a frame', 18],
    ['the page number of a frame', 2],
  ])('is found damaged if %s was changed and commits follow', async (_, at) => {
    const { url, wal } = await killed();
    flip(wal, 10, at);
    expect(await gapsAt(url)).toMatchObject([{ cause: 'journal', since: expect.any(Number) }]);
    expect(await gapsAt(url)).toHaveLength(1);
  });

  it('is sound after a crash, also if its last frame is torn or was not written as a whole', async () => {
    const { url, wal } = await killed();
    const last = framesIn(wal) - 1;
    const copies = ['torn', 'cut', 'more', 'whole'].map((name) => [name, path.join(newFolder(), 'store.db')] as const);
    for (const [, copy] of copies) for (const end of ['', '-wal']) copyFileSync(`${url}${end}`, `${copy}${end}`);
    const [torn = '', cut = '', more = '', whole = ''] = copies.map(([, copy]) => copy);
    flip(`${torn}-wal`, last);
    truncateSync(`${cut}-wal`, 32 + last * FRAME + 999);
    appendFileSync(`${more}-wal`, Buffer.alloc(FRAME, 7));
    for (const copy of [torn, cut, more, whole]) expect(await gapsAt(copy), copy).toEqual([]);
  });

  it('is sound if frames of an earlier round follow', async () => {
    const url = await newStoreUrl('sqlite');
    const store = await openStore(url);
    const write = (key: string) =>
      store.write((tx) => tx.insertInto('kv').values({ key, value: key, updated_at: 1 }).execute());
    for (let at = 0; at < 20; at += 1) await write(`first ${at}`);
    await store.checkpoint();
    for (let at = 0; at < 5; at += 1) await write(`second ${at}`);
    expect(framesIn(`${url}-wal`)).toBeGreaterThan(19);
    expect(hasLostCommits(`${url}-wal`)).toBe(false);
    await store.close();
  });

  it.each([
    ['cut', (wal: string) => truncateSync(wal, 32 + 5 * FRAME)],
    ['deleted', (wal: string) => rmSync(wal)],
  ])('is found missing if it was %s, by the marker beside the store', async (_, harm) => {
    const { url, wal } = await killed();
    expect(await gapsAt(url)).toEqual([]);
    const store = await openStore(url, { claim: true });
    const beat = async (at: number) => {
      await store.write((tx) => writeSeen(tx, at));
      store.noteSeen(at);
    };
    await beat(1_000);
    await store.checkpoint();
    const before = path.join(newFolder(), 'store.db');
    for (let at = 2_000; at < 9_000; at += 1_000) await beat(at);
    // As after SIGKILL: the files as they lie there, with the marker.
    for (const end of ['', '-wal']) copyFileSync(`${url}${end}`, `${before}${end}`);
    copyFileSync(path.join(path.dirname(url), '.store.db.marker'), path.join(path.dirname(before), '.store.db.marker'));
    await store.close();
    expect(wal).not.toBe(`${before}-wal`);
    const whole = path.join(newFolder(), 'store.db');
    for (const end of ['', '-wal']) copyFileSync(`${before}${end}`, `${whole}${end}`);
    harm(`${before}-wal`);
    expect(await gapsAt(before)).toMatchObject([{ cause: 'journal' }]);
    expect(await gapsAt(whole)).toEqual([]);
    noteSeen(before, undefined);
    expect(await gapsAt(before)).toHaveLength(1);
  });
});
