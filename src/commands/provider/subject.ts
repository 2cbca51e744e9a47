import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Subject } from '../../../providers/kit/conformance/lab/subject.ts';
import { exportMeant } from '../../config/plugins/exported.ts';
import { importFrom } from '../../config/plugins/plugin.ts';
import { isProvider } from '../../config/plugins/plugin-check.ts';
import { UsageError } from '../cli/command.ts';

const USUAL = ['test/subject.ts', 'test/subject.js', 'subject.ts', 'subject.js'];

const isSubject = (value: unknown): value is Subject =>
  typeof value === 'object' && value !== null && 'provider' in value && 'start' in value;

/** The subject that a file exports, or that of the package in a folder. */
export async function loadSubject(path: string): Promise<Subject> {
  const file = await subjectFile(path);
  const found = exportMeant(await importFrom(pathToFileURL(file).href), 'subject', isSubject);
  if (found !== undefined && !isProvider(found.provider))
    throw new UsageError(
      `${file} exports a subject whose provider is not one: it needs name, contract, settings and connect`,
    );
  if (found !== undefined) return found;
  throw new UsageError(
    `${file} exports no subject: an object made by defineSubject of cvrsync/testing, with provider, start, secrets, properties, absentId and calls`,
  );
}

/** Packages are published without their tests. */
const ELSEWHERE = 'an installed package has no tests: name the folder of its source';

async function subjectFile(given: string): Promise<string> {
  const path = resolve(given);
  const found = await statOf(path);
  if (found === undefined) {
    const isInstalled = (await statOf(resolve('node_modules', given))) !== undefined;
    const advice = isInstalled ? ELSEWHERE : "name the folder of a provider's source, or the file of its subject";
    throw new UsageError(`there is nothing at ${path}: ${advice}`);
  }
  if (found.isFile()) return path;
  const named = await subjectNamed(path);
  for (const candidate of named === undefined ? USUAL : [named]) {
    const file = join(path, candidate);
    if ((await statOf(file))?.isFile() === true) return file;
  }
  const [looked, advice] =
    named === undefined
      ? [USUAL.join(', '), 'name its file, or put "cvrsync": { "subject": "./…" } in package.json']
      : [named, `package.json names it, but it is not there. Mind that ${ELSEWHERE}`];
  throw new UsageError(`${path} has no subject (${looked}): ${advice}`);
}

const statOf = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

async function subjectNamed(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}');
  try {
    const subject: unknown = JSON.parse(text)?.cvrsync?.subject;
    return typeof subject === 'string' ? subject : undefined;
  } catch (error) {
    throw new UsageError(`${join(folder, 'package.json')} is not JSON`, { cause: error });
  }
}
