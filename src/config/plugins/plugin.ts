/** Loads the provider that `use:` names: built in, a path, or an npm package. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Type, { type TObject } from 'typebox';
import { BUILT_IN } from '../../../providers/index.ts';
import type { Provider } from '../../../providers/provider.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { connectionSchema } from '../schema/schema.ts';
import { addressOf, isPath } from './address.ts';
import { exportedInstead, exportMeant } from './exported.ts';
import { noteImport } from './imported.ts';
import { checkProvider, isProvider, type ProviderLoad } from './plugin-check.ts';

/** The longest import: one that waits for the network would keep the daemon from starting. */
const IMPORT_MS = 10_000;

/** Loads a provider; opens nothing. Relative paths and packages are looked up from `folder` first. */
export async function loadProvider(use: string, folder: string, importMs = IMPORT_MS): Promise<ProviderLoad> {
  const builtIn = Object.hasOwn(BUILT_IN, use) ? BUILT_IN[use] : undefined;
  if (builtIn !== undefined) return checkProvider(use, await builtIn());
  if (isPath(use) && statSync(resolve(folder, use), { throwIfNoEntry: false })?.isDirectory() === true)
    return { ok: false, message: `${use} is a folder: name the file in it that exports the provider` };
  try {
    const address = addressOf(use, folder);
    noteImport(use, address, folder);
    const module = await importFrom(address, importMs);
    const provider = exportMeant(module, 'provider', isProvider);
    if (provider !== undefined) return checkProvider(use, provider);
    const needed = 'an object with name, contract, settings and connect';
    return { ok: false, message: `${use} exports no provider: ${needed}${exportedInstead(module)}` };
  } catch (error) {
    return { ok: false, message: `${use} cannot be loaded: ${errorText(error)}` };
  }
}

/** Imports a module. If that fails or does not end, throws an error that says why and what to do. */
export async function importFrom(address: string, importMs = IMPORT_MS): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const seconds = Math.ceil(importMs / 1_000);
    late.reject(new Error(`its import did not end within ${seconds} s: it should open nothing and wait for nothing`));
  }, importMs);
  try {
    return await Promise.race([import(address), late.promise]);
  } catch (error) {
    throw new Error(await importFailure(error, address), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** The schema of one entry of `connector.providers`: the common keys, which win, and the provider's settings. */
export function entrySchema(provider: Provider<TObject>): TObject {
  const { use, ...common } = connectionSchema.properties;
  return Type.Object({ use, ...provider.settings.properties, ...common }, { additionalProperties: false });
}

/** Why the import of a module failed, and what to do. */
async function importFailure(error: unknown, address: string): Promise<string> {
  const missing = missingModule(error);
  if (missing !== undefined) return missing;
  if (!(error instanceof SyntaxError)) return errorText(error);
  const place = placeIn(error.stack) ?? (await checkedPlace(address));
  const file = place?.replace(/:\d+$/u, '') ?? '';
  const isForModules = /^Cannot use import statement|^Unexpected token 'export'|^await is only valid/u.test(
    error.message,
  );
  const kind = extname(file);
  const advice =
    isForModules && ['.ts', '.js'].includes(kind)
      ? `: its package.json says that it is CommonJS. Call it .m${kind.slice(1)}, or write "type": "module" in that package.json`
      : '';
  return `${error.message}${place === undefined ? '' : ` at ${place}`}${advice}`;
}

/** The module that the plugin, or one of its imports, does not find; undefined for any other error. */
function missingModule(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') return undefined;
  const [, name = ''] = /^Cannot find (?:package|module) '([^']*)'/u.exec(error.message) ?? [];
  const [, importer = 'it'] = /(?: imported from |\n- )(.*)/u.exec(error.message) ?? [];
  return /^[./]/u.test(name)
    ? `${importer} imports ${name}, which is not there: build the plugin, or install it again`
    : `${importer} imports ${name}, which is not installed: install it next to the plugin`;
}

/** The file and line that Node puts before a syntax error, such as `/folder/file.js:1`. */
function placeIn(text: string | undefined): string | undefined {
  const [, place] = /^(?:file:\/\/)?(\/.*:\d+)$/mu.exec(text ?? '') ?? [];
  return place;
}

/** The place of a module's syntax error. Node states it only on the command line, not for an import. */
async function checkedPlace(address: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(process.execPath, ['--check', fileURLToPath(address)]);
    return undefined;
  } catch (error) {
    return placeIn(errorText(error));
  }
}
