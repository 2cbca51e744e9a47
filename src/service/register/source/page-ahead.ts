/** Asks for the next page while one is taken in: the register's answer takes as long as the work on it. */
import type { RegisterSource, SourcePage } from './source.ts';

/** A page that was asked for ahead. */
interface PageAhead {
  readonly cursor: string;
  readonly page: Promise<SourcePage>;
  /** Whether it was given up before it came. */
  isStopped(): boolean;
  stop(): void;
  readonly timer: NodeJS.Timeout;
}

/** How long a page waits to be taken, in ms: the lane may have gone to another process, which reads on. */
const KEPT_MS = 120_000;

/**
 * The same source, at most one page ahead of the watcher. The page ahead counts only for the very cursor that the page
 * before it gave: after a reset, or where another process read on, the source is asked anew. Where it failed, whoever asks
 * for it gets the failure. It ends with the signal of the run that it was asked in.
 */
export function withPageAhead(source: RegisterSource, keptMs = KEPT_MS): RegisterSource {
  let ahead: PageAhead | undefined;

  function ask(cursor: string, signal: AbortSignal): PageAhead {
    const stopping = new AbortController();
    const stop = () => stopping.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const page = source.page(cursor, stopping.signal).finally(() => signal.removeEventListener('abort', stop));
    // Whoever asks for the page is told; nobody may.
    page.catch(() => undefined);
    const drop = () => {
      ahead = undefined;
      stop();
    };
    const timer = setTimeout(drop, keptMs).unref();
    const asked = { cursor, page, stop, timer, isStopped: () => stopping.signal.aborted };
    return asked;
  }

  /** Lets go of the page ahead, and of its memory. */
  function take(): PageAhead | undefined {
    const found = ahead;
    ahead = undefined;
    clearTimeout(found?.timer);
    return found;
  }

  /** The page ahead where it is the one after this cursor. Another is stopped, and has ended when this resolves. */
  async function taken(cursor: string | undefined, signal: AbortSignal): Promise<SourcePage | undefined> {
    const found = take();
    if (found === undefined) return undefined;
    if (found.cursor !== cursor || signal.aborted) found.stop();
    signal.addEventListener('abort', found.stop, { once: true });
    try {
      const page = await found.page;
      return found.isStopped() ? undefined : page;
    } catch (error) {
      if (found.isStopped()) return undefined;
      throw error;
    } finally {
      signal.removeEventListener('abort', found.stop);
    }
  }

  return {
    ...source,
    async page(cursor, signal) {
      const page = (await taken(cursor, signal)) ?? (await source.page(cursor, signal));
      if (page.more && page.trouble === undefined && !signal.aborted) ahead = ask(page.cursor, signal);
      return page;
    },
    async close() {
      take()?.stop();
      await source.close?.();
    },
  };
}
