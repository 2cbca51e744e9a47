/** The duplicate rules of the org, in the errors of Salesforce. */
import { isAccountId, toLongId } from './ids.ts';
import { objectOf, objectsOf, textOf } from './json.ts';

/** The rule, and the ids of the records that it takes for the same company. */
export interface FoundDuplicate {
  readonly rule: string | undefined;
  readonly ids: readonly string[];
}

/** Reads the members of an error; real bodies spell `duplicateResut`. Undefined if no duplicate rule raised it. */
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
