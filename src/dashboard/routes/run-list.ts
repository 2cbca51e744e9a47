import type { VNode } from 'preact';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import { runAddress } from '../addresses/addresses.ts';
import { html, type Markup } from '../page/html.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';

type Run = StoredRun<unknown>;

const RUN_SIGNS = { waiting: 'idle', running: 'idle', done: 'ok', cancelled: 'warn', failed: 'bad' } as const;

export const runState = (reader: Reader, run: Pick<Run, 'stage' | 'state'>): VNode =>
  state(RUN_SIGNS[run.state], reader.text(run.stage === 'preview' ? `preview.${run.state}` : `run.${run.state}`));

/** Runs under a heading; `name`: the name of one. */
export function runTable<R extends Run>(
  { reader }: Visit,
  label: string,
  runs: readonly R[],
  name: (run: R) => string,
) {
  return table({
    label,
    columns: [reader.text('writes.at'), reader.text('run.which'), reader.text('run.state'), reader.text('run.actor')],
    rows: runs.map((run) => [
      timeOf(reader, run.createdAt),
      html`<a href=${runAddress(run.id)}>${name(run)}</a>`,
      runState(reader, run),
      run.actor.name,
    ]),
  });
}

/** The latest runs, with a link to all; nothing if there are none. */
export function recentRuns<R extends Run>(
  visit: Visit,
  { title, task }: { readonly title: string; readonly task: string },
  runs: readonly R[],
  name: (run: R) => string,
): Markup {
  if (runs.length === 0) return null;
  return html`<h2>${title}</h2>
    ${runTable(visit, title, runs, name)}
    <p class="actions"><a href=${`/runs?task=${task}`}>${visit.reader.text('run.all')}</a></p>`;
}
