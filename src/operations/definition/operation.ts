/**
 * An operation: what a person or a program can do. The command, the route and the form of a page come from one
 * definition.
 */
import type { Static, TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { LeftError } from '../../connector/links/left.ts';
import { problemsOf } from '../../http/server/validate.ts';
import type { Issue } from '../../protocol/shape.ts';
import { type AuditActor, type AuditEntry, recordAudit, recordStep } from '../../runtime/operators/audit.ts';
import type { Role } from '../../runtime/operators/operators.ts';
import { RunRefused } from '../../runtime/runs/runs.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { MonitorError } from '../../service/monitors/monitor-input.ts';
import type { Db, Store, Tx } from '../../store/store.ts';

/** The result of a run, with its entry in the audit; without an entry if nothing changed. */
export interface Done<R> {
  readonly value: R;
  readonly audit?: Pick<AuditEntry, 'subject' | 'detail' | 'result'> | undefined;
}

/** Who calls an operation, and from where. */
export interface OperationCaller {
  readonly actor: AuditActor;
  readonly via: AuditEntry['via'];
  /** The operator's role on a page. Without one, for programs and users of the machine, everything is allowed. */
  readonly role?: Role | undefined;
  /** The version that the caller saw; the operation refuses to change another one. */
  readonly seen?: string | undefined;
  /** Checks, in the transaction of the change, that what the caller saw is unchanged; false refuses the operation. */
  readonly still?: ((tx: Tx) => Promise<boolean>) | undefined;
  /** The id of what is created, random by default: a form that is sent twice names the same one. */
  readonly id?: string;
}

/** One request: its time, its caller, and what the caller said about it. */
export interface Moment extends OperationCaller {
  readonly now: number;
}

/**
 * Stores the one entry of the operation, or its result so far, in the transaction of a step; `before` as in
 * `recordStep`.
 */
export interface Recording {
  record(tx: Tx, audit: NonNullable<Done<unknown>['audit']>, before: number | undefined): Promise<number>;
}

/**
 * The route of an operation below `/admin/api`. The input is in the path and the body, or in the path and the query.
 */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Such as `/keys/:id`. */
  readonly path: string;
  readonly operationId: string;
  readonly status: 200 | 201 | 204;
  /** The answer; for 204, its meaning. */
  readonly answer: TSchema | string;
  /** Properties of the input that the route does not take. */
  readonly leavesOut?: readonly string[];
  /** Whether the input of a request other than GET and DELETE is in the query. */
  readonly hasQuery?: true;
  readonly examples?: readonly Readonly<Record<string, unknown>>[];
  /** The meaning of its refusals. */
  readonly refusals?: Readonly<Partial<Record<404 | 409 | 422, string>>>;
}

/** One operation. `N` is what it needs in addition to the store and the clock. */
export interface Operation<I extends TObject = TObject, R = unknown, N extends object = object> {
  /** Noun and verb, as the audit names it: `key.create`. */
  readonly name: string;
  /** The lowest role that may run it from a page; a program needs the admin token, or a key of the scope admin. */
  readonly role: Role;
  /** One line, in the imperative and in lower case. */
  readonly about: string;
  /** Further text of its description. */
  readonly more?: string;
  readonly input: I;
  /** Queues to ring after the commit. */
  readonly rings?: readonly string[];
  committed?(needs: N): void;
  readonly api?: Endpoint;
  /** Errors in the input beyond the schema. */
  check?(input: Static<I>, needs: N): readonly RefusedPart[];
  /**
   * Reads outside the store, before the change, what a caller has not seen; the result counts as the version that they
   * saw.
   */
  prepare?(input: Static<I>, context: N & Ground & Moment): Promise<string>;
  /**
   * For an operation on many things: what it would do now. The command or page shows it and asks, before it performs
   * the operation.
   */
  preview?(db: Db, input: Static<I>, context: N & Moment): Promise<MassPreview>;
  /** Changes the store, in one transaction with its entry in the audit. Throws {@link Refused} or {@link MonitorError}. */
  change?(tx: Tx, input: Static<I>, context: N & Moment): Promise<Done<R>>;
  /** Instead of `change`: reads, or calls somebody. Writes only its entry in the audit. */
  read?(db: Db, input: Static<I>, context: N & Ground & Moment): Promise<Done<R>>;
  /**
   * Instead of `change`: changes so much that it needs many transactions, each with the entry of what is done so far.
   */
  steps?(input: Static<I>, context: N & Ground & Moment & Recording): Promise<R>;
  /** The result as the API and `--json` show it; unchanged by default. */
  view?(value: R, needs: N): unknown;
}

export interface MassPreview {
  readonly count: number;
}

/** Infers the input's type from its schema. */
export const defineOperation = <I extends TObject, R, N extends object = object>(
  operation: Operation<I, R, N>,
): Operation<I, R, N> => operation;

/** The error of one property of the input, such as `/url`. */
export type RefusedPart = Issue & { readonly given?: string };

/** Why an operation did not run. `unknown`: its object does not exist; `conflict`: its object is in another state. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly kind: 'unknown' | 'invalid' | 'conflict';
  /** For `invalid` only. */
  readonly issues: readonly RefusedPart[];

  /** Distinguishes the refusals of one operation. */
  readonly code: string | undefined;
  /** What prevents the operation, such as the id of a company. */
  readonly about: string | undefined;

  constructor(kind: Refused['kind'], message: string, more: Partial<Pick<Refused, 'issues' | 'code' | 'about'>> = {}) {
    super(message);
    this.kind = kind;
    this.issues = more.issues ?? [];
    this.code = more.code;
    this.about = more.about;
  }
}

