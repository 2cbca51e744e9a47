/** Documents of the real register, which the repository does not hold: they lie in a folder beside the checkout. */
import { existsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

export interface Outside {
  /** The folder, or undefined where the run goes on without it. */
  readonly folder: string | undefined;
  /** What a person should know: a run that must not go on, or what it leaves out. */
  readonly problem?: { readonly fatal: boolean; readonly text: string };
}

/**
 * Finds the folder: `CVRSYNC_SHARED`, or `../shared`. It must be there where `CVRSYNC_SHARED` or `CI` is set. An empty
 * `CVRSYNC_SHARED` says that this machine has none.
 */
export function findOutside(env: Readonly<Record<string, string | undefined>>, beside = '../shared'): Outside {
  const named = env['CVRSYNC_SHARED'];
  const folder = path.resolve(root, named || beside);
  if (named !== '' && existsSync(path.join(folder, 'samples/register'))) return { folder };
  const isExpected = named === undefined ? env['CI'] !== undefined && env['CI'] !== 'false' : named !== '';
  const what = named === '' ? 'CVRSYNC_SHARED is empty' : `${folder}/samples/register is missing`;
  return { folder: undefined, problem: { fatal: isExpected, text: what } };
}

const { folder } = findOutside(process.env);

/** The folder of the register's documents, or undefined: tests then leave them out, and `setup` in `outside-global.ts` says so. */
export const REGISTER_SAMPLES = folder === undefined ? undefined : path.join(folder, 'samples/register');
