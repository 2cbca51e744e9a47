/**
 * Sends patches until every record has an outcome. Leaves out refused properties, divides calls that the CRM refuses as
 * a whole, and reads again before later calls.
 */
import { type Connection, type Outcome, type Patch, ProviderError } from '../../../providers/provider.ts';
import { releasePair, withSendGuard } from '../crm/send-guard.ts';
import { UNMENTIONED } from '../crm/settle.ts';
import { type PropertyRefusals, refusalsOf } from '../decide/refusal.ts';
import { FRESH_MS, type Freshness, type WriteWindow } from './freshness.ts';

/** The outcome of a record's last patch, and all properties refused on the way. */
export interface Written {
  readonly outcome:
    | Outcome
    /** Nothing was sent: no read of the record was recent enough. */
    | { readonly kind: 'stale'; readonly id: string; readonly reason: string }
    | { readonly kind: 'fault'; readonly id: string; readonly error: unknown; readonly unsent?: true };
  readonly refused: PropertyRefusals;
  readonly window?: WriteWindow;
}

/** A CRM names one bad property at a time, or all. A record that still fails after so many rounds is refused. */
const ROUNDS = 12;
/** If so many records are refused alone and nothing succeeds, the CRM refuses the connection. */
const REFUSED_ALONE = 3;
/** Give up after so many reads in a row that were too slow for a single record. */
const SLOW_READS = 4;
/** Share of the time after a read that is planned for the write. */
const SPARE = 0.6;

export type SmallerReason = 'refused' | 'slow';

export interface WriteOptions {
  readonly fresh: Freshness;
  /** Adds properties that must not be written without the refused ones. */
  readonly withLeftBehind?: (id: string, refused: PropertyRefusals) => PropertyRefusals;
  readonly onSmaller?: (size: number, reason: SmallerReason) => void;
  readonly onDivided?: () => void;
}

interface Part {
  readonly patches: readonly Patch[];
  readonly isRead?: true;
  /** The rest of a call that was refused because of others. */
  readonly isRest?: true;
  readonly half?: Division;
}

type Division = number[];

interface Run extends WriteOptions {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly parts: Part[];
  readonly results: Map<string, Written>;
  readonly refused: Map<string, PropertyRefusals>;
  readonly rounds: Map<string, number>;
  readonly alone: Written['outcome'][];
  isThrough: boolean;
  /** Most records in one read and write. */
  size: number;
  /** Reads in a row that were too slow for any write. */
  slowReads: number;
  /** Records read and written in time after a slow read; 0 if none was slow. */
  inTime: number;
}

/**
 * Updates the records of one batch. Records written before a fault keep their outcome; the fault is the outcome of the
 * rest, and no call follows it. An empty patch makes no call. No write leaves without a recent read (freshness.ts): the
 * records are read again, in smaller parts if reads are slow.
 */
export async function writePatches(
  connection: Connection,
  patches: readonly Patch[],
  signal: AbortSignal,
  options: WriteOptions,
): Promise<ReadonlyMap<string, Written>> {
  const run: Run = {
    ...options,
    connection,
    signal,
    parts: [{ patches: patches.filter(isWorthACall), isRead: true }],
    results: new Map(),
    refused: new Map(),
    rounds: new Map(),
    alone: [],
    isThrough: false,
    size: Number.POSITIVE_INFINITY,
    slowReads: 0,
    inTime: 0,
  };
  for (let part = nextPart(run); part !== undefined; part = nextPart(run)) {
    const sent = part.isRead === true ? part.patches : await renewed(run, part.patches);
    if (sent.length > 0) await writePart(run, part, sent);
  }
  if (run.fresh.pair !== undefined) releasePair(run.fresh.pair);
  for (const outcome of run.alone) finish(run, run.isThrough ? rejected(outcome) : outcome);
  return run.results;
}

/** The first half is larger if the number is odd; no half is empty. */
export function inHalves<T>(batch: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}

function nextPart({ parts, size }: Run): Part | undefined {
  const part = parts.shift();
  if (part === undefined || part.patches.length <= size) return part;
  parts.unshift({ patches: part.patches.slice(size) });
  return { patches: part.patches.slice(0, size) };
}

