/** What the pages of runs share: how far one is, and the actions that carry it out and cancel it. */

import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { RunRef, StoredRun } from '../../runtime/runs/runs.ts';
import type { Tx } from '../../store/store.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import { livePart, state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, type RouteDeps } from './routes.ts';

type Run = StoredRun<unknown>;

/** Where the runs of a task are, and what is done with one. Asked for again, a step changes nothing. */
export interface RunPages {
  /** `/undoes`: a run is at `/undoes/1`. */
  readonly path: string;
  run(tx: Tx, ref: RunRef, now: number): Promise<boolean>;
  cancel(tx: Tx, ref: RunRef, now: number): Promise<boolean>;
}

/** The id of a run in an address; undefined if it is none. */
export const runIdIn = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** Adds the actions on one run. */
export function addRunSteps(app: Server, deps: RouteDeps, pages: RunPages): void {
  for (const step of ['run', 'cancel'] as const)
    addAction(app, deps, {
      path: `${pages.path}/:id/${step}`,
      async run({ visitor, param, now }) {
        const id = runIdIn(param('id')) ?? 0;
        await deps.store.write((tx) => pages[step](tx, { id, actor: visitor.actor }, now));
        return `${pages.path}/${id}`;
      },
    });
}

const EVIDENCE = { waiting: 'idle', running: 'idle', done: 'ok', cancelled: 'warn', failed: 'bad' } as const;

/** The state of a run in words. */
const runState = (reader: Reader, run: Pick<Run, 'stage' | 'state'>): VNode =>
  state(EVIDENCE[run.state], reader.text(run.stage === 'preview' ? `preview.${run.state}` : `run.${run.state}`));

/** A run's page: it follows a run that goes on. */
export const runBody = (visit: Visit, { state: is }: Run, body: Markup): VNode =>
  livePart(visit, { id: 'run', refreshes: is === 'waiting' || is === 'running' ? 'soon' : 'never' }, body);

/** Its state, on what it runs, and who asked for it. */
export function runSummary({ reader }: Visit, run: Run, progress: Markup, more: Markup): VNode {
  return html`<dl class="facts">
    <dt>${reader.text('run.state')}</dt>
    <dd>
      ${runState(reader, run)} ${progress && html`<span class="quiet">${progress}</span>`}
      ${run.error !== null && html`<div>${said(reader, run.error)}</div>`}
    </dd>
    ${more}
    <dt>${reader.text('run.actor')}</dt>
    <dd>${run.actor.name}, ${timeOf(reader, run.createdAt)}</dd>
  </dl>`;
}

/** What may be done with it now: `ready` says what its button would do; undefined if there is nothing to do. */
export function runSteps(
  { reader, visitor, formToken }: Visit,
  run: Run,
  path: string,
  ready: { readonly button: string; readonly words: Markup } | undefined,
): Markup {
  const form = (name: 'run' | 'cancel', label: string, kind?: 'primary'): Markup =>
    includesRole(visitor.role, 'operator') &&
    html`<form method="post" action=${`${path}/${run.id}/${name}`}>
      ${hidden({ [FORM_TOKEN]: formToken })}
      <button class=${kind}>${label}</button>
    </form>`;
  if (run.state === 'waiting' || run.state === 'running')
    return html`<div class="actions">
      <a href=${`${path}/${run.id}`}>${reader.text('run.reload')}</a> ${form('cancel', reader.text('run.cancel'))}
    </div>`;
  if (run.stage !== 'preview' || run.state !== 'done') return null;
  if (ready === undefined) return html`<p>${reader.text('run.nothing')}</p>`;
  return html`<p class="quiet">${ready.words}</p>
    <div class="actions">${form('run', ready.button, 'primary')}</div>`;
}

/** The latest runs; `name` is what one is called. */
export function runList(
  { reader }: Visit,
  { title, path, name }: { readonly title: string; readonly path: string; name(id: string): string },
  runs: readonly Run[],
): Markup {
  if (runs.length === 0) return null;
  return html`<h2>${title}</h2>
    ${table({
      label: title,
      columns: [reader.text('writes.at'), reader.text('run.which'), reader.text('run.state'), reader.text('run.actor')],
      rows: runs.map((each) => [
        timeOf(reader, each.createdAt),
        html`<a href=${`${path}/${each.id}`}>${name(String(each.id))}</a>`,
        runState(reader, each),
        each.actor.name,
      ]),
    })}`;
}
