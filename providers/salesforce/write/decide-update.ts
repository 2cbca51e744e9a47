/** The outcome of an update for each record; pure. */
import type { Outcome, Patch } from '../../provider.ts';
import { type ApiError, errorsOf, say } from '../client/errors.ts';
import { toLongId } from '../client/ids.ts';
import { objectOf } from '../client/json.ts';

/** An outcome, or `missing`: the record is not there, and must be looked up. */
export type UpdateDecision = Outcome | 'missing';

const MISSING: ReadonlySet<string> = new Set(['ENTITY_IS_DELETED', 'NOT_FOUND']);

/** An approval locks a record until it ends, which may take days. */
const LOCKED_MS = 60 * 60_000;
/** Somebody must free storage first. */
const FULL_MS = 15 * 60_000;

/** These end without a change of the record, but not soon. */
const MUCH_LATER: ReadonlyMap<string, number> = new Map([
  ['ENTITY_IS_LOCKED', LOCKED_MS],
  ['STORAGE_LIMIT_EXCEEDED', FULL_MS],
]);

/**
 * The org's own code failed. A trigger or flow runs once for all records of a call, so any record, or their number, may
 * be the reason.
 */
const OF_THE_CALL: ReadonlySet<string> = new Set([
  'CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY',
  'CANNOT_EXECUTE_FLOW_TRIGGER',
  'LIMIT_EXCEEDED',
]);

/** Another transaction holds the record, or Salesforce did not try: the same write may succeed later. */
const LATER: ReadonlySet<string> = new Set([
  'UNABLE_TO_LOCK_ROW',
  'SERVER_UNAVAILABLE',
  'QUERY_TIMEOUT',
  'REQUEST_RUNNING_TOO_LONG',
  'REQUEST_LIMIT_EXCEEDED',
  'UNKNOWN_EXCEPTION',
  'ALL_OR_NONE_OPERATION_ROLLED_BACK',
  'PROCESSING_HALTED',
]);

const NO_ACCESS: ReadonlySet<string> = new Set([
  'INSUFFICIENT_ACCESS',
  'INSUFFICIENT_ACCESS_OR_READONLY',
  'INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY',
]);

/** Decides the results of a call, which come by position; a list of another length counts only by the ids in it. */
export function decideResults(patches: readonly Patch[], results: readonly unknown[]): readonly UpdateDecision[] {
  const isAlone = patches.length === 1;
  if (results.length === patches.length) return patches.map((patch, at) => decideResult(patch, results[at], isAlone));
  const written = new Set(
    results.flatMap((result) => {
      const { success, id } = objectOf(result) ?? {};
      return success === true && typeof id === 'string' ? [toLongId(id)] : [];
    }),
  );
  return patches.map(({ id }) => (written.has(toLongId(id)) ? { kind: 'written', id } : unanswered(id)));
}

/**
 * Decides one record by its errors; also by an error of the whole call if that held this record alone. Errors of the
 * org's own code count only then.
 */
export function decideByErrors({ id, properties }: Patch, errors: readonly ApiError[], isAlone = true): UpdateDecision {
  if (errors.length === 0) return unanswered(id);
  const reason = errors.map(sayWithRule).join('; ');
  if (errors.some(isMissing)) return 'missing';
  const codes = errors.flatMap(codesIn);
  const wait = codes.map((code) => MUCH_LATER.get(code)).find((ms) => ms !== undefined);
  if (wait !== undefined) return { kind: 'retry', id, reason, retryAfterMs: wait };
  if (codes.some((code) => LATER.has(code))) return { kind: 'retry', id, reason };
  if (!isAlone && errors.some(({ code }) => OF_THE_CALL.has(code))) return { kind: 'call-refused', id, reason };
  const bad = errors.flatMap((error) =>
    blamed(error, Object.keys(properties)).map((name) => [name, say(error)] as const),
  );
  if (bad.length === 0 && errors.some(({ code }) => NO_ACCESS.has(code))) {
    const advice = 'ask an administrator to let the user of this connection edit the account';
    return { kind: 'rejected', id, reason: `${reason}; ${advice}`, properties: {} };
  }
  return { kind: 'rejected', id, reason, properties: Object.fromEntries(bad) };
}

/** The code of an error, and those that it quotes: a trigger's error contains the one that ended it. */
const codesIn = ({ code, message }: ApiError): readonly string[] =>
  OF_THE_CALL.has(code) ? [code, ...(message.match(/\b[A-Z]+(?:_[A-Z]+)+\b/gu) ?? [])] : [code];

function decideResult(patch: Patch, result: unknown, isAlone: boolean): UpdateDecision {
  const { success, id, errors } = objectOf(result) ?? {};
  if (success === true) {
    return typeof id !== 'string' || toLongId(id) === toLongId(patch.id)
      ? { kind: 'written', id: patch.id }
      : unanswered(patch.id);
  }
  return decideByErrors(patch, errorsOf(errors), isAlone);
}

const sayWithRule = (error: ApiError): string =>
  error.duplicate?.rule === undefined
    ? say(error)
    : `${say(error)}; blocked by the duplicate rule ${error.duplicate.rule}`;

/** Without fields the record does not exist; with fields a value refers to nothing. */
const isMissing = ({ code, fields }: ApiError): boolean =>
  MISSING.has(code) || (code === 'INVALID_CROSS_REFERENCE_KEY' && fields.length === 0);

/**
 * The properties of the patch that an error concerns: those in its `fields`, else those that its message names. Country
 * and state count together: the error may name the one that was not sent.
 */
function blamed({ code, message, fields }: ApiError, sent: readonly string[]): readonly string[] {
  const listed = new Set(fields.map((name) => name.toLowerCase()));
  const named = sent.filter((name) => listed.has(name.toLowerCase()));
  if (named.length > 0) return named;
  if (code === 'FIELD_INTEGRITY_EXCEPTION') {
    const parts = new Set(fields.flatMap((name) => ADDRESS_PART.exec(name)?.[1] ?? []));
    return sent.filter((name) => parts.has(ADDRESS_PART.exec(name)?.[1] ?? ''));
  }
  return fields.length === 0 && NAMES_IN_MESSAGE.has(code) ? sent.filter((name) => isNamedIn(message, name)) : [];
}

const ADDRESS_PART = /^(Billing|Shipping)(?:Country|State)(?:Code)?$/;

/** Codes of errors about columns; the message names them if `fields` is empty. The messages of rules are free text. */
const NAMES_IN_MESSAGE: ReadonlySet<string> = new Set([
  'INVALID_FIELD',
  'INVALID_FIELD_FOR_INSERT_UPDATE',
  'REQUIRED_FIELD_MISSING',
  'DUPLICATE_VALUE',
]);

/** A message is in the user's language, but Salesforce does not translate the API name of a column. */
const isNamedIn = (message: string, name: string): boolean =>
  message.split(/[^A-Za-z0-9_]+/u).some((word) => word.toLowerCase() === name.toLowerCase());

const unanswered = (id: string): Outcome => ({
  kind: 'retry',
  id,
  reason: 'Salesforce did not report an outcome for this account',
});
