/** Checks whether other accounts of the machine can read secrets in the configuration and the files next to it. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LoadedConfig } from '../../config/load.ts';
import { parseConfig } from '../../config/parse.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';

/** A file counts if every account of the machine may read it, and enter each folder above it. */
export async function readableFindings({ file, secrets }: Pick<LoadedConfig, 'file' | 'secrets'>): Promise<Findings> {
  const settings = await exposedText(file);
  const variables = await exposedText(join(dirname(resolve(file)), '.env'));
  const findings: Finding[] = [];
  if (settings !== undefined && holdsSecret(settings, secrets))
    findings.push({
      ...exposed(file),
      advice: `take its secrets out (\${NAME}, or a key with _FILE), or run: chmod o= ${file}`,
    });
  if (variables !== undefined && secrets.some((secret) => secret.length >= LEAST && variables.includes(secret)))
    findings.push({ ...exposed('.env'), advice: 'run: chmod o= .env' });
  return findings;
}

const exposed = (file: string) => ({
  level: 'warn' as const,
  subject: 'configuration',
  found: `${file} holds secrets, and every account of this machine can read it`,
});

/** A shorter text may be in the file for another reason. */
const LEAST = 4;
const READABLE = 0o004;
const ENTERED = 0o001;

/** The text of a file if other accounts can read it; undefined if they cannot, or if the file does not exist. */
async function exposedText(file: string): Promise<string | undefined> {
  const isOpen = async (path: string, bit: number): Promise<boolean> =>
    await stat(path).then(
      ({ mode }) => (mode & bit) !== 0,
      () => false,
    );
  if (process.platform === 'win32' || !(await isOpen(file, READABLE))) return undefined;
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (!(await isOpen(folder, ENTERED))) return undefined;
    if (folder === dirname(folder)) break;
  }
  return await readFile(file, 'utf8').catch(() => undefined);
}

/** Whether a value of a configuration is a secret, or an address with one. */
function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const parsed = parseConfig(text);
  const long = secrets.filter((secret) => secret.length >= LEAST);
  const holds = (value: unknown): boolean => {
    if (typeof value === 'string')
      return long.some((secret) => value === secret || (value.includes('://') && value.includes(secret)));
    return typeof value === 'object' && value !== null && Object.values(value).some(holds);
  };
  return parsed.ok && holds(parsed.value);
}
