/** Runs a provider's rules in a thread of its own, so that the main thread can end one that loops. */
import { parentPort, workerData } from 'node:worker_threads';
import { conformance, judge, type RuleResult, tryFake } from '../../../providers/kit/conformance/conformance.ts';
import { WrongSubject } from '../../../providers/kit/conformance/lab/whole-subject.ts';
import { checkProvider } from '../../config/plugins/plugin-check.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { UsageError } from '../cli/command.ts';
import { loadSubject } from './subject.ts';

export interface Trial {
  readonly path: string;
  /** The rules to run, in this order; undefined only lists the rules. */
  readonly rules: readonly string[] | undefined;
}

export type TrialMessage =
  | { readonly kind: 'rules'; readonly provider: string; readonly contract: string; readonly rules: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string; readonly isUsage: boolean }
  | { readonly kind: 'begins'; readonly rule: string }
  | { readonly kind: 'result'; readonly result: RuleResult };

const send = (message: TrialMessage): void => parentPort?.postMessage(message);

async function tryRules({ path, rules }: Trial): Promise<void> {
  const subject = await loadSubject(path);
  const load = checkProvider(subject.provider.name, subject.provider);
  if (!load.ok) throw new Error(`The daemon would refuse this provider: ${load.message}`);
  const { name: provider, contract } = subject.provider;
  if (rules === undefined) {
    const names = conformance(subject).map(({ name }) => name);
    await tryFake(subject);
    return send({ kind: 'rules', provider, contract, rules: names });
  }
  for (const rule of rules) {
    send({ kind: 'begins', rule });
    for await (const result of judge(subject, undefined, [rule])) send({ kind: 'result', result });
  }
}

try {
  await tryRules(workerData);
} catch (error) {
  const message = errorText(error);
  send({ kind: 'refused', message, isUsage: error instanceof UsageError || error instanceof WrongSubject });
} finally {
  // Anything that the provider left open would keep the thread.
  process.exit();
}