const NOT_VALID = 'the request is not valid';

/** The result of an operation, or why it was refused. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Refused> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Refuses a property of the input. */
export const invalid = (path: string, message: string): Refused =>
  new Refused('invalid', NOT_VALID, { issues: [{ path, message }] });

/** Refuses an id that does not exist. */
export const unknown = (noun: string): Refused => new Refused('unknown', `there is no ${noun} with this id`);

/** What every operation needs. */
export interface Ground {
  readonly store: Store;
  readonly now: () => number;
  /** Absent in a process without workers. */
  readonly wakeUp?: Pick<WakeUp, 'ring'>;
  /** Called after each change, which may have left work for the connector. */
  readonly wake?: (() => void) | undefined;
}

/**
 * Runs an operation for a caller. A change, its entry in the audit and the work it leaves are one transaction. A
 * refused operation, and one that changes nothing, leaves no entry. Throws {@link Refused}.
 */
export async function perform<I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  input: Frozen<Static<I>>,
  deps: Ground & N,
  caller: OperationCaller,
): Promise<R> {
  const { seen = await operation.prepare?.(readInput(operation, input, deps), momentOf(deps, caller)) } = caller;
  return carryOut(operation, deps, { ...caller, seen }, (run) => run(input));
}

const momentOf = <N extends object>(deps: Ground & N, caller: OperationCaller): N & Ground & Moment => ({
  ...deps,
  ...caller,
  now: deps.now(),
});

export async function preview<I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  input: Frozen<Static<I>>,
  deps: Ground & N,
  caller: OperationCaller,
): Promise<MassPreview> {
  if (operation.preview === undefined) throw new Error(`${operation.name} has no preview`);
  const context = { ...deps, ...caller, now: deps.now() };
  return operation.preview(deps.store.db, readInput(operation, input, deps), context);
}

/** Runs an operation for all inputs, or for none. */
export const performEach = <I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  inputs: readonly Frozen<Static<I>>[],
  deps: Ground & N,
  caller: OperationCaller,
): Promise<readonly R[]> =>
  carryOut(operation, deps, caller, async (run) => {
    const values: R[] = [];
    for (const input of inputs) values.push(await run(input));
    return values;
  });

async function carryOut<I extends TObject, R, N extends object, T>(
  operation: Operation<I, R, N>,
  deps: Ground & N,
  caller: OperationCaller,
  work: (run: (input: Frozen<Static<I>>) => Promise<R>) => Promise<T>,
): Promise<T> {
  const { store, wakeUp, wake } = deps;
  const { actor, via } = caller;
  const now = deps.now();
  const context = { ...deps, ...caller, now };
  const entryOf = (audit: NonNullable<Done<R>['audit']>) => ({ actor, via, action: operation.name, ...audit });
  const record = async (tx: Tx, audit: Done<R>['audit']): Promise<void> => {
    if (audit !== undefined) await recordAudit(tx, entryOf(audit), now);
  };
  const changeIn = async (tx: Tx): Promise<T> => {
    if ((await caller.still?.(tx)) === false) throw new Refused('conflict', 'it has changed since you saw it');
    return work(async (input) => {
      const { value, audit } = await ran(operation.change?.(tx, readInput(operation, input, deps), context));
      await record(tx, audit);
      return value;
    });
  };
  const recording: Recording = { record: (tx, audit, before) => recordStep(tx, entryOf(audit), { now, before }) };
  const read = () =>
    work(async (input) => {
      if (operation.steps !== undefined)
        return operation.steps(readInput(operation, input, deps), { ...context, ...recording });
      const { value, audit } = await ran(operation.read?.(store.db, readInput(operation, input, deps), context));
      if (audit !== undefined) await store.write((tx) => record(tx, audit));
      return value;
    });
  try {
    const result = await (operation.change === undefined ? read() : store.write(changeIn));
    for (const queue of operation.rings ?? []) wakeUp?.ring(queue);
    if (operation.read === undefined) wake?.();
    operation.committed?.(deps);
    return result;
  } catch (error) {
    if (error instanceof RunRefused || error instanceof LeftError) throw new Refused('conflict', error.message);
    if (!(error instanceof MonitorError)) throw error;
    throw new Refused('invalid', NOT_VALID, { issues: error.issues });
  }
}

async function ran<R>(done: Promise<Done<R>> | undefined): Promise<Done<R>> {
  if (done === undefined) throw new Error('an operation changes or reads');
  return done;
}

/** An input before its defaults: optional properties may be undefined. */
export type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
    : T;

/** The input with its defaults; throws {@link Refused} if it does not match the schema. */
function readInput<I extends TObject, R, N extends object>(
  operation: Operation<I, R, N>,
  given: Frozen<Static<I>>,
  needs: N,
): Static<I> {
  const wrong = operation.check?.(given as Static<I>, needs) ?? [];
  if (wrong.length > 0) throw new Refused('invalid', NOT_VALID, { issues: wrong });
  const validator = Compile(operation.input);
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const input = validator.Default(structuredClone(stated));
  if (validator.Check(input)) return input;
  const problems = problemsOf('', validator.Errors(input), operation.input);
  const issues = problems.map(({ path, message }) => ({ path: path.replaceAll('.', '/'), message }));
  throw new Refused('invalid', NOT_VALID, { issues });
}
