import { existsSync, readFileSync } from 'node:fs';
import { createRequire, findPackageJSON, registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BUILT_IN } from '../../../providers/index.ts';
import { didYouMean } from '../schema/nearest.ts';

export const isPath = (use: string): boolean => use.startsWith('.') || use.startsWith('/');

/**
 * The URL of a plugin's module for `import`, from the path or package that `use` names. Relative paths begin at
 * `folder`; a package is looked up from there, then from this program. Throws what is missing, and what to do.
 */
export function addressOf(use: string, folder: string): string {
  if (isPath(use)) {
    const path = resolve(folder, use);
    if (!existsSync(path))
      throw new Error(`there is no file ${path}: a path begins at the folder of the configuration`);
    return pathToFileURL(path).href;
  }
  const places = [pathToFileURL(join(folder, 'package.json')).href, import.meta.url];
  for (const place of places) {
    const manifest = manifestOf(use, place);
    if (manifest !== undefined) return addressInPackage(use, place, manifest);
  }
  throw new Error(`it is neither built in nor installed${didYouMean(use, Object.keys(BUILT_IN))}`);
}

/** The path of a package's `package.json`, as a module at that place finds it; undefined if it is not installed. */
function manifestOf(use: string, place: string): string | undefined {
  try {
    return findPackageJSON(use, place);
  } catch {
    return undefined;
  }
}

function addressInPackage(use: string, place: string, manifest: string): string {
  const address = required(use, place) ?? imported(use, place, manifest);
  const path = fileURLToPath(address);
  if (!existsSync(path)) throw new Error(`its file ${path} is not there: build the package, or install it again`);
  return address;
}

/** The URL that `require` finds; undefined for example for a package for `import` only. */
function required(use: string, place: string): string | undefined {
  try {
    return pathToFileURL(createRequire(place).resolve(use)).href;
  } catch {
    return undefined;
  }
}

/** The URL that `import` finds from another place, which only a hook can resolve. */
function imported(use: string, place: string, manifest: string): string {
  const hook = registerHooks({
    resolve: (specifier, context, next) => next(specifier, { ...context, parentURL: place }),
  });
  try {
    return import.meta.resolve(use);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_PACKAGE_PATH_NOT_EXPORTED')) throw error;
    const subpath = use.split('/').slice(use.startsWith('@') ? 2 : 1);
    throw new Error(
      `its package exports no ${['.', ...subpath].join('/')}, but ${exportsIn(manifest).join(', ')} (${manifest})`,
      {
        cause: error,
      },
    );
  } finally {
    hook.deregister();
  }
}

/** The exports of a package, as in its manifest. */
function exportsIn(manifest: string): readonly string[] {
  const { exports }: { exports?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'));
  const subpaths =
    typeof exports === 'object' && exports !== null ? Object.keys(exports).filter((key) => key.startsWith('.')) : [];
  return subpaths.length === 0 ? ['nothing'] : subpaths;
}
