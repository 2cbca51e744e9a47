/** Tests a provider in another thread, so that every rule ends, whatever the provider does. */
import { Worker } from 'node:worker_threads';
import type { RuleResult } from '../../../providers/kit/conformance/conformance.ts';
import { UsageError } from '../cli/command.ts';
import type { Trial, TrialMessage } from './trial-worker.ts';

/** How long a rule, and all rules together, may take, in ms. */
export interface TrialLimits {
  readonly ruleMs: number;
  readonly allMs: number;
}

/** What is known of a provider before its rules are tried. */
export interface Described {
  readonly provider: string;
  readonly contract: string;
  readonly rules: readonly string[];
}

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;
const broken = (rule: string, detail: string, ms: number): RuleResult => ({
  kind: 'broken',
  name: rule,
  about: 'a rule ends, whatever it finds',
  why: 'a verb that does not end keeps its lane, and one that loops keeps the whole daemon',
  detail,
  ms,
});

/** Loads a provider and says which rules there are for it; throws where there is none, or the daemon would refuse it. */
export async function describeSubject(path: string, limits: TrialLimits, signal: AbortSignal): Promise<Described> {
  for await (const message of runThread({ path, rules: undefined }, limits.ruleMs, signal))
    if (message.kind === 'rules') return message;
    else if (message.kind === 'ended') throw new Error(`${path} cannot be loaded: ${message.why}`);
  throw new Error(`${path} cannot be loaded`);
}

/** Tries the rules one after the other; one that does not end is ended, and the next begins in a thread of its own. */
export async function* tryRules(
  path: string,
  rules: readonly string[],
  { ruleMs, allMs }: TrialLimits,
  signal: AbortSignal,
): AsyncGenerator<RuleResult> {
  const end = performance.now() + allMs;
  let left = rules;
  while (left.length > 0) {
    const msLeft = end - performance.now();
    if (msLeft <= 0) {
      for (const rule of left) yield broken(rule, `not tried: all rules together took more than ${seconds(allMs)}`, 0);
      return;
    }
    for await (const verdict of tryInThread({ path, rules: left }, Math.min(ruleMs, msLeft), signal)) {
      yield verdict;
      left = left.slice(left.indexOf(verdict.name) + 1);
      if (performance.now() > end) break;
    }
  }
}

/** Tries rules in one thread until it ends; the rule it ended in is broken. */
async function* tryInThread(
  { path, rules }: { readonly path: string; readonly rules: readonly string[] },
  quietMs: number,
  signal: AbortSignal,
): AsyncGenerator<RuleResult> {
  let begun = rules[0] ?? '';
  let at = performance.now();
  let left = rules.length;
  for await (const message of runThread({ path, rules }, quietMs, signal)) {
    if (message.kind === 'begins') {
      begun = message.rule;
      at = performance.now();
    } else if (message.kind === 'verdict') {
      left -= 1;
      yield message.verdict;
    } else if (message.kind === 'ended' && left > 0)
      yield broken(begun, message.why, Math.round(performance.now() - at));
  }
}

/** A thread that sent nothing for too long, or ended by itself. */
interface Ended {
  readonly kind: 'ended';
  readonly why: string;
}

/** How long a thread may take to load a provider: a busy machine takes its time, and no rule is tried yet. */
const LOAD_MS = 60_000;

/**
 * The messages of a thread until it ends. Ends a thread that sends nothing for `quietMs` once it was loaded, and one whose
 * reader stops.
 */
async function* runThread(trial: Trial, quietMs: number, signal: AbortSignal): AsyncGenerator<TrialMessage | Ended> {
  signal.throwIfAborted();
  const thread = new Worker(new URL(`./trial-worker${import.meta.url.slice(-3)}`, import.meta.url), {
    workerData: trial,
  });
  const inbox = openInbox<TrialMessage | Ended>();
  // The first end counts: nothing is read after it.
  const end = (why: string): void => inbox.put({ kind: 'ended', why });
  thread.on('message', inbox.put);
  thread.on('error', (error) => end(`it threw outside of any call: ${String(error)}`));
  thread.on('exit', () => end('it ended the process'));
  const onAbort = (): void => end('stopped');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (let limitMs = Math.max(quietMs, LOAD_MS); ; limitMs = quietMs) {
      const late = setTimeout(
        () => end(`it did not end within ${seconds(limitMs)}: it loops or never answers`),
        limitMs,
      );
      const messages = await inbox.take();
      clearTimeout(late);
      for (const message of messages) {
        if (message.kind === 'refused')
          throw message.isUsage ? new UsageError(message.message) : new Error(message.message);
        yield message;
        if (message.kind === 'ended') return;
      }
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    await thread.terminate();
  }
}

/** What comes by callbacks, for one reader who waits for it. */
function openInbox<T>(): { readonly put: (one: T) => void; readonly take: () => Promise<readonly T[]> } {
  const waiting: T[] = [];
  let arrival = Promise.withResolvers<void>();
  return {
    put: (one) => {
      waiting.push(one);
      arrival.resolve();
    },
    take: async () => {
      await arrival.promise;
      arrival = Promise.withResolvers();
      return waiting.splice(0);
    },
  };
}
