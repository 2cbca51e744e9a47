/** Converts a configuration file to the answers of a set-up, and a change of answers to edits of the file. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigEdit } from '../config/edit.ts';
import { connectionSchema } from '../config/schema/schema.ts';
import { entryOf, type SetUpPlace, sourceOf } from './config-of.ts';
import { type Draft, isDraft } from './draft.ts';
import { type Settings, valueAt } from './questions.ts';

/** The answers that a file contains; undefined if it cannot be read this way. Anything else stays only in the file. */
export function draftOf(value: Settings, place: SetUpPlace): Draft | undefined {
  const providers = Object.entries<unknown>(Object(valueAt(value, ['connector', 'providers'])));
  const source = sourceIn(value, place);
  const draft: unknown = {
    connections: Object.fromEntries(providers.map(([name, entry]) => [name, connectionIn({ ...Object(entry) })])),
    ...(source !== undefined && { source: { changes: source } }),
  };
  return isDraft(draft) ? draft : undefined;
}

/** The keys of a connection that have answers of their own. */
const ANSWERED = ['use', 'hold', 'policy', 'fields', 'values', 'only'] as const;

function connectionIn(entry: Settings): Readonly<Record<string, unknown>> {
  const common = new Set(Object.keys(connectionSchema.properties));
  const part = (isMeant: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(entry).filter(([key, value]) => value !== null && isMeant(key)));
  const { use, policy, values, fields, only } = entry;
  const { property: match, ...texts } = { ...Object(entry['match']) };
  const more = part((key) => common.has(key) && key !== 'match' && !ANSWERED.some((each) => each === key));
  const isSaid = { isComplete: true, isNumberChosen: true, isMapped: true };
  const connection = {
    ...{ use, ...isSaid, settings: part((key) => !common.has(key)), match, policy },
    ...{ hold: valueAt(entry, ['hold', 'property']), values: values ?? undefined },
    fields: listed(fields, (rule) => (rule === false ? rule : [rule].flat())),
    only: listed(only, (accepted) => [accepted].flat()),
    more: { ...more, ...(Object.keys(texts).length > 0 && { match: texts }) },
  };
  return Object.fromEntries(Object.entries(connection).filter(([, each]) => each !== undefined));
}

const listed = (section: unknown, list: (value: unknown) => unknown): unknown =>
  section === undefined || section === null
    ? undefined
    : Object.fromEntries(Object.entries(Object(section)).map(([key, value]) => [key, list(value)]));

/** The file's source of changes; undefined if the set-up does not offer it. */
function sourceIn(value: Settings, { samples }: SetUpPlace): Settings | undefined {
  const upstream = valueAt(value, ['connector', 'upstream']);
  const publicUrl = valueAt(value, ['server', 'publicUrl']);
  if (upstream !== undefined)
    return { source: 'service', ...Object(upstream), ...(publicUrl !== undefined && { publicUrl }) };
  const { source, path, ...credentials } = { ...Object(valueAt(value, ['service', 'register'])) };
  if (source === 'cvr') return { source: 'register', ...credentials };
  if (source === 'datafordeler') return { source, ...credentials };
  return source === 'file' && path === samples ? { source: 'sample' } : undefined;
}

/** The edits that lead from some answers to others. Connections without answers stay. */
export function editsBetween(before: Draft, after: Draft, place: SetUpPlace): readonly ConfigEdit[] {
  const connections = Object.entries(after.connections).flatMap(([name, connection]) => {
    const former = before.connections[name];
    return [...differences(former && entryOf(former), entryOf(connection), ['connector', 'providers', name])];
  });
  return [...connections, ...sourceEdits(before, after, place)];
}

function sourceEdits(before: Draft, after: Draft, place: SetUpPlace): readonly ConfigEdit[] {
  if (isDeepStrictEqual(before.source, after.source)) return [];
  const [from, to] = [sourceOf(before, place), sourceOf(after, place)];
  const kind = ['changes', 'source'];
  const isSameKind = valueAt(before.source ?? {}, kind) === valueAt(after.source ?? {}, kind);
  const part = (former: unknown, next: unknown, path: readonly string[]): readonly ConfigEdit[] =>
    isSameKind ? [...differences(former, next, path)] : [{ path, value: next }];
  return [
    ...part(from.upstream, to.upstream, ['connector', 'upstream']),
    ...part(from.register, to.register, ['service', 'register']),
    ...(to.publicUrl === undefined ? [] : part(from.publicUrl, to.publicUrl, ['server', 'publicUrl'])),
  ];
}

/** The edits of a section; they remove missing keys. */
export const sectionEdits = (before: unknown, after: unknown, path: readonly string[]): readonly ConfigEdit[] => [
  ...differences(before, after, path),
];

function* differences(before: unknown, after: unknown, path: readonly string[]): Iterable<ConfigEdit> {
  if (isDeepStrictEqual(before, after)) return;
  const [from, to] = [sectionIn(before), sectionIn(after)];
  if (from === undefined || to === undefined || isOneValue(path)) return yield { path, value: after };
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)]))
    yield* differences(from[key], to[key], [...path, key]);
}

/** Whether a path is one value: the rule of a field, or the values of one. */
const isOneValue = ([, , , section, key]: readonly string[]): boolean =>
  key !== undefined && ['fields', 'values', 'only'].includes(section ?? '');

const sectionIn = (value: unknown): Settings | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
