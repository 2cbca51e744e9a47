/**
 * write: sends patches until every record has its outcome. Leaves out properties that a CRM refuses, divides calls that it
 * refuses as a whole, and reads again whatever is sent later than its first call.
 */
import { type Connection, type Outcome, type Patch, ProviderError } from '../../../providers/provider.ts';
import { releasePair, withSendGuard } from '../crm/send-guard.ts';
import { UNMENTIONED } from '../crm/settle.ts';
import { type PropertyRefusals, refusalsOf } from '../decide/refusal.ts';
import { FRESH_MS, type Freshness, type WriteWindow } from './freshness.ts';

/** What became of one record: the outcome of its last patch, and every property that was refused on the way. */
export interface Written {
  readonly outcome:
    | Outcome
    /** Nothing of the patch left: no read of the record was young enough. */
    | { readonly kind: 'stale'; readonly id: string; readonly reason: string }
    /** `unsent`: nothing of the patch had left. */
    | { readonly kind: 'fault'; readonly id: string; readonly error: unknown; readonly unsent?: true };
  readonly refused: PropertyRefusals;
  /** Of a patch that was written. */
  readonly window?: WriteWindow;
}

/** A CRM names one bad property at a time, or all: a record that still fails after so many rounds is refused whole. */
const ROUNDS = 12;
/** Where so many records are refused alone, and nothing goes through, it is the connection that is refused. */
const REFUSED_ALONE = 3;
/** So many reads in a row that were too slow for a single record are enough. */
const SLOW_READS = 4;
/** How much of the time that a write has after its read is planned for. */
const SPARE = 0.6;

/** Why calls are smaller than the CRM allows: larger ones are refused, or not read in time. */
export type SmallerReason = 'refused' | 'slow';

export interface WriteOptions {
  readonly fresh: Freshness;
  /** Adds what must not be written to a record without the properties that were refused. */
  readonly withLeftBehind?: (id: string, refused: PropertyRefusals) => PropertyRefusals;
  /** Called where calls of this size go through and larger ones do not. */
  readonly onSmaller?: (size: number, reason: SmallerReason) => void;
  /** Called with each call that is divided. */
  readonly onDivided?: () => void;
}

/** Patches that are sent in one call. */
interface Part {
  readonly patches: readonly Patch[];
  /** They were read just now. */
  readonly isRead?: true;
  /** What is left of a call that was refused for others. */
  readonly isRest?: true;
  /** The call that this is a half of. */
  readonly half?: Division;
}

/** A call that was divided: the sizes of the halves that went through. */
type Division = number[];

/** One run: what is still to be sent, and what is known so far. */
interface Run extends WriteOptions {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly parts: Part[];
  readonly results: Map<string, Written>;
  readonly refused: Map<string, PropertyRefusals>;
  readonly rounds: Map<string, number>;
  /** Records that were refused in a call of their own. */
  readonly alone: Written['outcome'][];
  /** Whether the CRM itself answered for any record. */
  isThrough: boolean;
  /** How many records are read and written at once at most. */
  size: number;
  /** How many reads in a row were too slow for any write. */
  slowReads: number;
  /** How many records were read and written in time after a slow read; 0 if none was slow. */
  inTime: number;
}

/**
 * Updates the records of one batch. What the CRM had written before a fault is kept: the fault is the outcome of the
 * rest, and no call follows it. An empty patch is no call. No write leaves without a read that is young enough
 * (freshness.ts): the records are read again, fewer at once if the reads are slow.
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

/** The halves of a batch, the first one larger if its number is odd; no half is empty. */
export function inHalves<T>(batch: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}

/** Takes the next part off the run, no larger than may be read at once. */
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

/** A patch, and what was answered for it. */
interface Answered {
  readonly patch: Patch;
  readonly outcome: Written['outcome'];
}

/** What an answer is about: the age of the read, the call, the connection, or the record's own. */
function classOf(kind: Written['outcome']['kind'], isStale: boolean): 'stale' | 'refused' | 'fault' | 'own' {
  if (isStale && (kind === 'retry' || kind === 'fault')) return 'stale';
  if (kind === 'call-refused') return 'refused';
  return kind === 'fault' ? 'fault' : 'own';
}

/** A part got answers of its own: more may be read at once, and its size is right if its sibling's is. */
function goesThrough(run: Run, { patches, half }: Part, answered: readonly Answered[]): void {
  const size = answered.length;
  if (run.size < Number.POSITIVE_INFINITY && size === run.size && size > run.inTime) {
    run.onSmaller?.(size, 'slow');
    run.inTime = size;
    run.size *= 2;
  }
  // Less was sent than was planned for, or one record is to blame: that says nothing of the size.
  const isWhole = size === patches.length && answered.every(({ outcome }) => outcome.kind === 'written');
  if (half === undefined || !isWhole) return;
  half.push(size);
  if (half.length === 2) run.onSmaller?.(Math.max(...half), 'refused');
}

/** Cuts a call that was refused as a whole in two. What is left of one that others were to blame for goes again whole. */
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

/** Nothing goes through: it is no record's fault. */
function refuseAll(run: Run): void {
  const [first] = run.alone;
  const error = new ProviderError('refused', reasonOf(first));
  run.parts.unshift({ patches: run.alone.splice(0).map(({ id }) => ({ id, properties: {} })) });
  endRest(run, (id) => ({ kind: 'fault', id, error }));
}

/**
 * Has patches sent again whose read had grown old: as many as could be written in time before, or as many as a read of
 * that speed leaves time for. Where one record alone is read too slowly, its write may leave later if the connection can
 * find the edits that it replaces; else nothing more is sent.
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
  // Once may be chance: the process stood still, or another one took the call.
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

/** Gives all that is still to be sent this outcome. */
function endRest(run: Run, outcomeOf: (id: string) => Written['outcome']): void {
  for (const { patches } of run.parts.splice(0)) for (const { id } of patches) finish(run, outcomeOf(id));
}

/** What of a patch is to be sent again, without what was refused; nothing if the record is finished. */
function restOf(run: Run, patch: Patch, outcome: Written['outcome'], window: WriteWindow): readonly Patch[] {
  const bad = badOf(patch, outcome, run.withLeftBehind);
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

/** A record that is refused alone, while others go through, is the one to blame. */
const rejected = (outcome: Written['outcome']): Outcome => ({
  kind: 'rejected',
  id: outcome.id,
  reason: reasonOf(outcome),
  properties: {},
});

/** Properties that this answer takes out of the patch, with the reason. */
function badOf(
  patch: Patch,
  outcome: Written['outcome'],
  withLeftBehind: WriteOptions['withLeftBehind'] = (_, refused) => refused,
): PropertyRefusals {
  return outcome.kind === 'rejected' ? withLeftBehind(patch.id, refusalsOf(ours(patch, outcome.properties))) : {};
}

/** Reads records again, and returns what their patches are now. */
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

/** Only what we sent can be left out of the next round: another name would loop. */
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
