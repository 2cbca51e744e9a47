/** Before a run: says which tests lack the documents that lie outside of the repository, or stops if they must be there. */
import { filesThatImport } from './fast-files.ts';
import { findOutside } from './outside.ts';

export function setup(): void {
  const { problem } = findOutside(process.env);
  if (problem === undefined) return;
  if (problem.fatal) {
    throw new Error(
      `${problem.text}, but CVRSYNC_SHARED or CI is set. Put the folder there, or set CVRSYNC_SHARED to nothing to leave out what needs it.`,
    );
  }
  const files = filesThatImport(['test/support/outside.ts']);
  process.stderr.write(
    `${problem.text}: the real documents are left out of\n${files.map((file) => `  ${file}\n`).join('')}`,
  );
}
