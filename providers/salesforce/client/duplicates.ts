/** What a duplicate rule of the org says in an error. */
import { isAccountId, toLongId } from './ids.ts';
import { objectOf, objectsOf, textOf } from './json.ts';

/** The rule, and the records it takes for the same company where it names them. */
export interface FoundDuplicate {
  readonly rule: string | undefined;
  readonly ids: readonly string[];
}

/** Reads an error's members; real bodies spell `duplicateResut`. Undefined where no duplicate rule spoke. */
export function duplicateIn(error: Readonly<Record<string, unknown>>): FoundDuplicate | undefined {
  const result = objectOf(error.duplicateResut ?? error.duplicateResult);
  if (result === undefined) return undefined;
  const ids = objectsOf(result.matchResults).flatMap(({ matchRecords }) =>
    objectsOf(matchRecords).flatMap(({ record }) => {
      const id = textOf(objectOf(record)?.Id);
      return id !== undefined && isAccountId(id) ? [toLongId(id)] : [];
    }),
  );
  return { rule: textOf(result.duplicateRule), ids };
}
