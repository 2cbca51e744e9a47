/** From a path to what the conformance suite must know about a provider. */
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Subject } from '../../../providers/conformance/subject.ts';
import { exportMeant } from '../../config/plugins/exported.ts';
import { importFrom } from '../../config/plugins/plugin.ts';
import { isProvider } from '../../config/plugins/plugin-check.ts';
import { UsageError } from '../cli/command.ts';

/** Where a package has its subject when it does not say. */
const USUAL = ['test/subject.ts', 'test/subject.js', 'subject.ts', 'subject.js'];

const isSubject = (value: unknown): value is Subject =>
  typeof value === 'object' && value !== null && 'provider' in value && 'start' in value;

/** The subject a file exports, or the one of the package in a folder. */
export async function loadSubject(path: string): Promise<Subject> {
  const file = await subjectFile(resolve(path));
  const found = exportMeant(await importFrom(pathToFileURL(file).href), 'subject', isSubject);
  if (found !== undefined && !isProvider(found.provider))
    throw new UsageError(
      `${file} exports a subject whose provider is none: it has name, contract, settings and connect`,
    );
  if (found !== undefined) return found;
  throw new UsageError(
    `${file} exports no subject: an object made by defineSubject of cvrsync/testing, with provider, start, secrets, properties, absentId and calls`,
  );
}

async function subjectFile(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new UsageError(`there is nothing at ${path}: name a provider's folder or its subject`);
  if (found.isFile()) return path;
  const named = await subjectNamed(path);
  for (const candidate of named === undefined ? USUAL : [named]) {
    const file = join(path, candidate);
    if ((await stat(file).catch(() => undefined))?.isFile() === true) return file;
  }
  const looked = named ?? USUAL.join(', ');
  throw new UsageError(
    `${path} has no subject (${looked}): name its file, or put "cvrsync": { "subject": "./…" } in package.json`,
  );
}

/** What `package.json` says under `cvrsync.subject`. */
async function subjectNamed(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  try {
    const subject: unknown = JSON.parse(text)?.cvrsync?.subject;
    return typeof subject === 'string' ? subject : undefined;
  } catch (error) {
    throw new UsageError(`${join(folder, 'package.json')} is no JSON`, { cause: error });
  }
}
