/** Why the import of a plugin failed, and what to do about it. */
import { execFile } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText } from '../../protocol/text/error-text.ts';

/** Tells why the import of the module at that address failed. */
export async function importFailure(error: unknown, address: string): Promise<string> {
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

/** Tells of a module that the plugin, or what it imports, does not find; undefined where that is not why. */
function missingModule(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') return undefined;
  const [, name = ''] = /^Cannot find (?:package|module) '([^']*)'/u.exec(error.message) ?? [];
  const [, importer = 'it'] = /(?: imported from |\n- )(.*)/u.exec(error.message) ?? [];
  return /^[./]/u.test(name)
    ? `${importer} imports ${name}, which is not there: build the plugin, or install it again`
    : `${importer} imports ${name}, which is not installed: install it beside the plugin`;
}

/** The file and line that Node puts before a syntax error, such as `/folder/file.js:1`. */
function placeIn(text: string | undefined): string | undefined {
  const [, place] = /^(?:file:\/\/)?(\/.*:\d+)$/mu.exec(text ?? '') ?? [];
  return place;
}

/** The same for a module, where Node says so only on the command line; undefined where the error is in what it imports. */
async function checkedPlace(address: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(process.execPath, ['--check', fileURLToPath(address)]);
    return undefined;
  } catch (error) {
    return placeIn(errorText(error));
  }
}
