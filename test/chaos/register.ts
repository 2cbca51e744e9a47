/** A careless register: random documents in a file that grows, and what an undisturbed watcher makes of the same file. */
import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleSeries } from '../../src/commands/emulate/sample/stream.ts';
import type { Updates } from '../../src/protocol/payload.ts';
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { changesOf, type DiffOptions, unitChanges } from '../../src/service/register/diff/diff.ts';
import type { Company } from '../../src/service/register/document/company.ts';
import { readDocument } from '../../src/service/register/document/document.ts';
import type { Unit } from '../../src/service/register/document/unit.ts';
import { documentsIn } from '../../src/service/register/source/source.ts';

export interface Register {
  /** What the register said first of each company and unit: one document a line. */
  readonly first: readonly string[];
  /** What came after: repeated, late, broken, two at once. */
  readonly later: readonly string[];
  /** Each company as its newest document has it. */
  readonly companies: ReadonlyMap<string, SampleCompany>;
}

/** Hours between two documents: what changes lies on different days. */
const STEP_MS = 3 * 3_600_000;
/** How far a line may move from its place. */
const MOST_LATE = 30;

/** The register of a seed: `count` companies, and then so many changes. */
export function registerOf(seed: number, count: number, changes: number, random: Random): Register {
  const all = [...sampleSeries(seed, count, changes, { stepMs: STEP_MS })];
  const companies = new Map(all.map(({ company }) => [company.entityId, { ...company, report: null }]));
  const lines = all.map(({ document }) => JSON.stringify(document));
  // A longer series begins like a shorter one.
  const first = lines.slice(0, [...sampleSeries(seed, count, 0, { stepMs: STEP_MS })].length);
  const placed = lines.slice(first.length).flatMap((line, index) => {
    const text = random.chance(0.06) ? `[${lines[first.length + index - random.int(1, 5)] ?? line},${line}]` : line;
    const copies = [{ text, place: index + (random.chance(0.15) ? random.int(0, MOST_LATE) : 0) }];
    if (random.chance(0.12)) copies.push({ text: line, place: index + random.int(0, MOST_LATE) });
    if (random.chance(0.04)) copies.push({ text: broken(line, random), place: index });
    return copies;
  });
  return { first, later: placed.toSorted((a, b) => a.place - b.place).map(({ text }) => text), companies };
}

function broken(line: string, random: Random): string {
  const cut = line.slice(0, random.int(1, line.length - 1));
  return random.pick([
    cut,
    '{}',
    'null',
    '"Vrvirksomhed"',
    '{"Vrvirksomhed":{"navne":[]}}',
    '{"Vrukendt":{}}',
    '\u0000{',
  ]);
}

/** Adds lines to the file as a careless writer does: a few at a time, sometimes only half of the last one yet. */
export async function appendAll(
  file: string,
  lines: readonly string[],
  random: Random,
  onTold: (count: number) => unknown,
): Promise<void> {
  for (let at = 0; at < lines.length; ) {
    const some = lines.slice(at, at + random.int(1, 20));
    at += some.length;
    const text = some.map((line) => `${line}\n`).join('');
    const half = random.chance(0.2) ? text.length - random.int(1, 40) : text.length;
    await appendFile(file, text.slice(0, half));
    await sleep(random.int(20, 200));
    if (half < text.length) await appendFile(file, text.slice(half));
    await onTold(some.length);
  }
}

/** What a change says: of a unit that came or went without its name, which depends on what else was in the page. */
export const saying = (entity: string, updates: Updates): string => {
  const { pUnitAdded, pUnitRemoved, ...others } = updates;
  const units = [pUnitAdded, pUnitRemoved].map((unit) => unit?.entity.entityId);
  return `${entity} ${JSON.stringify([others, ...units])}`;
};

/** The changes that lie in lines, read one after the other with nothing in the way. */
export function undisturbed(lines: readonly string[], today: string): readonly Change[] {
  const options: DiffOptions = { today, placeType: 'Place', isRecoded: () => false };
  const last = new Map<string, { readonly text: string; readonly loadedAt: string; readonly is: Company | Unit }>();
  return lines.flatMap(documentsOf).flatMap((document) => {
    const reading = readDocument(document, today);
    if (reading.kind !== 'company' && reading.kind !== 'unit') return [];
    const is = reading.kind === 'company' ? reading.company : reading.unit;
    const text = JSON.stringify(document);
    const before = last.get(is.entity);
    if (before !== undefined && (before.text === text || reading.loadedAt < before.loadedAt)) return [];
    last.set(is.entity, { text, loadedAt: reading.loadedAt, is });
    return changesTo(is, before?.is, options);
  });
}

function changesTo(is: Company | Unit, before: Company | Unit | undefined, options: DiffOptions): readonly Change[] {
  if (is.kind === 'company') return changesOf(before?.kind === 'company' ? before : undefined, is, options);
  return unitChanges(before?.kind === 'unit' ? before : undefined, is, options);
}

function documentsOf(line: string): readonly unknown[] {
  try {
    return documentsIn(JSON.parse(line));
  } catch {
    return [];
  }
}
