/** Reads and writes the configuration file for Settings. */
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { type ConfigEdit, editConfig, withEdits } from '../config/edit.ts';
import { checkConfig } from '../config/load.ts';
import { type LocatedProblem, locateAll } from '../config/locate.ts';
import { parseConfig } from '../config/parse.ts';
import type { Env } from '../config/variables.ts';
import { digestOf } from '../runtime/operators/operators.ts';
import type { SetUpPlace } from './config-of.ts';
import type { Settings } from './questions.ts';
import { codeOf, writeWhole } from './secret-files.ts';

/** A file on disk, or what is wrong with it. */
export type ReadFile =
  | { readonly ok: true; readonly text: string; readonly digest: string; readonly value: Settings }
  | { readonly ok: false; readonly problems: readonly LocatedProblem[] };

/** Reads the file. Each problem has its line. */
export async function readConfigFile(file: string): Promise<ReadFile> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    return { ok: false, problems: [{ path: '', message: `cannot be read (${codeOf(error)})` }] };
  }
  const parsed = parseConfig(text);
  if (!parsed.ok) return { ok: false, problems: parsed.errors };
  return { ok: true, text, digest: digestOf(text), value: { ...Object(parsed.value) } };
}

/** The result of a change. `changed`: the file is no longer the one that the answers began with, and is left alone. */
export type SavedFile =
  | { readonly kind: 'saved' }
  | { readonly kind: 'same' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'invalid'; readonly problems: readonly LocatedProblem[] }
  /** `ANCHORS`: the file spells this part in a way that a program cannot edit. */
  | { readonly kind: 'unwritable'; readonly code: string };

/** Writes changes into the file that somebody saw, and checks the result with the reader of every start. */
export async function saveEdits(
  { file }: Pick<SetUpPlace, 'file'>,
  { edits, seen }: { readonly edits: readonly ConfigEdit[]; readonly seen: string },
  env: Env,
): Promise<SavedFile> {
  const read = await readConfigFile(file);
  if (!read.ok) return { kind: 'invalid', problems: read.problems };
  if (read.digest !== seen) return { kind: 'changed' };
  const wanted = withEdits(read.value, edits);
  if (isDeepStrictEqual(wanted, read.value)) return { kind: 'same' };
  const load = await checkConfig(wanted, path.resolve(file), env);
  const edited = editConfig(read.text, edits);
  if (!load.ok) {
    const parsed = edited.ok ? parseConfig(edited.text) : undefined;
    const where = path.dirname(path.resolve(file));
    return {
      kind: 'invalid',
      problems: parsed?.ok === true ? await locateAll(load.errors, parsed, where) : load.errors,
    };
  }
  if (!edited.ok) return { kind: 'unwritable', code: 'ANCHORS' };
  return write(file, edited.text, seen);
}

/** Replaces the text that was seen, if its user may write the file. */
async function write(file: string, text: string, seen: string): Promise<SavedFile> {
  try {
    // Keeps a symbolic link.
    const place = await realpath(file);
    const { mode } = await stat(place);
    // A read-only file is not replaced, even by root or by the owner of its folder.
    if ((mode & WRITABLE) === 0) return { kind: 'unwritable', code: 'EACCES' };
    await access(place, constants.W_OK);
    if (digestOf(await readFile(place, 'utf8')) !== seen) return { kind: 'changed' };
    await writeWhole(place, text, mode & PERMISSIONS);
    return { kind: 'saved' };
  } catch (error) {
    return { kind: 'unwritable', code: codeOf(error) };
  }
}

const WRITABLE = 0o222;
const PERMISSIONS = 0o777;

/** Changes for a person to make in the file: lines to add or replace, and keys to remove. */
export function linesOf(edits: readonly ConfigEdit[]): { readonly lines: string; readonly removed: readonly string[] } {
  const set = edits.filter(({ value }) => value !== undefined);
  return {
    lines: set.length === 0 ? '' : stringify(withEdits({}, set), { lineWidth: 0 }),
    removed: edits.filter(({ value }) => value === undefined).map((each) => each.path.join('.')),
  };
}
