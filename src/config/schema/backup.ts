import Type from 'typebox';
import type { ConfigProblem } from './fill.ts';
import { CLOSED, text } from './shapes.ts';

export const backup = Type.Object(
  {
    folder: text('Folder of the copies, relative to the working directory; one of its own for each store.'),
    everyHours: Type.Integer({ minimum: 1, maximum: 720, default: 6, description: 'Hours between two copies.' }),
    keep: Type.Integer({ minimum: 1, maximum: 1_000, default: 7, description: 'Copies to keep.' }),
    verify: Type.Boolean({ default: true, description: 'Read each copy through once it is made.' }),
  },
  { ...CLOSED, description: 'Copies of a SQLite store that the daemon makes at intervals; none by default.' },
);

/** Reports backups of a store that cvrsync cannot copy. */
export function reportBackup(
  { backup: section, store }: { readonly backup?: object; readonly store: string },
  errors: ConfigProblem[],
): void {
  if (section !== undefined && /^postgres(?:ql)?:/u.test(store))
    errors.push({ path: 'backup', message: 'copies a SQLite store: remove it, and back PostgreSQL up with pg_dump' });
}
