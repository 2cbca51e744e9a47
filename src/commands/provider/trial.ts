/** Tests a provider in another thread, so that every rule ends, whatever the provider does. */
import { Worker } from 'node:worker_threads';
import type { RuleResult } from '../../../providers/kit/conformance/conformance.ts';
import { UsageError } from '../cli/command.ts';
import type { Trial, TrialMessage } from './trial-worker.ts';

/** The most ms for a rule, and for all rules together. */
export interface TrialLimits {
  readonly ruleMs: number;
  readonly allMs: number;
}

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

/** Loads a provider and lists its rules. Throws if it does not exist, or the daemon would refuse it. */
export async function describeSubject(path: string, limits: TrialLimits, signal: AbortSignal): Promise<Described> {
  for await (const message of runThread({ path, rules: undefined }, limits.ruleMs, signal))
    if (message.kind === 'rules') return message;
    else if (message.kind === 'ended') throw new Error(`${path} cannot be loaded: ${message.why}`);
  throw new Error(`${path} cannot be loaded`);
}

/** Runs the rules one after the other. Ends one that hangs, and runs the next in a new thread. */
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
    for await (const result of tryInThread({ path, rules: left }, Math.min(ruleMs, msLeft), signal)) {
      yield result;
      left = left.slice(left.indexOf(result.name) + 1);
      if (performance.now() > end) break;
    }
  }
}

/** Runs rules in one thread until it ends; the rule that it ended in is broken. */
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
    } else if (message.kind === 'result') {
      left -= 1;
      yield message.result;
    } else if (message.kind === 'ended' && left > 0)
      yield broken(begun, message.why, Math.round(performance.now() - at));
  }
}

/** The end of a thread that was silent for too long, or that ended itself. */
interface Ended {
  readonly kind: 'ended';
  readonly why: string;
}

/** How long a thread may take to load a provider: a busy machine is slow, and no rule runs yet. */
const LOAD_MS = 60_000;

/** The messages of a thread. Ends a thread that is silent for `quietMs`, or whose reader stops. */
async function* runThread(trial: Trial, quietMs: number, signal: AbortSignal): AsyncGenerator<TrialMessage | Ended> {
  signal.throwIfAborted();
  const thread = new Worker(new URL(`./trial-worker${import.meta.url.slice(-3)}`, import.meta.url), {
    workerData: trial,
  });
  const inbox = openInbox<TrialMessage | Ended>();
  // Nothing is read after the first end.
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

/** Turns callbacks into messages for one reader. */
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
