/** While a daemon runs: follows newly accepted rules, and counts what its own file proposes. */
import type { Logger } from 'pino';
import { errorText } from '../../protocol/text/error-text.ts';
import { pause } from '../../runtime/limits/pause.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { readAllLeft, readLeft } from '../links/left.ts';
import { acceptRemoval, acceptRules, disputedConnections, endProposal, followRules } from '../rules/accepted.ts';
import { areSame, type DecisionRules, type NamedRules } from '../rules/rules.ts';
import { atStake, previewRules, totalsOf } from './preview.ts';
import {
  type CountedProposal,
  FRESH_MS,
  findProposals,
  isWaiting,
  type RuleProposal,
  readCounted,
  readRuleState,
  removalPreview,
  writeCounted,
} from './proposals.ts';

export interface RuleWatchDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly daemon?: string | undefined;
}

export interface WatchedRules {
  readonly crms: readonly Crm[];
  readonly configured: readonly NamedRules[];
  /** Whether this daemon counts proposals of its file: it works on records. */
  readonly counts: boolean;
}

export interface RuleWatch {
  /** Resolves after the first check of every connection. */
  readonly checked: Promise<void>;
  /** Proposes the rules of a file that was read again. */
  propose(configured: readonly NamedRules[]): Promise<void>;
  /** Looks at once at what was accepted or proposed. */
  look(): void;
  stop(): Promise<void>;
}

/** Interval of looks whether a check is needed; each batch of records checks the accepted rules by itself. */
const EVERY_MS = 10_000;
/** A failed count is repeated after this time. */
const AGAIN_MS = 60_000;

export function watchRules(deps: RuleWatchDeps, watched: WatchedRules): RuleWatch {
  const over = new AbortController();
  const file = { configured: watched.configured };
  const each = watched.crms.map((crm) => openCheck(deps, { ...watched, file }, crm));
  const checks = [...each, openRemovalCheck(deps, { ...watched, file })].map((check) => inTurn(check, over.signal));
  const first = checks.map((check) => check.run());
  const watching = (async () => {
    await Promise.all(first);
    let known: string | undefined;
    while (!over.signal.aborted) {
      await pause(EVERY_MS, over.signal);
      if (over.signal.aborted) break;
      const found = await readRuleState(deps.store.db).catch(() => undefined);
      const isNews = found === undefined || found !== known;
      known = found;
      // A count may take minutes: other connections do not wait for it.
      for (const check of checks) if (!check.isRunning && (isNews || check.isOpen)) void check.run();
    }
    await Promise.all(checks.map((check) => check.ended()));
  })();
  return {
    checked: Promise.all(first).then(() => undefined),
    async propose(configured) {
      file.configured = configured;
      await Promise.all(checks.map((check) => check.run()));
    },
    look() {
      for (const check of checks) void check.run();
    },
    async stop() {
      over.abort();
      await watching;
    },
  };
}

/** Runs a check, one run at a time. `isOpen`: it is to be repeated though nothing changed, because it failed or something waits. */
function inTurn(check: (signal: AbortSignal) => Promise<boolean>, signal: AbortSignal) {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let isOpen = true;
  return {
    async run(): Promise<void> {
      waiting += 1;
      const next = last.then(() => check(signal)).catch(() => true);
      last = next;
      isOpen = await next;
      waiting -= 1;
    },
    ended: () => last,
    get isOpen() {
      return isOpen;
    },
    get isRunning() {
      return waiting > 0;
    },
  };
}

/** The daemon's knowledge of one connection's rules. */
interface KnownRules {
  accepted?: DecisionRules | undefined;
  /** Other rules than the file's were accepted while the daemon ran: the file is outdated and proposes nothing. */
  isOld: boolean;
  counted?: string | undefined;
}

interface WatchedFile extends Pick<WatchedRules, 'counts'> {
  readonly file: Pick<WatchedRules, 'configured'>;
}

/** Opens a check of one connection; it says whether a proposal waits. */
function openCheck(deps: RuleWatchDeps, { file, counts }: WatchedFile, crm: Crm) {
  const memory: KnownRules = { isOld: false };
  let proposed: NamedRules | undefined;
  return async (signal: AbortSignal): Promise<boolean> => {
    const stated = file.configured.find(({ name }) => name === crm.name);
    // A file that was read again is not outdated.
    const isReadAgain = stated !== proposed;
    if (isReadAgain) memory.isOld = false;
    proposed = stated;
    const accepted = await followRules(deps.store, crm.name);
    if (accepted === undefined || proposed === undefined || !counts || (await isLeft(deps, crm))) return false;
    const isFirst = memory.accepted === undefined;
    if (isReadAgain) memory.accepted = accepted;
    followAcceptance(deps, memory, accepted, proposed);
    const found = (await findProposals(deps.store.db, file.configured)).find(({ name }) => name === crm.name);
    const isNews = found !== undefined && isWaiting(found) && (!memory.isOld || found.version !== undefined);
    if (isNews) await consider(deps, { crm, memory, file }, found, signal);
    // The first check ends the count of an earlier process; a count of another daemon stays.
    else if (isFirst || memory.counted !== undefined) await forget(deps, crm.name, memory);
    return isNews;
  };
}

/** Then its CRM is not called, and nobody is asked about it. */
const isLeft = async ({ store }: RuleWatchDeps, { name }: Crm): Promise<boolean> =>
  (await readLeft(store.db, name)) !== undefined;

