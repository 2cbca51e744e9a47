/** Writes a provider package to start with: the sample in scaffold/ under another name. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { type OwnPackage, specOf } from './own-package.ts';

export interface Names {
  /** Of the package: `@acme/super-crm`. */
  readonly package: string;
  readonly provider: string;
  readonly code: string;
  readonly title: string;
  readonly env: string;
}

/** The spellings of a name; undefined if it is not a name of an npm package. */
export function namesFrom(name: string): Names | undefined {
  if (!/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) return undefined;
  const provider = name.split('/').at(-1) ?? name;
  const words = provider.split('-');
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return {
    package: name,
    provider,
    code: words.map((word, at) => (at === 0 ? word : capital(word))).join(''),
    title: words.map((word) => (['crm', 'erp', 'api'].includes(word) ? word.toUpperCase() : capital(word))).join(' '),
    env: words.join('_').toUpperCase(),
  };
}

/** The sample's names, longest first: each stands for one of {@link Names}. */
const PLACES: readonly (readonly [RegExp, (names: Names) => string])[] = [
  [/(?<="name": ")my-crm(?=")|(?<=use: ")my-crm|(?<=config init )my-crm|(?<=^# )my-crm$/gm, (names) => names.package],
  [/my-crm/g, (names) => names.provider],
  [/myCrm/g, (names) => names.code],
  [/My CRM/g, (names) => names.title],
  [/MY_CRM/g, (names) => names.env],
];

/** Builds with the cvrsync that wrote it, and accepts every newer one: the contract decides whether it fits. */
async function withCvrsync(text: string, own: OwnPackage, folder: string): Promise<string> {
  const manifest: { devDependencies: Record<string, string>; peerDependencies: Record<string, string> } =
    JSON.parse(text);
  manifest.peerDependencies['cvrsync'] = `>=${own.version}`;
  manifest.devDependencies['cvrsync'] = await specOf(own, folder);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Writes the package into an empty or new folder; returns the paths of its files. */
export async function writeScaffold(folder: string, names: Names): Promise<readonly string[]> {
  const manifest = findPackageJSON(import.meta.url);
  if (manifest === undefined) throw new Error('the package this program belongs to is not whole: install it again');
  const home = dirname(manifest);
  const sample = join(home, 'scaffold');
  const { version }: { version: string } = JSON.parse(await readFile(manifest, 'utf8'));
  const entries = await readdir(sample, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(sample.length + 1))
    .toSorted();
  for (const file of files) {
    const text = await readFile(join(sample, file), 'utf8');
    const named = PLACES.reduce((sofar, [pattern, name]) => sofar.replaceAll(pattern, name(names)), text);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    const written =
      file === 'package.json' ? await withCvrsync(named, { home, version, user: process.getuid?.() }, folder) : named;
    await writeFile(join(folder, file), written, { flag: 'wx' });
  }
  return files;
}
