/** Remembers the plugins that this process has imported, to name the plugin at fault in a stack. */
import { realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Folder → `use`. For the whole process, as imports are. */
const imported = new Map<string, string>();

/** Call it before the import. `folder` is the configuration's. */
export function noteImport(use: string, address: string, folder: string): void {
  if (address.startsWith('file:')) imported.set(folderOf(fileURLToPath(address), folder), use);
}

/** The plugin's package; its own folder if that package is the installation, which has other files too. */
function folderOf(file: string, folder: string): string {
  const own = dirname(real(file));
  const whole = packageOf(own);
  const isInstallation = whole === undefined || `${real(folder)}${sep}`.startsWith(`${whole}${sep}`);
  return isInstallation ? own : whole;
}

function packageOf(folder: string): string | undefined {
  try {
    const manifest = findPackageJSON(pathToFileURL(`${folder}${sep}`));
    return manifest === undefined ? undefined : dirname(manifest);
  } catch {
    return undefined;
  }
}

/** The path as V8 prints it in a stack; unchanged if the file does not exist. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The first plugin in a stack, by its `use`. */
export const pluginIn = (stack: string): string | undefined =>
  stack
    .split('\n')
    .map(fileIn)
    .map(ownerOf)
    .find((use) => use !== undefined);

/** The file in a line such as `at name (file:///folder/file.js:1:2)`, as a URL or a path; empty if the line names no file. */
function fileIn(line: string): string {
  const end = /:\d+:\d+\)?$/u.exec(line)?.index ?? 0;
  const begin = line.includes('file://') ? line.indexOf('file://') : line.indexOf('/');
  return begin < 0 ? '' : line.slice(begin, end);
}

function ownerOf(spelled: string): string | undefined {
  const file = spelled.startsWith('file:') && URL.canParse(spelled) ? fileURLToPath(spelled) : spelled;
  for (const [folder, use] of imported) {
    const within = file.startsWith(`${folder}${sep}`) ? file.slice(folder.length) : undefined;
    // A package next to a plugin may be anybody's.
    if (within !== undefined && !within.includes(`${sep}node_modules${sep}`)) return use;
  }
  return undefined;
}

export const importedPlugins = (): readonly string[] => [...new Set(imported.values())];
