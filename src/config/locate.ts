/** Adds to the problems of a configuration their line, column, and the text of the line. */
import Type, { type TSchema } from 'typebox';
import type { Document } from 'yaml';
import { excerpt, type Span, spansOf, wordsOf } from './excerpt.ts';
import { offsetOf } from './place.ts';
import { entrySchema, loadProvider } from './plugins/plugin.ts';
import type { ConfigProblem } from './schema/fill.ts';
import { childrenOf, variantsOf, wordsIn } from './schema/lookup.ts';
import { configSchema, connectionSchema } from './schema/schema.ts';

/** Line and column count from 1. */
export interface LocatedProblem extends ConfigProblem {
  readonly line?: number;
  readonly column?: number;
  /** The line with a caret below; secrets are masked. */
  readonly excerpt?: string;
}

export interface ParsedText {
  readonly text: string;
  readonly document: Document;
  readonly value: unknown;
}

/**
 * Locates problems of a file that is valid YAML, in the order of its lines. `folder` is the base of its plugins' paths.
 */
export async function locateAll(
  problems: readonly ConfigProblem[],
  { text, document, value }: ParsedText,
  folder: string,
): Promise<readonly LocatedProblem[]> {
  const entries = await entriesOf(value, folder);
  const spans = spansOf(document.contents, configSchema, (name) => entries.get(name));
  const placed = problems.map((problem) => {
    const offset = offsetOf(document, problem.path, problem.isKey ? 'key' : 'value');
    return { offset, problem: { ...problem, message: withHome(problem, entries) } };
  });
  return placed
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, problem: { isKey: _, ...problem } }) => ({ ...problem, ...placeAt(text, offset, spans) }));
}

/** The place of an error in the YAML itself. */
export const locateIn = (text: string, offset: number) => placeAt(text, offset, wordsOf(text, KNOWN_WORDS));

function placeAt(text: string, offset: number, spans: readonly Span[]) {
  const lines = text.slice(0, offset).split('\n');
  const [line, column] = [lines.length, (lines.at(-1)?.length ?? 0) + 1];
  return { line, column, excerpt: excerpt(text, offset, line, spans) };
}

const KNOWN_WORDS: ReadonlySet<string> = new Set([
  'true',
  'false',
  ...wordsIn(configSchema),
  ...wordsIn(connectionSchema),
]);

async function entriesOf(value: unknown, folder: string): Promise<ReadonlyMap<string, TSchema>> {
  const named = Object.entries(child(child(value, 'connector'), 'providers') ?? {});
  const loads = named.map(async ([name, entry]): Promise<[string, TSchema]> => {
    const use: unknown = child(entry, 'use');
    const load = typeof use === 'string' ? await loadProvider(use, folder) : undefined;
    return [name, load?.ok === true ? entrySchema(load.provider) : connectionSchema];
  });
  return new Map(await Promise.all(loads));
}

const child = (value: unknown, key: string): unknown => Object.getOwnPropertyDescriptor(value ?? {}, key)?.value;

/** Names the section of a key that is in the wrong one, around it or in it: mostly a slip of indentation. */
function withHome({ path, message, isKey }: ConfigProblem, entries: ReadonlyMap<string, TSchema>): string {
  if (isKey !== true) return message;
  const parts = path.split('.');
  const key = parts.pop() ?? '';
  const names = schemasAt(parts, entries).flatMap((schema) =>
    Type.IsObject(schema) ? Object.keys(schema.properties) : [],
  );
  const sections = [
    ...parts.map((_, index) => parts.slice(0, index)).toReversed(),
    ...names.map((name) => [...parts, name]),
  ];
  const home = sections.find((section) =>
    schemasAt(section, entries).some((schema) => Type.IsObject(schema) && Object.hasOwn(schema.properties, key)),
  );
  if (home === undefined)
    return message.endsWith('is not known')
      ? `${message}: remove it, or look it up in \`cvrsync config schema\``
      : message;
  const place = home.length === 0 ? 'at the left margin' : `in ${home.join('.')}`;
  return `${message}${message.endsWith('?') ? '' : '.'} It belongs ${place}: check its indentation`;
}

function schemasAt(parts: readonly string[], entries: ReadonlyMap<string, TSchema>): readonly TSchema[] {
  const entry = parts.length > 2 && parts[0] === 'connector' && parts[1] === 'providers' ? parts[2] : undefined;
  const start = entry === undefined ? [configSchema] : [entries.get(entry) ?? connectionSchema];
  return parts
    .slice(entry === undefined ? 0 : 3)
    .reduce<readonly TSchema[]>(
      (schemas, key) => schemas.flatMap((schema) => childrenOf(schema, key)).flatMap(variantsOf),
      start,
    );
}
