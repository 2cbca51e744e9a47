import { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import type { CommandContext } from '../cli/context.ts';

export interface ProgressBar {
  /** Shows the text with a bar; without a total only the text. */
  show(text: string, done: number, total: number): void;
  stop(): void;
}

/** A line at the end of a terminal, which it redraws. */
export function openBar(stderr: CommandContext['stderr']): ProgressBar {
  const stream = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        if (stderr.draw === undefined) stderr.write(String(chunk));
        else stderr.draw(String(chunk));
        done();
      },
    }),
    { isTTY: true, columns: stderr.columns ?? 100 },
  );
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    format: (_options, { progress, total }, { text }: { text: string }) =>
      total === 0 ? text : `[${'='.repeat(Math.round(progress * 20)).padEnd(20, '-')}] ${text}`,
  });
  bar.start(0, 0, { text: '' });
  return {
    show(text, done, total) {
      bar.setTotal(total);
      bar.update(done, { text: text.slice(0, Math.max(20, stream.columns - (total === 0 ? 1 : 24))) });
    },
    stop: () => bar.stop(),
  };
}
