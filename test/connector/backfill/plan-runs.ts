/** Runs of a backfill that write a plan and apply one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../support/stores.ts';
import type { Fixture } from './fixture.ts';

export const newFile = (): string => join(newFolder(), 'plan.csv');
export const plan = (file: string) => ({ mode: { kind: 'plan', file } }) as const;
export const apply = (file: string) => ({ mode: { kind: 'file', file } }) as const;

/** Writes the lines as a file and applies it. */
export const applyLines = (fixture: Fixture, lines: readonly string[]) => {
  const file = newFile();
  writeFileSync(file, lines.join('\r\n'));
  return fixture.run(apply(file));
};
