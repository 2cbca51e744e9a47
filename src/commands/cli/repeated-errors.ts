/** Shortens a log while the same error repeats: one line a minute, with the count. */
import type { LogFn, Logger } from 'pino';
import { errorText } from '../../protocol/text/error-text.ts';
import { storeErrorIn } from '../../store/store-error.ts';

const EVERY_MS = 60_000;
/** From this level on every line is logged. */
const FATAL = 60;

interface Repeated {
  count: number;
  write: () => void;
}

type LogMethod = (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) => void;

/** A hook for pino. It looks at lines with an error, `err`; all failures of the store count as one error. */
export function limitRepeats(): LogMethod {
  const repeated = new Map<string, Repeated>();

  function again(key: string): void {
    setTimeout(() => {
      const { count, write } = repeated.get(key) ?? { count: 0, write: () => {} };
      if (count === 0) repeated.delete(key);
      else {
        write();
        again(key);
      }
    }, EVERY_MS).unref();
  }

  return function write(args, method, level) {
    const [details, message] = args as readonly unknown[];
    const key = level < FATAL ? keyOf(details, message) : undefined;
    if (key === undefined) return method.apply(this, args);
    const known = repeated.get(key);
    if (known === undefined) {
      repeated.set(key, { count: 0, write: () => {} });
      again(key);
      return method.apply(this, args);
    }
    known.count += 1;
    known.write = () => {
      const line = { ...(details as object), repeated: known.count };
      known.count = 0;
      method.call(this, line, message as string);
    };
  };
}

/** The common part of one error's lines; undefined for a line without an error. */
function keyOf(details: unknown, message: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('err' in details)) return undefined;
  if (storeErrorIn(details.err) !== undefined) return 'the store';
  return `${String(message)} ${errorText(details.err).replaceAll(/\d+/g, '#')}`;
}
