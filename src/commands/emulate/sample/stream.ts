/** Endless plausible series of register documents, for the emulator, tests and benches. */
import type { Entity } from '../../../protocol/formats.ts';
import { CHANGES } from '../../../protocol/sample/change.ts';
import type { SampleCompany } from '../../../protocol/sample/company.ts';
import { type Random, randomFrom } from '../../../protocol/sample/random.ts';
import { sampleCompanies } from '../../../protocol/sample/stream.ts';
import { documentOf } from './document.ts';
import { unitDocumentOf } from './unit.ts';
import type { SampleRun, Version } from './value-runs.ts';

export interface SampleDocumentsOptions {
  /** When the first document is loaded; each later one follows after `stepMs` (a minute). */
  readonly start?: number;
  readonly stepMs?: number;
  /** Whether to include the documents of production units; true by default. */
  readonly units?: boolean;
}

const DAY_MS = 86_400_000;
/** The most versions in a document: real ones have some dozens over decades. */
const REMEMBERED = 12;

// The changes of a company that continues to exist.
const EVENTS = [
  'name',
  'altNames',
  'address',
  'industry',
  'purpose',
  'powerToBind',
  'bylawsChangedDate',
  'capital',
  'form',
  'email',
  'fax',
  'phoneNumber',
  'website',
  'ownership',
  'trueOwnership',
  'trueVoteRights',
  'accountant',
  'board',
  'management',
  'status',
  'pUnitUpdated',
  'pUnitAdded',
  'pUnitRemoved',
  'commercialProtection',
  'monthlyEmployeeCount',
  'quarterlyEmployees',
  'yearlyEmployees',
] as const;

interface Life {
  versions: [Version, ...Version[]];
  readonly units: Map<string, SampleRun<string>[]>;
}

/** A document, and the later state of its company, or of its unit's company. */
export interface SampleDocument {
  readonly document: unknown;
  readonly company: SampleCompany;
}

/**
 * The documents of `count` companies, then `changes` more documents, each with a change of one company. The same
 * arguments give the same documents, and a longer series begins like a shorter one. Every document has its company's
 * history; the time of loading always rises.
 */
export function* sampleSeries(
  seed: number,
  count: number,
  changes: number,
  options: SampleDocumentsOptions = {},
): Generator<SampleDocument, void, void> {
  const { start = Date.UTC(2025, 0, 6, 7), stepMs = 60_000, units = true } = options;
  const random = randomFrom(seed);
  let now = start;
  const tick = (): number => {
    now += stepMs;
    return now;
  };
  const lives: Life[] = [];
  for (const company of sampleCompanies(seed, count)) {
    const life = bornLife(company);
    lives.push(life);
    yield { document: documentOf(life.versions, { loadedAt: tick() }), company };
    if (!units) continue;
    for (const unit of company.pUnits)
      yield { document: unitDocumentOf(unit, life.versions, { loadedAt: tick() }), company };
  }
  for (let made = 0; made < changes && lives.length > 0; made++) {
    const life = lives[random.int(0, lives.length - 1)];
    if (life === undefined) return;
    const event = random.pick(EVENTS);
    const at = tick();
    if (event !== 'pUnitUpdated') yield changed(life, event, random, at);
    else if (units) yield* renamed(life, made, at);
  }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const bornLife = (company: SampleCompany): Life => {
  const from = company.started.slice(0, 10);
  return { versions: [{ company, from, at: Date.parse(from) + 10 * 3_600_000 }], units: new Map() };
};

const rest = ([first, ...others]: [Version, ...Version[]]): [Version, ...Version[]] => [
  first,
  ...others.slice(Math.max(0, others.length - REMEMBERED)),
];

const latestOf = ({ versions }: Life): SampleCompany => (versions.at(-1) ?? versions[0]).company;

/** Changes one thing about a company, and returns its next document. */
function changed(
  life: Life,
  event: Exclude<(typeof EVENTS)[number], 'pUnitUpdated'>,
  random: Random,
  at: number,
): SampleDocument {
  const registeredAt = at - 2_000;
  const { company } = CHANGES[event](latestOf(life), random, new Date(registeredAt).toISOString());
  life.versions = [...rest(life.versions), { company, from: dayOf(registeredAt), at: registeredAt }];
  return { document: documentOf(life.versions, { loadedAt: at }), company };
}

/** Renames the first unit of a company: yields the unit's next document, or nothing for a company without units. */
function* renamed(life: Life, made: number, at: number): Generator<SampleDocument, void, void> {
  const company = latestOf(life);
  const [unit] = company.pUnits;
  if (unit === undefined) return;
  const names = namesOf(life, unit, `${company.name} afd. ${made}`, at);
  life.units.set(unit.entityId, names);
  yield { document: unitDocumentOf(unit, life.versions, { loadedAt: at, names }), company };
}

function namesOf(life: Life, unit: Entity, name: string, at: number): SampleRun<string>[] {
  const [{ from, at: born }] = life.versions;
  const names = life.units.get(unit.entityId) ?? [{ value: unit.name ?? '', from, to: null, at: born }];
  const today = dayOf(at);
  const last = names.at(-1);
  if (last !== undefined) {
    names.pop();
    if (last.from < today) names.push({ ...last, to: dayOf(Date.parse(today) - DAY_MS), at });
  }
  return [...names, { value: name, from: today, to: null, at: at - 2_000 }];
}
