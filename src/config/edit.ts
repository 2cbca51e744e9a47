/**
 * Edits the text of a configuration file: changes the values at paths, and keeps comments, anchors and everything else.
 * Reads the result again, and refuses it unless it has exactly these changes. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import { parseConfig } from './parse.ts';
import { keyText } from './place.ts';

/** A change of the value at a path; `undefined` removes it. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The new text, or that the file spells this part in a way that a program cannot edit without changing another one. */
export type EditedConfig = { readonly ok: true; readonly text: string } | { readonly ok: false };

export function editConfig(text: string, edits: readonly ConfigEdit[]): EditedConfig {
  const parsed = parseConfig(text);
  if (!parsed.ok) return { ok: false };
  const wanted = withEdits(parsed.value, edits);
  const asJson = editedJson(text, wanted);
  if (asJson !== undefined) return { ok: true, text: asJson };
  // An alias of a changed value stays an alias if possible, because the anchor may be meant for both.
  for (const change of [applyTo, applyAlone]) {
    const edited = editedYaml(text, (document) => change(document, edits));
    const read = edited === undefined ? undefined : parseConfig(edited);
    if (edited !== undefined && read?.ok === true && isDeepStrictEqual(read.value, wanted))
      return { ok: true, text: edited };
  }
  return { ok: false };
}

/** The value with the changes. Creates the sections on their paths, and removes sections that become empty. */
export const withEdits = (value: unknown, edits: readonly ConfigEdit[]): unknown =>
  edits.reduce<unknown>((before, { path, value: given }) => withEdit(before, path, given), value ?? {});

function withEdit(value: unknown, [key, ...rest]: readonly string[], given: unknown): unknown {
  if (key === undefined) return given;
  const { [key]: before, ...others }: Record<string, unknown> = { ...Object(value) };
  const after = withEdit(before, rest, given);
  if (after === undefined) return Object.keys(others).length === 0 ? undefined : others;
  // In its place, to keep the order of the section.
  return { ...Object(value), [key]: after };
}

/** A JSON file stays JSON. */
function editedJson(text: string, wanted: unknown): string | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const indent = /\n([ \t]+)"/u.exec(text)?.[1];
  return `${JSON.stringify(wanted, null, indent)}${text.endsWith('\n') ? '\n' : ''}`;
}

function editedYaml(text: string, change: (document: Document) => void): string | undefined {
  const parsed = parseConfig(text);
  if (!parsed.ok) return undefined;
  const { document } = parsed;
  change(document);
  const indent = /^( +)\S/mu.exec(text)?.[1]?.length ?? 2;
  const edited = document.toString({ lineWidth: 0, indent: Math.max(2, indent) });
  return text.includes('\r\n') ? edited.replaceAll(/\r?\n/gu, '\r\n') : edited;
}

function applyTo(document: Document, edits: readonly ConfigEdit[]): void {
  for (const { path, value } of edits) {
    if (!isMap(document.contents)) document.contents = document.createNode({});
    setIn(document, document.contents, path, value);
  }
}

/** The same, with copies in place of aliases of what changes. */
function applyAlone(document: Document, edits: readonly ConfigEdit[]): void {
  const touched = new Set(edits.flatMap(({ path }) => nodesAlong(document, path)));
  visit(document, {
    Alias: (_key, alias) => {
      const source = alias.resolve(document);
      return source !== undefined && touched.has(source) ? copyOf(document, alias) : undefined;
    },
  });
  applyTo(document, edits);
}

function nodesAlong(document: Document, path: readonly string[]): readonly unknown[] {
  const nodes: unknown[] = [document.contents];
  for (const key of path) {
    const from = nodes.at(-1);
    const value = isMap(from) ? pairOf(from, key)?.value : undefined;
    nodes.push(isAlias(value) ? value.resolve(document) : value);
  }
  return nodes.filter((node) => isNode(node));
}

const pairOf = (map: YAMLMap, key: string) => map.items.find((pair) => keyText(pair) === key);

/** Sets or removes the value at a path of a map. First copies what an alias or `<<` brings. */
function setIn(document: Document, map: unknown, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (!isMap(map)) return;
  const pair = pairOf(map, key);
  if (rest.length === 0) {
    setHere(document, map, { pair, key }, value);
    return;
  }
  const section = pair === undefined ? inherited(document, map, key) : pair.value;
  const own = isAlias(section) ? copyOf(document, section) : section;
  if (own === undefined && value === undefined) return;
  const inside = isMap(own) ? own : document.createNode({});
  if (pair === undefined) map.items.push(new Pair(document.createNode(key), inside));
  else pair.value = inside;
  setIn(document, inside, rest, value);
  if (value === undefined && inside.items.length === 0) remove(map, key);
}

function setHere(
  document: Document,
  map: YAMLMap,
  { pair, key }: { readonly pair: Pair | undefined; readonly key: string },
  value: unknown,
): void {
  if (value === undefined) remove(map, key);
  else if (pair === undefined) map.items.push(new Pair(document.createNode(key), document.createNode(value)));
  else pair.value = withComment(document, pair.value, value);
}

const remove = (map: YAMLMap, key: string): void => {
  map.items = map.items.filter((pair) => keyText(pair) !== key);
};

/** The new value, with the comment after the former one. */
function withComment(document: Document, former: unknown, value: unknown): unknown {
  const node = document.createNode(value);
  if (isNode(former) && isNode(node)) {
    node.comment = former.comment ?? null;
    node.commentBefore = former.commentBefore ?? null;
    if (isScalar(former) && isScalar(node) && typeof node.value === 'string' && former.type !== undefined)
      node.type = former.type;
    if ((isMap(former) || isSeq(former)) && (isMap(node) || isSeq(node))) node.flow = former.flow ?? false;
  }
  return node;
}

/** What `<<` merges under a key, as a copy. */
function inherited(document: Document, map: YAMLMap, key: string): unknown {
  const merged = map.items.filter((pair) => keyText(pair) === '<<').map(({ value }) => value);
  const sources = merged.flatMap((each) => (isSeq(each) ? each.items : [each]));
  for (const each of sources) {
    const source = isAlias(each) ? each.resolve(document) : each;
    const value = isMap(source) ? pairOf(source, key)?.value : undefined;
    if (isAlias(value)) return copyOf(document, value);
    const copy: unknown = isNode(value) ? value.clone() : undefined;
    if (isNode(copy)) return withoutAnchors(copy);
  }
  return undefined;
}

function copyOf(document: Document, alias: Alias): Node {
  const copy: unknown = alias.resolve(document)?.clone();
  return isNode(copy) ? withoutAnchors(copy) : alias;
}

function withoutAnchors(node: Node): Node {
  visit(node, (_key, each) => {
    if (isNode(each) && 'anchor' in each) delete each.anchor;
  });
  return node;
}
