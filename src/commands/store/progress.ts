import type { CommandContext } from '../cli/context.ts';
import { openBar, type ProgressBar } from '../progress/bar.ts';
import { grouped, rateText } from '../progress/rate.ts';

const LINE_MS = 5_000;
const REDRAW_MS = 250;

export interface CopyProgress {
  /** Begins a part of the work, of which `done` was done before. */
  begin(word: 'copying' | 'comparing', done: number): void;
  add(rows: number): void;
  end(): void;
}

/** Shows on stderr how many rows of `total` are done: a bar on a terminal, else lines; log lines for programs. */
export function showCopying({ stderr, json, log }: CommandContext, total: number): CopyProgress {
  const bar: ProgressBar | undefined = stderr.isTTY === true && !json ? openBar(stderr) : undefined;
  let part = { word: '', before: 0, rows: 0, since: Date.now() };
  const show = (): void => {
    const { word, before, rows, since } = part;
    const perSecond = rows / Math.max(0.001, (Date.now() - since) / 1_000);
    const done = before + rows;
    const text = `${word}: ${grouped(done)} of ${grouped(total)} rows, ${rateText({ done, total, perSecond })}`;
    if (bar !== undefined) bar.show(text, done, total);
    else if (json) log.info({ part: word, done, total, perSecond: Math.round(perSecond) }, 'store copy');
    else stderr.write(`${text}\n`);
  };
  const timer = setInterval(show, bar === undefined ? LINE_MS : REDRAW_MS);
  return {
    begin(word, done) {
      if (part.word !== '') show();
      part = { word, before: done, rows: 0, since: Date.now() };
    },
    add(rows) {
      part.rows += rows;
    },
    end() {
      clearInterval(timer);
      if (part.word !== '') show();
      bar?.stop();
    },
  };
}
