/**
 * Renders a chart as Helm does, as far as ours goes: texts, comments, if, with, range over a map or list, define, and calls
 * of the functions below. What it does not know it refuses. Its output was compared with that of Go's own templates.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

interface Text {
  readonly kind: 'text';
  readonly text: string;
}
interface Call {
  readonly kind: 'call';
  readonly pipeline: string;
}
interface Block {
  readonly kind: 'if' | 'with' | 'range' | 'define';
  /** What is asked; of `define` the name. */
  readonly pipeline: string;
  /** The names of `range`. */
  readonly names: readonly string[];
  readonly body: readonly Part[];
  readonly otherwise: readonly Part[];
}
type Part = Text | Call | Block;

interface Scope {
  readonly dot: unknown;
  readonly names: ReadonlyMap<string, unknown>;
}

/** Renders every template of a chart that makes objects; by its file's name. */
export function renderChart(folder: string, values: object): ReadonlyMap<string, string> {
  const data = { ...values, Files: { Get: (path: unknown) => readFileSync(join(folder, String(path)), 'utf8') } };
  const files = readdirSync(join(folder, 'templates'));
  const parts = new Map(files.map((file) => [file, parse(readFileSync(join(folder, 'templates', file), 'utf8'))]));
  const defined = new Map<string, readonly Part[]>();
  for (const part of [...parts.values()].flat()) if (part.kind === 'define') defined.set(part.pipeline, part.body);
  const scope = { dot: data, names: new Map([['$', data]]) };
  const rendered = [...parts].map(([file, body]): [string, string] => [file, render(body, scope, defined)]);
  return new Map(rendered.filter(([file]) => !file.startsWith('_')));
}

/** Splits a template at its actions; `-` takes the white space on its side away. */
function parse(template: string): readonly Part[] {
  const pieces = template.split(/(\{\{-?[^{}]*\}\})/u);
  const trimmed = pieces.map((piece, at) => {
    if (piece.startsWith('{{')) return piece;
    const start = pieces[at - 1]?.endsWith('-}}') ? piece.trimStart() : piece;
    return pieces[at + 1]?.startsWith('{{-') ? start.trimEnd() : start;
  });
  return parseUntil(trimmed.values(), 'file').body;
}

function parseUntil(pieces: Iterator<string>, within: string): { body: Part[]; otherwise: Part[] } {
  const body: Part[] = [];
  const otherwise: Part[] = [];
  let part = body;
  for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
    if (!next.value.startsWith('{{')) {
      part.push({ kind: 'text', text: next.value });
      continue;
    }
    const action = next.value.replace(/^\{\{-?\s*/u, '').replace(/\s*-?\}\}$/u, '');
    if (action === 'end') return { body, otherwise };
    if (action === 'else') part = otherwise;
    else if (!action.startsWith('/*')) part.push(parseAction(action, pieces));
  }
  if (within !== 'file') throw new Error(`${within} has no end`);
  return { body, otherwise };
}

function parseAction(action: string, pieces: Iterator<string>): Part {
  const [, word, rest = ''] = /^(if|with|range|define)\s+(.*)$/u.exec(action) ?? [];
  if (word !== 'if' && word !== 'with' && word !== 'range' && word !== 'define')
    return { kind: 'call', pipeline: action };
  const [, names, list = rest] = word === 'range' ? (/^([$\w, ]+):=\s*(.*)$/u.exec(rest) ?? []) : [];
  const pipeline = word === 'define' ? JSON.parse(rest) : list;
  return {
    kind: word,
    pipeline,
    names: names?.split(',').map((name) => name.trim()) ?? [],
    ...parseUntil(pieces, word),
  };
}

type Defined = ReadonlyMap<string, readonly Part[]>;

const render = (parts: readonly Part[], scope: Scope, defined: Defined): string =>
  parts.map((part) => renderPart(part, scope, defined)).join('');

function renderPart(part: Part, scope: Scope, defined: Defined): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'define') return '';
  const value = evaluate(part.pipeline, scope, defined);
  if (part.kind === 'call') return String(value);
  if (isEmpty(value)) return render(part.otherwise, scope, defined);
  if (part.kind === 'if') return render(part.body, scope, defined);
  if (part.kind === 'with') return render(part.body, { ...scope, dot: value }, defined);
  return entriesOf(value)
    .map(([key, each]) => {
      const values = part.names.length === 2 ? [key, each] : [each];
      const named = part.names.map((name, at): [string, unknown] => [name, values[at]]);
      return render(part.body, { dot: each, names: new Map([...scope.names, ...named]) }, defined);
    })
    .join('');
}

const isEmpty = (value: unknown): boolean => !value || (typeof value === 'object' && Object.keys(value).length === 0);

/** Of a map by the order of its keys, as Go goes through one. */
const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? [...value.entries()].map(([at, each]) => [String(at), each])
    : Object.entries(Object(value)).toSorted(([a], [b]) => (a < b ? -1 : 1));

function evaluate(pipeline: string, scope: Scope, defined: Defined): unknown {
  const commands = pipeline.split('|').map((command) => command.match(/"[^"]*"|\S+/gu) ?? []);
  return commands.reduce<unknown>((piped, [first = '', ...rest], at) => {
    const args = rest.map((arg) => operand(arg, scope));
    const all = at === 0 ? args : [...args, piped];
    if (first === 'include') return render(defined.get(String(all[0])) ?? [], { ...scope, dot: all[1] }, defined);
    const own = first.startsWith('.') ? operand(first, scope) : undefined;
    const call = typeof own === 'function' ? own : FUNCTIONS[first];
    if (call !== undefined) return call(...all);
    if (all.length > 0) throw new Error(`no such function: ${first}`);
    return operand(first, scope);
  }, undefined);
}

const FUNCTIONS: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
  default: (preset, value) => (isEmpty(value) ? preset : value),
  hasPrefix: (prefix, value) => String(value).startsWith(String(prefix)),
  nindent: (width, text) => `\n${String(text).replaceAll(/^/gmu, ' '.repeat(Number(width)))}`,
  not: (value) => isEmpty(value),
  quote: (value) => JSON.stringify(String(value)),
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  toYaml: (value) => stringify(value, { sortMapEntries: true, lineWidth: 0, indentSeq: false }).trimEnd(),
};

/** The value of a text in quotes, a number, `$name` or a path of `.`; undefined if a path leads nowhere. */
function operand(word: string, { dot, names }: Scope): unknown {
  if (/^["\d]/u.test(word)) return JSON.parse(word);
  const [, name = '', path = ''] = /^(\$\w*)?((?:\.\w+)*|\.)$/u.exec(word) ?? [];
  if (name === '' && path === '') throw new Error(`neither a value nor a path: ${word}`);
  const start = name === '' ? dot : names.get(name);
  const keys = path.split('.').filter((key) => key !== '');
  return keys.reduce<unknown>((value, key) => Object.getOwnPropertyDescriptor(Object(value), key)?.value, start);
}
