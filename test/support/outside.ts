/** Documents of the real register, which the repository does not hold: they lie in a folder beside the checkout. */
import { existsSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

export interface Outside {
  /** The folder, or undefined if the run goes on without it. */
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

/** A folder of register documents, notices of filings and reports, in the places that `test/service/samples/README.md` names. */
export interface SampleFolder {
  readonly kind: 'invented' | 'real';
  readonly folder: string;
}

const INVENTED: SampleFolder = { kind: 'invented', folder: path.join(root, 'test/service/samples') };

/** The invented documents of the repository, and the register's own if they are; `setup` in `outside-global.ts` says where not. */
export const SAMPLE_FOLDERS: readonly SampleFolder[] =
  folder === undefined ? [INVENTED] : [INVENTED, { kind: 'real', folder: path.join(folder, 'samples/register') }];

/** The samples beside the checkout, of the register and of Datafordeler; undefined where they are not. */
export const REAL_SAMPLES: string | undefined = folder === undefined ? undefined : path.join(folder, 'samples');
