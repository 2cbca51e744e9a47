/** Requests the next page during the ingestion of one: the register's answer takes as long as that. */
import type { RegisterSource, SourcePage } from './source.ts';

interface PageAhead {
  readonly cursor: string;
  readonly page: Promise<SourcePage>;
  isStopped(): boolean;
  stop(): void;
  readonly timer: NodeJS.Timeout;
}

/** How long an unused page is kept: another process may have taken the lane. */
const KEPT_MS = 120_000;

/**
 * Wraps a source to read one page ahead. The page counts only for the exact cursor of the page before: after a reset,
 * or if another process read on, the source is asked again. An error reaches the caller that asks for the page. The
 * request ends with the signal of the run that started it.
 */
export function withPageAhead(source: RegisterSource, keptMs = KEPT_MS): RegisterSource {
  let ahead: PageAhead | undefined;

  function ask(cursor: string, signal: AbortSignal): PageAhead {
    const stopping = new AbortController();
    const stop = () => stopping.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const page = source.page(cursor, stopping.signal).finally(() => signal.removeEventListener('abort', stop));
    // The caller that takes the page handles the error; no caller may come.
    page.catch(() => undefined);
    const drop = () => {
      ahead = undefined;
      stop();
    };
    const timer = setTimeout(drop, keptMs).unref();
    const asked = { cursor, page, stop, timer, isStopped: () => stopping.signal.aborted };
    return asked;
  }

  function take(): PageAhead | undefined {
    const found = ahead;
    ahead = undefined;
    clearTimeout(found?.timer);
    return found;
  }

  /** The page ahead if it follows this cursor. Stops any other one, and resolves after it has ended. */
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
