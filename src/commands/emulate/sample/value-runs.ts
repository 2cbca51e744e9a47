/** A company's past as periods: the register's documents hold every value with the days it was valid. */
import { registerTime } from '../../../protocol/danish/clock.ts';
import type { SampleCompany } from '../../../protocol/sample/company.ts';

/** A company's state from a day on, and when the register learnt it. */
export interface Version {
  readonly company: SampleCompany;
  /** First day, YYYY-MM-DD. */
  readonly from: string;
  /** Time of registration. */
  readonly at: number;
}

/** A value and its first and last valid day; `to` is null if it is still valid. */
export interface SampleRun<T> {
  readonly value: T;
  readonly from: string;
  readonly to: string | null;
  /** When the register last wrote the run: at its beginning or its end. */
  readonly at: number;
}

const DAY_MS = 86_400_000;

const dayBefore = (day: string): string => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);

/**
 * The runs of one value. A run that ended on the day it began is a corrected mistake: another value replaces it.
 * Without another value its period ends before it begins, because a missing value would not remove anything.
 */
export function runsOf<T>(
  versions: readonly Version[],
  pick: (company: SampleCompany) => T | null | undefined,
): SampleRun<T>[] {
  const runs: (SampleRun<T> & { readonly text: string })[] = [];
  for (const { company, from, at } of versions) {
    const value = pick(company) ?? null;
    const text = JSON.stringify(value);
    const last = runs.at(-1);
    if (last?.to === null) {
      if (last.text === text) continue;
      runs.pop();
      if (last.from < from || value === null) runs.push({ ...last, to: dayBefore(from), at });
    }
    if (value !== null) runs.push({ value, text, from, to: null, at });
  }
  return runs.map(({ text: _, ...run }) => run);
}

/** The runs of each member of a list by its key, in the order of their first appearance. */
export function memberRuns<T>(
  versions: readonly Version[],
  pick: (company: SampleCompany) => readonly T[],
  keyOf: (member: T) => string,
): Map<string, SampleRun<T>[]> {
  const keys = new Set(versions.flatMap(({ company }) => pick(company).map(keyOf)));
  return new Map(
    [...keys].map((key) => [key, runsOf(versions, (company) => pick(company).find((member) => keyOf(member) === key))]),
  );
}

export interface SamplePeriod {
  readonly periode: { readonly gyldigFra: string | null; readonly gyldigTil: string | null };
  readonly sidstOpdateret: string | null;
}

export const periodOf = ({ from, to, at }: SampleRun<unknown>): SamplePeriod => ({
  periode: { gyldigFra: from, gyldigTil: to },
  sidstOpdateret: registerTime(at),
});

/** For example, names of people have no dates. */
export const UNDATED: SamplePeriod = { periode: { gyldigFra: null, gyldigTil: null }, sidstOpdateret: null };
