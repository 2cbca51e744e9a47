/** A connection of which nothing is wrong, to be broken in one way at a time. */
import type { Connection, Outcome, Read } from '../../../providers/provider.ts';
import { checkAnswers } from '../../../src/connector/crm/answer-check/answer-check.ts';

export const live = () => new AbortController().signal;
/** What a plugin gives, whatever its types say. */
export const raw = (answer: unknown) => async () => answer as never;

const SOUND: Connection = {
  check: raw({ id: '7', name: 'Seven', notes: [] }),
  properties: raw([{ name: 'name', label: 'Name', type: 'string', writable: true }]),
  read: async (ids) => ids.map((id): Read => ({ kind: 'found', id, properties: { name: `of ${id}` } })),
  update: async (patches) => patches.map(({ id }): Outcome => ({ kind: 'written', id })),
  scan: raw({ records: [{ id: '1', properties: { name: 'A' } }] }),
};

/** It behind the fence, with these verbs instead of its own. */
export const fenced = (broken: Partial<Connection>, options = {}) =>
  checkAnswers({ ...SOUND, ...broken }, { name: 'crm', ...options });