async function writePart(run: Run, part: Part, sent: readonly Patch[]): Promise<void> {
  const answers = await attempt(run, sent);
  const window = run.fresh.answered();
  const {
    stale = [],
    refused = [],
    fault = [],
    own = [],
  } = Object.groupBy(
    sent.map((patch, index) => ({
      patch,
      outcome: answers[index] ?? { kind: 'retry' as const, id: patch.id, reason: UNMENTIONED },
    })),
    ({ outcome: { kind } }) => classOf(kind, run.fresh.isStale()),
  );
  if (own.length > 0) run.isThrough = true;
  const rest = [...own, ...fault].flatMap(({ patch, outcome }) => restOf(run, patch, outcome, window));
  if (rest.length > 0) run.parts.unshift({ patches: rest });
  if (refused.length > 0) divide(run, part, sent, refused);
  if (stale.length > 0) {
    const patches = stale.map(({ patch }) => patch);
    readSooner(run, patches, sent.length);
  } else run.slowReads = 0;
  if (own.length === sent.length) goesThrough(run, part, own);
  for (const { outcome } of fault.slice(0, 1))
    if (outcome.kind === 'fault') endRest(run, (id) => ({ ...outcome, id, unsent: true }));
}

interface Answered {
  readonly patch: Patch;
  readonly outcome: Written['outcome'];
}

/** The subject of an outcome: the age of the read, the call, the connection, or the record itself. */
function classOf(kind: Written['outcome']['kind'], isStale: boolean): 'stale' | 'refused' | 'fault' | 'own' {
  if (isStale && (kind === 'retry' || kind === 'fault')) return 'stale';
  if (kind === 'call-refused') return 'refused';
  return kind === 'fault' ? 'fault' : 'own';
}

/** All records of a part got outcomes: larger reads may follow, and the size is right if the other half's is. */
function goesThrough(run: Run, { patches, half }: Part, answered: readonly Answered[]): void {
  const size = answered.length;
  if (run.size < Number.POSITIVE_INFINITY && size === run.size && size > run.inTime) {
    run.onSmaller?.(size, 'slow');
    run.inTime = size;
    run.size *= 2;
  }
  // A smaller part, or a record at fault, proves nothing about the size.
  const isWhole = size === patches.length && answered.every(({ outcome }) => outcome.kind === 'written');
  if (half === undefined || !isWhole) return;
  half.push(size);
  if (half.length === 2) run.onSmaller?.(Math.max(...half), 'refused');
}

/** Halves a refused call. The rest of a call that was refused because of others is sent again whole. */
function divide(run: Run, { isRest }: Part, sent: readonly Patch[], refused: readonly Answered[]): void {
  const patches = refused.map(({ patch }) => patch);
  if (sent.length === 1) {
    run.alone.push(...refused.map(({ outcome }) => outcome));
    if (!run.isThrough && run.alone.length >= REFUSED_ALONE) refuseAll(run);
    return;
  }
  run.onDivided?.();
  if (patches.length < sent.length && isRest !== true) run.parts.unshift({ patches, isRest: true });
  else {
    const half: Division = [];
    run.parts.unshift(...inHalves(patches).map((each) => ({ patches: each, half })));
  }
}

/** Nothing succeeds, so no single record is at fault. */
function refuseAll(run: Run): void {
  const [first] = run.alone;
  const error = new ProviderError('refused', reasonOf(first));
  run.parts.unshift({ patches: run.alone.splice(0).map(({ id }) => ({ id, properties: {} })) });
  endRest(run, (id) => ({ kind: 'fault', id, error }));
}

/**
 * Sends patches again whose read was too old: as many as were written in time before, or as many as the read's speed
 * allows. If even one record is read too slowly, its write may leave later if the connection can find replaced edits;
 * otherwise nothing more is sent.
 */
