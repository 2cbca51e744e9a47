/**
 * match: builds the company index of a generated register and matches records with it. Prints precision, recall and the
 * confusion by trap, records a second, memory, and how long the index takes. `CVRSYNC_BENCH_COMPANIES` says how many
 * companies; 2.2 million take an hour. `CVRSYNC_BENCH_ENGINE=postgres` has it in PostgreSQL.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import type { MatchResult } from '../../src/match/decide/confidence.ts';
import { fillFromFile } from '../../src/match/index/fill.ts';
import { matchRecords } from '../../src/match/match.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Store } from '../../src/store/store.ts';
import { lineOf } from '../match/entries.ts';
import { measureQuality, shareOf, trapTable } from '../match/measure.ts';
import { type LabelledRecord, labelledRecords } from '../match/records.ts';
import { labelledRegister } from '../match/register.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { ENVIRONMENT, FLAGS } from './daemon.ts';
import { report, round } from './measure.ts';

const COMPANIES = Number(process.env['CVRSYNC_BENCH_COMPANIES'] ?? 50_000);
const ENGINE = process.env['CVRSYNC_BENCH_ENGINE'] ?? 'sqlite';
const PART = 20_000;
const RECORDS = 6_000;
const BATCH = 100;
const AIM = {
  certain: 0.998,
  likely: 0.95,
  recall: 0.85,
  recordsPerSecond: 300,
  memoryMb: 300,
  minutesFor22Million: 15,
};

/** Writes a register as a file of companies, and records of it. */
function generate(folder: string): void {
  const records: LabelledRecord[] = [];
  for (let made = 0, part = 0; made < COMPANIES; made += PART, part += 1) {
    const register = labelledRegister(100 + part, Math.min(PART, COMPANIES - made), part * PART * 2);
    const lines = register.entries.map((entry) => `${JSON.stringify(lineOf(entry))}\n`);
    appendFileSync(join(folder, 'companies.jsonl'), lines.join(''));
    records.push(...labelledRecords(500 + part, register, Math.ceil((RECORDS * PART) / Math.max(PART, COMPANIES))));
  }
  writeFileSync(join(folder, 'records.json'), JSON.stringify(records));
}

/** A store to measure, and the bytes that it takes on the disk. */
interface Place {
  readonly store: Store;
  size(): Promise<number>;
  close(): Promise<void>;
}

async function inSqlite(folder: string): Promise<Place> {
  const file = join(folder, 'store.db');
  return { store: await openStore(file), size: async () => statSync(file).size, close: async () => {} };
}

/** The server waits for the disk, as in production. */
async function inPostgres(): Promise<Place> {
  const server = startPostgres({ durable: true });
  await server.ready;
  const store = await openStore(await createDatabase(server.url));
  const size = async () => {
    const { rows } = await sql<{ size: string }>`select pg_database_size(current_database()) as size`.execute(store.db);
    return Number(rows[0]?.size);
  };
  return { store, size, close: () => server.stop() };
}

async function bench(folder: string): Promise<void> {
  const labelled: readonly LabelledRecord[] = JSON.parse(readFileSync(join(folder, 'records.json'), 'utf8'));
  const place = await (ENGINE === 'postgres' ? inPostgres() : inSqlite(folder));
  const { store } = place;
  let memory = 0;
  const watch = setInterval(() => {
    memory = Math.max(memory, process.memoryUsage.rss());
  }, 100);
  const began = performance.now();
  const { entries } = await fillFromFile(
    {
      store,
      now: Date.now,
      report: () => {},
      onProblem: ({ line, problem }) => process.stderr.write(`line ${line}: ${problem}\n`),
    },
    join(folder, 'companies.jsonl'),
    new AbortController().signal,
  );
  const built = performance.now();
  const results: MatchResult[] = [];
  for (let at = 0; at < labelled.length; at += BATCH)
    results.push(
      ...(await matchRecords(
        store.db,
        labelled.slice(at, at + BATCH).map(({ record }) => record),
      )),
    );
  const matched = performance.now();
  clearInterval(watch);
  const size = await place.size();
  await store.close();
  await place.close();

  const quality = measureQuality(labelled, results);
  const { precision, recall, wrong } = quality;
  for (const one of wrong.filter(({ confidence }) => confidence === 'certain'))
    process.stdout.write(`wrong: ${JSON.stringify(one)}\n`);
  process.stdout.write(`${trapTable(quality)}\n`);
  const measured = {
    engine: ENGINE,
    companies: COMPANIES,
    entries,
    records: labelled.length,
    certain: round(shareOf(precision.certain), 4),
    likely: round(shareOf(precision.likely), 4),
    recall: round(shareOf(recall), 3),
    precision,
    recordsPerSecond: round((labelled.length * 1_000) / (matched - built)),
    memoryMb: round(memory / 2 ** 20),
    buildMinutes: round((built - began) / 60_000, 2),
    sizeMb: round(size / 2 ** 20),
  };
  const ok =
    measured.certain >= AIM.certain &&
    measured.likely >= AIM.likely &&
    measured.recall >= AIM.recall &&
    measured.recordsPerSecond >= AIM.recordsPerSecond &&
    measured.memoryMb <= AIM.memoryMb;
  report('match', measured, AIM, ok);
}

const [, , given] = process.argv;
if (given !== undefined) {
  await bench(given);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'cvrsync-match-'));
  try {
    generate(folder);
    // In a process of its own, with the program's flags: what it takes to make a register is not to be measured.
    const { status } = spawnSync(process.execPath, [...FLAGS, fileURLToPath(import.meta.url), folder], {
      stdio: 'inherit',
      env: { ...process.env, ...ENVIRONMENT },
    });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
