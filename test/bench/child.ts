/** A helper process of a bench, asked over IPC: load and emulated CRMs must not share a thread with anything measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';

/** What a helper can do, by name. */
type Verbs = Readonly<Record<string, (input: never) => unknown>>;

/** A running helper. Ask one thing at a time. */
export interface Child<V extends Verbs> {
  ask<N extends keyof V & string>(verb: N, input: Parameters<V[N]>[0]): Promise<Awaited<ReturnType<V[N]>>>;
  close(): Promise<void>;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: string;
}

/** Starts a module of this folder that calls {@link answerWith}; `flags` are Node's. */
export function openChild<V extends Verbs>(module: string, flags: readonly string[] = []): Child<V> {
  const execArgv = [...process.execArgv, ...flags];
  const child = fork(new URL(module, import.meta.url), { serialization: 'advanced', execArgv });
  const ended = once(child, 'exit');
  return {
    async ask(verb, input) {
      child.send({ verb, input });
      const answered = once(child, 'message');
      const [answer]: Answer[] = await Promise.race([answered, ended.then(() => [{ error: 'it ended' }])]);
      if (answer?.error !== undefined) throw new Error(`${module} could not ${verb}: ${answer.error}`);
      // What crosses a process border has no type; both ends are compiled against the same verbs.
      return answer?.result as never;
    },
    async close() {
      child.disconnect();
      await ended;
    },
  };
}

/** Answers the parent until it lets go; then the process ends. */
export function answerWith<V extends Verbs>(verbs: V): void {
  process.on('message', async ({ verb, input }: { verb: string; input: never }) => {
    try {
      process.send?.({ result: await verbs[verb]?.(input) });
    } catch (error) {
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
}
