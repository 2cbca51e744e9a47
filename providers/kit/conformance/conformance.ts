/**
 * The conformance suite: every rule of the contract, for any test framework and for `cvrsync provider test`. Each rule
 * has its own CRM. The rules may run in any order but only one at a time, because one of them listens to the console.
 */

import { BrokenExpectation, brief, isProviderError } from './lab/insist.ts';
import { inLab, NoConnection, settingsOf } from './lab/lab.ts';
import type { BareRule, ConformanceRule } from './lab/rule.ts';
import type { Lack, Subject } from './lab/subject.ts';
import { addCompany, checkSubject, startFake } from './lab/whole-subject.ts';
import { ABILITY_RULES } from './rules/ability-rules.ts';
import { ANSWER_RULES } from './rules/answer-rules.ts';
import { BATCH_RULES } from './rules/batch-rules.ts';
import { CALL_RULES } from './rules/call-rules.ts';
import { CONNECTION_RULE } from './rules/connection-rule.ts';
import { FAULT_RULES } from './rules/fault-rules.ts';
import { MARK_RULES } from './rules/mark-rules.ts';
import { PROVIDER_RULES } from './rules/provider-rules.ts';
import { RECORD_RULES } from './rules/record-rules.ts';
import { SETTINGS_RULES } from './rules/settings-rules.ts';
import { VALUE_RULES } from './rules/value-rules.ts';
import { WRITE_RULES } from './rules/write-rules.ts';

/** A rule of the contract that a provider broke; the message names it, what was seen, and why it matters. */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule';
  readonly rule: string;
  readonly seen: string;
  readonly why: string;

  constructor({ name, about, why }: Pick<ConformanceRule, 'name' | 'about' | 'why'>, seen: string, cause: unknown) {
    super(`${name}: ${seen}\n  The rule: ${about}.\n  Why it matters: ${why}.`, { cause });
    this.rule = name;
    this.seen = seen;
    this.why = why;
  }
}

export interface Check {
  readonly name: string;
  readonly about: string;
  readonly why: string;
  readonly skip: string | false;
  /**
   * Tries the rule: `kept`, `absent` if the connection lacks the ability, or `untried` if there is no connection and an
   * earlier rule has said why. Throws {@link BrokenRule}.
   */
  run(): Promise<'kept' | 'absent' | 'untried'>;
}

const RULES: readonly ConformanceRule[] = [
  CONNECTION_RULE,
  ...BATCH_RULES,
  ...RECORD_RULES,
  ...VALUE_RULES,
  ...MARK_RULES,
  ...WRITE_RULES,
  ...CALL_RULES,
  ...FAULT_RULES,
  ...ANSWER_RULES,
  ...ABILITY_RULES,
];

/** The rules for a provider, in the order of a report. Throws if the subject is wrong. */
export function conformance(subject: Subject): readonly Check[] {
  checkSubject(subject);
  const report: Report = { isBroken: false };
  return [
    ...[...PROVIDER_RULES, ...SETTINGS_RULES].map((rule) => bare(rule, subject, report)),
    ...RULES.map((rule) => connected(rule, subject, report)),
  ];
}

/** Tries the fake of a subject before any rule; throws `WrongSubject`. */
export async function tryFake(subject: Subject): Promise<void> {
  const fake = await startFake(subject);
  try {
    settingsOf(subject.provider, fake.settings);
    addCompany(subject, fake, 'Birk');
  } finally {
    await fake.close();
  }
}

interface Report {
  isBroken: boolean;
}

function bare(rule: BareRule, subject: Subject, report: Report): Check {
  const { name, about, why } = rule;
  const run: Check['run'] = async () => {
    if (rule.has?.(subject) === false) return 'absent';
    await judged(rule, rule.run(subject), report);
    return 'kept';
  };
  return { name, about, why, skip: false, run };
}

function connected(rule: ConformanceRule, subject: Subject, report: Report): Check {
  const { name, about, why } = rule;
  const lack: Lack | undefined = rule.needs?.find((need) => subject.lacks?.[need] !== undefined);
  const tried = (): ReturnType<Check['run']> =>
    inLab(subject, async (lab) => {
      if (rule.has?.(lab) === false) return 'absent';
      await rule.run(lab);
      return 'kept';
    }).catch((error: unknown) => {
      // One rule has reported it; the others would only repeat it.
      if (error instanceof NoConnection && report.isBroken) return 'untried';
      throw error;
    });
  const run = (): ReturnType<Check['run']> => judged(rule, tried(), report);
  return { name, about, why, skip: lack === undefined ? false : (subject.lacks?.[lack] ?? false), run };
}

async function judged<T>(rule: ConformanceRule | BareRule, work: Promise<T>, report: Report): Promise<T> {
  try {
    return await work;
  } catch (error) {
    report.isBroken = true;
    throw new BrokenRule(rule, seenIn(error), error);
  }
}

function seenIn(error: unknown): string {
  if (error instanceof NoConnection) return `${error.message}: ${seenIn(error.cause)}`;
  if (error instanceof BrokenExpectation) return error.message;
  if (isProviderError(error)) return `a verb threw ${error.fault}: ${error.message}`;
  const what = `the provider or the fake threw something other than a ProviderError: ${brief(error instanceof Error ? error.message : error)}`;
  const place = error instanceof Error ? placeOf(error) : undefined;
  return place === undefined ? what : `${what} at ${place}`;
}

/** The place in the author's own files that an error came from. */
const placeOf = ({ stack = '' }: Error): string | undefined =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !/node:|node_modules/.test(line))
    .map((line) => /^\s+at (?:[^()]*\()?([^()]+:\d+):\d+\)?$/.exec(line)?.[1])
    .map((place) =>
      place
        ?.split(/[ /\\]/)
        .slice(-2)
        .join('/'),
    )
    .find((place) => place !== undefined);

const UNTRIED = 'there is no connection to try it on: see the broken rule above';

export interface RuleResult extends Pick<Check, 'name' | 'about' | 'why'> {
  readonly kind: 'kept' | 'broken' | 'absent' | 'skipped';
  /** What was seen, for a broken rule; the reason, for a skipped one. */
  readonly detail?: string;
  readonly ms: number;
}

/**
 * Tries every rule, or those named, one after the other, and yields each result. Throws the signal's reason, and if the
 * subject is wrong.
 */
export async function* judge(
  subject: Subject,
  signal?: AbortSignal,
  names: readonly string[] = [],
): AsyncGenerator<RuleResult> {
  for (const { name, about, why, skip, run } of conformance(subject)) {
    if (names.length > 0 && !names.includes(name)) continue;
    signal?.throwIfAborted();
    const started = performance.now();
    const ended = skip === false ? await resultOf(run) : { kind: 'skipped' as const, detail: skip };
    yield { name, about, why, ...ended, ms: Math.round(performance.now() - started) };
  }
}

async function resultOf(run: Check['run']): Promise<Pick<RuleResult, 'kind' | 'detail'>> {
  try {
    const kind = await run();
    return kind === 'untried' ? { kind: 'skipped', detail: UNTRIED } : { kind };
  } catch (error) {
    return { kind: 'broken', detail: error instanceof BrokenRule ? error.seen : String(error) };
  }
}
