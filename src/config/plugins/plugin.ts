/** From `use:` to a provider: built in, a path, or an npm package. */
import { readFileSync, statSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import Type, { type TObject } from 'typebox';
import { BUILT_IN } from '../../../providers/index.ts';
import type { Provider } from '../../../providers/provider.ts';
import { didYouMean } from '../nearest.ts';
import { connectionSchema } from '../schema.ts';
import { noteImport } from './imported.ts';
import { checkProvider, isProvider, type ProviderLoad } from './plugin-check.ts';

/** How long an import may take, in ms: one that waits for the network would keep the daemon from starting. */
const IMPORT_MS = 10_000;

/** Loads a provider; opens nothing. `folder` is where relative paths and packages are looked for first. */
export async function loadProvider(use: string, folder: string, importMs = IMPORT_MS): Promise<ProviderLoad> {
  const builtIn = Object.hasOwn(BUILT_IN, use) ? BUILT_IN[use] : undefined;
  if (builtIn !== undefined) return checkProvider(use, await builtIn());
  if (isPath(use) && statSync(resolve(folder, use), { throwIfNoEntry: false })?.isDirectory() === true)
    return { ok: false, message: `${use} is a folder: name the file in it that exports the provider` };
  try {
    const address = addressOf(use, folder);
    noteImport(use, address, folder);
    const provider = (await importIn(address, importMs)).find(isProvider);
    if (provider !== undefined) return checkProvider(use, provider);
    return { ok: false, message: `${use} exports no provider: an object with name, contract, settings and connect` };
  } catch (error) {
    return { ok: false, message: `${use} cannot be loaded: ${reasonOf(error, use)}` };
  }
}

/** What a module exports, and what its default export holds; throws where the import fails or does not end. */
export async function importIn(address: string, importMs = IMPORT_MS): Promise<readonly unknown[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const seconds = Math.ceil(importMs / 1_000);
    late.reject(new Error(`its import did not end within ${seconds} s: it should open nothing and wait for nothing`));
  }, importMs);
  try {
    const loaded: unknown = await Promise.race([import(address), late.promise]);
    const values = exportsOf(loaded);
    // A CommonJS module is its own default export.
    return [...values, ...values.flatMap(exportsOf)];
  } finally {
    clearTimeout(timer);
  }
}

const exportsOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const isPath = (use: string): boolean => use.startsWith('.') || use.startsWith('/');

/** Where a path, relative to `folder`, or a package is found; for `import`. */
function addressOf(use: string, folder: string): string {
  if (isPath(use)) return pathToFileURL(resolve(folder, use)).href;
  const base = pathToFileURL(join(folder, 'package.json'));
  try {
    return pathToFileURL(createRequire(base).resolve(use)).href;
  } catch {
    // One for `import` only, or installed beside this program.
    return entryForImport(use, base) ?? use;
  }
}

/** Where a package says that `import` should look; Node has no function for it that takes another folder. */
function entryForImport(use: string, base: URL): string | undefined {
  try {
    const file = findPackageJSON(use, base);
    if (file === undefined) return undefined;
    const { exports } = JSON.parse(readFileSync(file, 'utf8'));
    const entry = importOf(exports?.['.'] ?? exports);
    return entry === undefined ? undefined : pathToFileURL(join(dirname(file), entry)).href;
  } catch {
    return undefined;
  }
}

function importOf(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    const found = ['import', 'node', 'default'].includes(condition) ? importOf(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function reasonOf(error: unknown, use: string): string {
  if (!(error instanceof Error)) return String(error);
  const isMissing =
    'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'ERR_UNSUPPORTED_DIR_IMPORT');
  if (!isMissing || isPath(use)) return error.message;
  return `it is neither built in nor installed${didYouMean(use, Object.keys(BUILT_IN))}`;
}

/** One entry of `connector.providers`: what all take, and the provider's own settings. The common keys win. */
export function entrySchema(provider: Provider<TObject>): TObject {
  const { use, ...common } = connectionSchema.properties;
  return Type.Object({ use, ...provider.settings.properties, ...common }, { additionalProperties: false });
}
