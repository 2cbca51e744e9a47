/** Watches the rules while a daemon runs: takes up those that were accepted, and counts what the daemon's own file proposes. */
import type { Logger } from 'pino';
import { errorText } from '../../protocol/text/error-text.ts';
import { pause } from '../../runtime/limits/pause.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import type { Store } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { acceptRules, disputedConnections, endProposal, followRules } from '../rules/accepted.ts';
import { areSame, type DecisionRules, type NamedRules } from '../rules/rules.ts';
import { atStake, previewRules, totalsOf } from './preview.ts';
import {
  type CountedProposal,
  FRESH_MS,
  findProposals,
  isWaiting,
  type RuleProposal,
  readCounted,
  removalPreview,
  writeCounted,
} from './proposals.ts';

export interface RuleWatchDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** This daemon among those of the store. */
  readonly daemon?: string | undefined;
}

export interface WatchedRules {
  readonly crms: readonly Crm[];
  /** What the file says of each. */
  readonly configured: readonly NamedRules[];
  /** Whether this daemon counts what its file proposes: it does the work on records. */
  readonly counts: boolean;
}

export interface RuleWatch {
  /** Resolves when each connection was looked at once. */
  readonly looked: Promise<void>;
  /** Proposes what a file says that was read again. */
  propose(configured: readonly NamedRules[]): Promise<void>;
  stop(): Promise<void>;
}

/** How often a daemon looks which rules are accepted; a batch of records looks itself. */
const EVERY_MS = 10_000;
/** What could not be counted is counted again after this time. */
const AGAIN_MS = 60_000;

/** Begins to watch; stopped with the daemon. */
export function watchRules(deps: RuleWatchDeps, watched: WatchedRules): RuleWatch {
  const over = new AbortController();
  const file = { configured: watched.configured };
  const each = watched.crms.map((crm) => openLook(deps, { ...watched, file }, crm));
  const looks = [...each, openRemovalLook(deps, { ...watched, file })].map((look) => {
    // A store that does not answer is looked at again. One look at a time.
    let last: Promise<unknown> = Promise.resolve();
    return () => {
      const next = last.then(() => look(over.signal)).catch(() => undefined);
      last = next;
      return next;
    };
  });
  const first = looks.map((look) => look());
  const watching = looks.map(async (look, index) => {
    await first[index];
    while (!over.signal.aborted) {
      await pause(EVERY_MS, over.signal);
      if (!over.signal.aborted) await look();
    }
  });
  return {
    looked: Promise.all(first).then(() => undefined),
    async propose(configured) {
      file.configured = configured;
      await Promise.all(looks.map((look) => look()));
    },
    async stop() {
      over.abort();
      await Promise.all(watching);
    },
  };
}

/** What one daemon knows of one connection's rules. */
interface Looked {
  /** The accepted rules as they were last. */
  accepted?: DecisionRules | undefined;
  /** Others were accepted than the file says while the daemon ran: the file is old, and proposes nothing. */
  isOld: boolean;
  /** The proposal that this daemon counted. */
  counted?: string | undefined;
}

interface FileLook extends Pick<WatchedRules, 'counts'> {
  readonly file: Pick<WatchedRules, 'configured'>;
}

function openLook(deps: RuleWatchDeps, { file, counts }: FileLook, crm: Crm) {
  const looked: Looked = { isOld: false };
  let proposed: NamedRules | undefined;
  return async (signal: AbortSignal): Promise<void> => {
    const stated = file.configured.find(({ name }) => name === crm.name);
    // A file that was read again is not old.
    if (stated !== proposed) looked.isOld = false;
    proposed = stated;
    const accepted = await followRules(deps.store, crm.name);
    if (accepted === undefined || proposed === undefined || !counts) return;
    const isFirst = looked.accepted === undefined;
    followAcceptance(deps, looked, accepted, proposed);
    const found = (await findProposals(deps.store.db, file.configured)).find(({ name }) => name === crm.name);
    const isNews = found !== undefined && isWaiting(found) && (!looked.isOld || found.version !== undefined);
    if (isNews) await consider(deps, { crm, looked, file }, found, signal);
    // What an earlier process counted ends with the first look, what another daemon counts stays.
    else if (isFirst || looked.counted !== undefined) await forget(deps, crm.name, looked);
  };
}