/** Looks for connections that the file no longer has, and counts their linked records. */
function openRemovalCheck(deps: RuleWatchDeps, { file, counts }: WatchedFile) {
  const { store, now, daemon } = deps;
  const memory = new Map<string, KnownRules>();
  return async (): Promise<boolean> => {
    if (!counts) return false;
    const removals = (await findProposals(store.db, file.configured)).filter(({ after }) => after === undefined);
    const disputed = await disputedConnections(store.db, daemon, now());
    const left = await readAllLeft(store.db);
    for (const { name, id } of removals) {
      if (left.has(name)) {
        await store.write((tx) => acceptRemoval(tx, name, { by: 'start', now: now() }));
        continue;
      }
      const known = await readCounted(store.db, name);
      if (disputed.has(name)) continue;
      const preview = await removalPreview(store.db, name);
      const counted = { id, countedAt: now(), since: known?.id === id ? known.since : now(), preview };
      await store.write((tx) => writeCounted(tx, name, counted));
      const own = memory.get(name) ?? { isOld: false };
      memory.set(name, own);
      report(deps, own, counted, name);
    }
    return removals.length > 0;
  };
}

/** Remembers the accepted rules, and whether they make the daemon's file outdated. */
function followAcceptance(
  { log }: RuleWatchDeps,
  memory: KnownRules,
  accepted: DecisionRules,
  proposed: NamedRules,
): void {
  const { accepted: before } = memory;
  memory.accepted = accepted;
  if (before === undefined || areSame(before, accepted)) return;
  memory.isOld = !areSame(accepted, proposed);
  const what = memory.isOld ? 'rules were accepted that differ from this file' : 'the rules of this file were accepted';
  log.info({ provider: proposed.name }, `${what}: this daemon decides by them`);
}

async function forget({ store }: RuleWatchDeps, name: string, memory: KnownRules): Promise<void> {
  if ((await readCounted(store.db, name)) !== undefined) await store.write((tx) => endProposal(tx, name));
  memory.counted = undefined;
}

interface Considered extends Pick<WatchedFile, 'file'> {
  readonly crm: Crm;
  readonly memory: KnownRules;
}

/** Counts a proposal, and accepts it if it overwrites nothing. */
async function consider(
  deps: RuleWatchDeps,
  { crm, memory, file }: Considered,
  proposal: RuleProposal,
  signal: AbortSignal,
): Promise<void> {
  const { store, now, daemon } = deps;
  const { name, id, before, after, version } = proposal;
  if (after === undefined) return;
  const known = await readCounted(store.db, name);
  // A rollback needs a person's word.
  const mayNotAccept = version !== undefined || (await disputedConnections(store.db, daemon, now())).has(name);
  if (known?.id === id && !isDue(known, mayNotAccept, now())) return report(deps, memory, known, name);
  const countedAt = now();
  const since = known?.id === id ? known.since : countedAt;
  const counted = await previewRules({ store, now }, { before, after, crm, whole: true }, signal).then(
    (preview): CountedProposal => ({ id, countedAt, since, preview }),
    (error: unknown): CountedProposal => ({ id, countedAt, since, trouble: errorText(error) }),
  );
  signal.throwIfAborted();
  const isHarmless = counted.preview !== undefined && atStake(counted.preview) + counted.preview.unread === 0;
  const accepted = await store.write(async (tx) => {
    if ((await findProposals(tx, file.configured)).every((one) => one.id !== id || one.name !== name)) return false;
    // A daemon with another file may have joined during the count.
    const accepts = isHarmless && !mayNotAccept && !(await disputedConnections(tx, daemon, now())).has(name);
    if (accepts) await acceptRules(tx, { ...after, name }, { by: 'start', now: now() });
    else await writeCounted(tx, name, counted);
    return accepts;
  });
  if (!accepted) return report(deps, memory, counted, name);
  memory.accepted = await followRules(store, name);
  deps.log.info({ provider: name }, 'the changed rules of the configuration write nothing: they are accepted');
  for (const queue of [`sync:${name}`, 'housekeeping']) deps.wakeUp.ring(queue);
}

/** Whether to count again: a proposal that waits for a person now and then, one that needs none as soon as possible. */
function isDue({ preview, countedAt }: CountedProposal, mayNotAccept: boolean, now: number): boolean {
  if (preview === undefined || preview.unread > 0) return now - countedAt >= AGAIN_MS;
  return atStake(preview) > 0 ? now - countedAt >= FRESH_MS : !mayNotAccept;
}

/** Logs once in a process that a proposal waits, and what to do. */
function report({ log }: RuleWatchDeps, memory: KnownRules, counted: CountedProposal, provider: string): void {
  if (memory.counted === counted.id) return;
  memory.counted = counted.id;
  const { preview, trouble } = counted;
  const figures = preview === undefined ? { trouble } : { linked: preview.linked, ...totalsOf(preview) };
  const advice = `cvrsync config diff ${provider} shows it, cvrsync config apply ${provider} accepts it`;
  const what =
    preview?.removes === true
      ? 'a connection is no longer configured, and that waits to be accepted: its records get no updates'
      : 'the configuration changes what is written, and waits to be accepted: until then the former rules decide';
  // Which records, and not what they hold.
  const examples = preview?.examples.map(({ record, property }) => `${provider}:${record} ${property}`);
  log.warn({ provider, ...figures, examples, advice }, what);
}
