/** Writes the configuration file of a set-up, never over a file of somebody else. */
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BUILT_IN } from '../../providers/index.ts';
import { SCHEMA_FILE } from '../config/init.ts';
import { type ConfigLoad, checkConfig, type LoadedConfig } from '../config/load.ts';
import { parseConfig } from '../config/parse.ts';
import { entrySchema } from '../config/plugins/plugin.ts';
import type { ConfigProblem } from '../config/schema/fill.ts';
import { schemaDocument } from '../config/schema-document.ts';
import type { Env } from '../config/variables.ts';
import { digestOf } from '../runtime/operators/operators.ts';
import { configOf, folderOf, type SetUpPlace, textOf } from './config-of.ts';
import type { Draft } from './draft.ts';
import { codeOf, makeWebhookSecret, writeWhole } from './secret-files.ts';

/** The result. `unwritable`: a person must put the text there. */
export type WrittenConfig =
  | { readonly kind: 'written'; readonly digest: string; readonly text: string }
  | { readonly kind: 'unwritable'; readonly text: string; readonly code: string }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/** Writes the file of the answers, checked by the reader of every start. `mayReplace`: also over another file. */
export async function writeConfig(
  draft: Draft,
  place: SetUpPlace,
  { env, mayReplace = false }: { readonly env: Env; readonly mayReplace?: boolean },
): Promise<WrittenConfig> {
  const text = textOf(configOf(draft, place));
  try {
    await makeWebhookSecret(folderOf(place));
  } catch (error) {
    return { kind: 'unwritable', text, code: codeOf(error) };
  }
  const load = await readBack(text, place.file, env);
  if (!load.ok) return { kind: 'invalid', problems: load.errors };
  const digest = digestOf(text);
  try {
    const known = await readFile(place.file, 'utf8').catch(() => undefined);
    const mode = modeOf(load, text);
    const isOurs = known !== undefined && digestOf(known) === draft.written;
    await (isOurs || mayReplace ? writeWhole(place.file, text, mode) : writeNew(place.file, text, mode));
    await writeSchema(load, draft, folderOf(place));
    return { kind: 'written', digest, text };
  } catch (error) {
    return { kind: 'unwritable', text, code: codeOf(error) };
  }
}

/** Writes the schema next to the file, for editors. A failure does not matter. */
async function writeSchema({ config }: LoadedConfig, { connections }: Draft, folder: string): Promise<void> {
  const entries = (config.connector?.providers ?? []).flatMap(({ name, provider }) => {
    const use = connections[name]?.use ?? provider.name;
    return Object.hasOwn(BUILT_IN, use) ? [] : [[use, entrySchema(provider)] as const];
  });
  const document = JSON.stringify(await schemaDocument(new Map(entries)));
  await writeFile(path.join(folder, SCHEMA_FILE), document).catch(() => undefined);
}

/** The text as a start reads it. */
async function readBack(text: string, file: string, env: Env): Promise<ConfigLoad> {
  const parsed = parseConfig(text);
  return parsed.ok ? checkConfig(parsed.value, path.resolve(file), env) : { ok: false, file, errors: parsed.errors };
}

/** Only its owner reads a file with a secret in it; most secrets have files of their own. */
const modeOf = ({ secrets }: LoadedConfig, text: string): number =>
  secrets.some((secret) => text.includes(secret)) ? 0o600 : 0o644;

/** Fails with `EEXIST` if the file exists. */
async function writeNew(file: string, text: string, mode: number): Promise<void> {
  const partial = `${file}.new`;
  await writeWhole(partial, text, mode);
  try {
    await link(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}