function readSooner(run: Run, stale: readonly Patch[], sent: number): void {
  const { fresh, connection } = run;
  run.parts.unshift({ patches: stale });
  if (stale.length < sent) {
    run.size = sent - stale.length;
    run.slowReads = 0;
    return;
  }
  if (run.inTime > 0 && sent > run.inTime) {
    run.size = run.inTime;
    return;
  }
  run.slowReads += 1;
  // Once may be chance: the process froze, or another one took the call.
  if (run.slowReads > 1) run.size = Math.max(1, Math.floor((sent * FRESH_MS * SPARE) / Math.max(fresh.age(), 1)));
  if (sent > 1 || run.slowReads < SLOW_READS) return;
  if (connection.edits !== undefined && run.slowReads < 2 * SLOW_READS) {
    fresh.widen();
    run.size = Number.POSITIVE_INFINITY;
    return;
  }
  const reason = `the CRM takes too long to answer: a write leaves within ${FRESH_MS} ms of the start of its read, or an edit in between may be lost`;
  endRest(run, (id) => ({ kind: 'stale', id, reason }));
}

function endRest(run: Run, outcomeOf: (id: string) => Written['outcome']): void {
  for (const { patches } of run.parts.splice(0)) for (const { id } of patches) finish(run, outcomeOf(id));
}

/** The rest of a patch without refused properties; empty if the record is finished. */
function restOf(run: Run, patch: Patch, outcome: Written['outcome'], window: WriteWindow): readonly Patch[] {
  const bad = refusedIn(patch, outcome, run.withLeftBehind);
  if (Object.keys(bad).length === 0) {
    finish(run, outcome, window);
    return [];
  }
  const rounds = (run.rounds.get(patch.id) ?? 0) + 1;
  run.rounds.set(patch.id, rounds);
  run.refused.set(patch.id, { ...run.refused.get(patch.id), ...bad });
  const rest = without(patch, bad);
  if (isWorthACall(rest) && rounds < ROUNDS) return [rest];
  finish(run, isWorthACall(rest) ? outcome : { kind: 'written', id: patch.id });
  return [];
}

function finish({ results, refused }: Run, outcome: Written['outcome'], window?: WriteWindow): void {
  const known = { outcome, refused: refused.get(outcome.id) ?? {} };
  results.set(outcome.id, outcome.kind === 'written' && window !== undefined ? { ...known, window } : known);
}

const reasonOf = (outcome: Written['outcome'] | undefined): string =>
  outcome !== undefined && 'reason' in outcome ? outcome.reason : UNMENTIONED;

/** A record that is refused alone while others succeed is at fault. */
const rejected = (outcome: Written['outcome']): Outcome => ({
  kind: 'rejected',
  id: outcome.id,
  reason: reasonOf(outcome),
  properties: {},
});

function refusedIn(
  patch: Patch,
  outcome: Written['outcome'],
  withLeftBehind: WriteOptions['withLeftBehind'] = (_, refused) => refused,
): PropertyRefusals {
  return outcome.kind === 'rejected' ? withLeftBehind(patch.id, refusalsOf(ours(patch, outcome.properties))) : {};
}

async function renewed(run: Run, old: readonly Patch[]): Promise<readonly Patch[]> {
  const ids = old.map(({ id }) => id);
  try {
    const patches = (await run.fresh.renew(ids)).map((patch) => without(patch, run.refused.get(patch.id) ?? {}));
    for (const { id } of patches.filter((patch) => !isWorthACall(patch))) finish(run, { kind: 'written', id });
    return patches.filter(isWorthACall);
  } catch (error) {
    run.signal.throwIfAborted();
    run.parts.unshift({ patches: old });
    endRest(run, (id) => ({ kind: 'fault', id, error, unsent: true }));
    return [];
  }
}

const isWorthACall = ({ properties }: Patch): boolean => Object.keys(properties).length > 0;

const without = ({ id, properties }: Patch, bad: PropertyRefusals): Patch => ({
  id,
  properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(bad, name))),
});

/** Only properties of the patch can be removed: another name would loop. */
const ours = (patch: Patch, reasons: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(reasons).filter(([name]) => Object.hasOwn(patch.properties, name)));

async function attempt(
  { connection, signal, fresh }: Run,
  patches: readonly Patch[],
): Promise<readonly Written['outcome'][]> {
  try {
    return await withSendGuard(fresh.guard, () => connection.update(patches, signal), fresh.pair);
  } catch (error) {
    signal.throwIfAborted();
    return patches.map(({ id }) => ({ kind: 'fault', id, error }));
  }
}