/** Looks for connections that the file no longer has, and counts their linked records. */
function openRemovalLook(deps: RuleWatchDeps, { file, counts }: FileLook) {
  const { store, now, daemon } = deps;
  const looked = new Map<string, Looked>();
  return async (): Promise<void> => {
    if (!counts) return;
    const removals = (await findProposals(store.db, file.configured)).filter(({ after }) => after === undefined);
    const disputed = await disputedConnections(store.db, daemon, now());
    for (const { name, id } of removals) {
      const known = await readCounted(store.db, name);
      if (disputed.has(name)) continue;
      const preview = await removalPreview(store.db, name);
      const counted = { id, countedAt: now(), since: known?.id === id ? known.since : now(), preview };
      await store.write((tx) => writeCounted(tx, name, counted));
      const own = looked.get(name) ?? { isOld: false };
      looked.set(name, own);
      report(deps, own, counted, name);
    }
  };
}

/** Remembers what is accepted now, and whether that makes the daemon's file an old one. */
function followAcceptance({ log }: RuleWatchDeps, looked: Looked, accepted: DecisionRules, proposed: NamedRules): void {
  const { accepted: before } = looked;
  looked.accepted = accepted;
  if (before === undefined || areSame(before, accepted)) return;
  looked.isOld = !areSame(accepted, proposed);
  const what = looked.isOld ? 'rules were accepted that differ from this file' : 'the rules of this file were accepted';
  log.info({ provider: proposed.name }, `${what}: this daemon decides by them`);
}

async function forget({ store }: RuleWatchDeps, name: string, looked: Looked): Promise<void> {
  if ((await readCounted(store.db, name)) !== undefined) await store.write((tx) => endProposal(tx, name));
  looked.counted = undefined;
}

interface Considered extends Pick<FileLook, 'file'> {
  readonly crm: Crm;
  readonly looked: Looked;
}

/** Counts what a proposal would write, and accepts it if nothing is at stake. */
async function consider(
  deps: RuleWatchDeps,
  { crm, looked, file }: Considered,
  proposal: RuleProposal,
  signal: AbortSignal,
): Promise<void> {
  const { store, now, daemon } = deps;
  const { name, id, before, after, version } = proposal;
  if (after === undefined) return;
  const known = await readCounted(store.db, name);
  // A rollback needs a person's word.
  const mayNotAccept = version !== undefined || (await disputedConnections(store.db, daemon, now())).has(name);
  if (known?.id === id && !isDue(known, mayNotAccept, now())) return report(deps, looked, known, name);
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
    const accepts = isHarmless && !mayNotAccept;
    if (accepts) await acceptRules(tx, { ...after, name }, { by: 'start', now: now() });
    else await writeCounted(tx, name, counted);
    return accepts;
  });
  if (!accepted) return report(deps, looked, counted, name);
  looked.accepted = await followRules(store, name);
  deps.log.info({ provider: name }, 'the changed rules of the configuration write nothing: they are accepted');
  for (const queue of [`sync:${name}`, 'housekeeping']) deps.wakeUp.ring(queue);
}

/** Whether to count again: what waits for a person now and then, what may be accepted without one as soon as it may. */
function isDue({ preview, countedAt }: CountedProposal, mayNotAccept: boolean, now: number): boolean {
  if (preview === undefined || preview.unread > 0) return now - countedAt >= AGAIN_MS;
  return atStake(preview) > 0 ? now - countedAt >= FRESH_MS : !mayNotAccept;
}

/** Says once in a process that a proposal waits, and what to do. */
function report({ log }: RuleWatchDeps, looked: Looked, counted: CountedProposal, provider: string): void {
  if (looked.counted === counted.id) return;
  looked.counted = counted.id;
  const { preview, trouble } = counted;
  const figures = preview === undefined ? { trouble } : { linked: preview.linked, ...totalsOf(preview) };
  const advice = `cvrsync config diff ${provider} shows it, cvrsync config apply ${provider} accepts it`;
  const what =
    preview?.removes === true
      ? 'a connection is no longer configured, and that waits to be accepted: its records get no updates'
      : 'the configuration changes what is written, and waits to be accepted: until then the former rules decide';
  log.warn({ provider, ...figures, advice }, what);
}
