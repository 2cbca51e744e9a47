/** The outcome of an answer for each record. Pure: here are the rules of the CRM, and most of the tests. */
import { type Outcome, ProviderError, type Read } from 'cvrsync/provider';
import type { Answer } from './call.ts';
import { toValues } from './properties.ts';

export function decideRead(id: string, properties: readonly string[], answer: Answer): Read {
  const found = entryOf(id, answer);
  if (found?.values !== undefined) return { kind: 'found', id, properties: toValues(found.values, properties) };
  return lost(id, found) ?? { kind: 'retry', id, reason: 'the answer of My CRM leaves this company out' };
}

/** Silence about a patch is never success. */
export function decideUpdate(id: string, answer: Answer): Outcome {
  const entry = entryOf(id, answer);
  if (entry?.ok === true) return { kind: 'written', id };
  if (entry?.errors !== undefined) {
    // By name: the runtime leaves these out and writes the rest.
    return { kind: 'rejected', id, reason: 'My CRM refused some values', properties: entry.errors };
  }
  return lost(id, entry) ?? { kind: 'retry', id, reason: 'the answer of My CRM leaves this company out' };
}

interface Entry {
  readonly id: string;
  readonly ok?: boolean;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly errors?: Readonly<Record<string, string>>;
  readonly deleted?: boolean;
  readonly mergedInto?: string;
}

function entryOf(id: string, { companies }: Answer): Entry | undefined {
  if (!Array.isArray(companies)) throw new ProviderError('unavailable', 'My CRM answered without companies');
  return companies.find((company) => company.id === id);
}

function lost(id: string, entry: Entry | undefined) {
  if (entry?.mergedInto !== undefined) return { kind: 'moved' as const, id, to: entry.mergedInto };
  return entry?.deleted === true ? { kind: 'gone' as const, id } : undefined;
}
