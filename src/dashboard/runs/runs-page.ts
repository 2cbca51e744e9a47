/** The list of runs, and each run with its stages, progress and results. */
import type { VNode } from 'preact';
import { BACKFILL } from '../../connector/backfill/plan/backfill-task.ts';
import { LEAVE } from '../../connector/leave/leave-task.ts';
import { REVIEW } from '../../connector/review/review-task.ts';
import { UNDO } from '../../connector/undo/undo-task.ts';
import type { Server } from '../../http/server/server.ts';
import { cancelRun, confirmRun, itemFacts, RUN_STATES, RUN_TASKS } from '../../operations/installation/runs.ts';
import type { CsvRow } from '../../runtime/files/csv-text.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { pageItems } from '../../runtime/runs/run-items.ts';
import { findRun, isRunOf, listRuns, type RunTask, rateOf, type StoredRun } from '../../runtime/runs/runs.ts';
import { REPLAY } from '../../service/delivery/replay/replay-task.ts';
import type { Db } from '../../store/store.ts';
import { RUNS, runAddress } from '../addresses/addresses.ts';
import type { BackfillPageDeps } from '../backfill/filter.ts';
import { type FileBody, sendCsv } from '../page/csv.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { livePart, timeOf } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import { runState, runTable } from '../routes/run-list.ts';
import { addAnswerRequest, answersFace } from './answers-run.ts';
import { backfillFace } from './backfill-run.ts';
import { leaveFace } from './leave-run.ts';
import { addReplayRequest, replayFace } from './replay-run.ts';
import type { RunFace } from './run-face.ts';
import { addUndoRequest, undoFace } from './undo-run.ts';

type Run = StoredRun<unknown>;

type OpenRun = ReturnType<ReturnType<typeof openerOf>>;

const SHOWN = 50;
const FILE_PAGE = 500;

/** Adds the list, the page of one run with its file, and its actions. */
export function addRuns(app: Server, deps: BackfillPageDeps): void {
  const { db } = deps.store;
  const open = openerOf(deps);
  const find = async ({ param }: Visit): Promise<OpenRun | undefined> => {
    const run = await findRun(db, idIn(param('id')) ?? 0);
    return run && open(run);
  };
  if (deps.halves.connector) {
    addUndoRequest(app, deps);
    addAnswerRequest(app, deps);
  }
  if (deps.halves.service) addReplayRequest(app, deps);
  addPage(app, deps, { path: RUNS, show: (visit) => listPage(db, visit, open) });
  addPage(app, deps, {
    path: `${RUNS}/:id`,
    async show(visit) {
      const run = await find(visit);
      return run && runPage(visit, run);
    },
  });
  addPage(app, deps, {
    path: `${RUNS}/:id/results.csv`,
    role: 'operator',
    async show(visit) {
      const found = await find(visit);
      return found?.columns && resultFile(db, found.run.id, found.columns);
    },
  });
  const face = {
    input: ({ param }: Visit) => ({ run: idIn(param('id')) ?? 0 }),
    next: ({ param }: Visit) => runAddress(param('id')),
  };
  addForm(app, deps, cancelRun, { path: `${RUNS}/:id/cancel`, ...face });
  addForm(app, deps, confirmRun, {
    path: `${RUNS}/:id/confirm`,
    ...face,
    // The page of the run says why.
    refused: ({ param }, { kind }) => (kind === 'conflict' ? runAddress(param('id')) : undefined),
  });
}

const idIn = (text: string): number | undefined => (/^\d{1,15}$/u.test(text) ? Number(text) : undefined);

/** Finds the face of a run's task. */
function openerOf(deps: BackfillPageDeps) {
  const undo = undoFace(deps);
  const answers = answersFace(deps);
  const backfill = backfillFace(deps);
  const leave = leaveFace(deps);
  const replay = replayFace(deps);
  const faceOf = <I>(task: RunTask<I>, face: RunFace<I>, run: Run) =>
    isRunOf(task, run)
      ? {
          run,
          columns: face.columns,
          title: (reader: Visit['reader']) => face.title(reader, run),
          progress: (reader: Visit['reader']) => face.progress(reader, run),
          facts: (visit: Visit) => face.facts(visit, run),
          details: (visit: Visit) => face.details(visit, run),
        }
      : undefined;
  return (run: Run) => {
    const found =
      faceOf(UNDO, undo, run) ??
      faceOf(REVIEW, answers, run) ??
      faceOf(BACKFILL, backfill, run) ??
      faceOf(LEAVE, leave, run) ??
      faceOf(REPLAY, replay, run);
    if (found === undefined) throw new Error(`no page shows runs of ${run.task}`);
    return found;
  };
}

async function listPage(db: Db, visit: Visit, open: (run: Run) => OpenRun): Promise<PageBody> {
  const { reader, query } = visit;
  const task = RUN_TASKS.find((each) => each === query('task'));
  const state = RUN_STATES.find((each) => each === query('state'));
  const before = idIn(query('before'));
  const found = await listRuns(db, { task, state, before }, SHOWN + 1);
  const runs = found.slice(0, SHOWN);
  const older = found.length > SHOWN ? runs.at(-1)?.id : undefined;
  const select = (name: 'task' | 'state', options: readonly VNode[]): VNode => html`<div>
    <label for=${name}>${reader.text(`runs.${name}`)}</label>
    <select id=${name} name=${name}>
      <option value="">${reader.text('runs.any')}</option>
      ${options}
    </select>
  </div>`;
  return {
    title: reader.text('nav.runs'),
    body: html`<p>${reader.text('runs.help')}</p>
      <form class="filters" action=${RUNS}>
        ${select(
          'task',
          RUN_TASKS.map(
            (each) => html`<option value=${each} selected=${each === task}>${reader.text(`task.${each}`)}</option>`,
          ),
        )}
        ${select(
          'state',
          RUN_STATES.map(
            (each) => html`<option value=${each} selected=${each === state}>${reader.text(`state.${each}`)}</option>`,
          ),
        )}
        <button>${reader.text('list.filter')}</button>
        <a href=${RUNS}>${reader.text('list.all')}</a>
      </form>
      ${
        runs.length === 0
          ? html`<p>${reader.text('runs.none')}</p>`
          : runTable(visit, reader.text('nav.runs'), runs, (run) => open(run).title(reader))
      }
      <p class="actions">
        ${older !== undefined && html`<a rel="next" href=${`${RUNS}?${new URLSearchParams({ task: task ?? '', state: state ?? '', before: String(older) })}`}>${reader.text('list.older')}</a>`}
      </p>`,
  };
}

const isOpen = ({ state }: Run): boolean => state === 'waiting' || state === 'running';

async function runPage(visit: Visit, found: OpenRun): Promise<PageBody> {
  const { reader } = visit;
  const { run } = found;
  const { confirmation, ask, body } = await found.details(visit);
  const steps = isOpen(run) ? cancelForm(visit, run) : (ask ?? confirmForm(visit, run, confirmation));
  const mayHaveFile = found.columns !== undefined && includesRole(visit.visitor.role, 'operator');
  return {
    title: found.title(reader),
    body: livePart(
      visit,
      { id: 'run', refreshes: isOpen(run) ? 'soon' : 'never' },
      html`<dl class="facts">
          <dt>${reader.text('run.state')}</dt>
          <dd>
            ${runState(reader, run)} <span class="quiet">${[found.progress(reader) ?? '', rateText(visit, run)].filter((part) => part !== '').join(', ')}</span>
            ${run.error !== null && html`<div>${said(reader, run.error)}</div>`}
          </dd>
          ${await found.facts(visit)}
          <dt>${reader.text('run.stages')}</dt>
          <dd>${stages(visit, run)}</dd>
          <dt>${reader.text('run.actor')}</dt>
          <dd>${run.actor.name} <span class="quiet">${reader.text(`via.${run.via}`)}</span></dd>
        </dl>
        ${steps} ${body}
        ${mayHaveFile && html`<p class="actions"><a href=${`${runAddress(run.id)}/results.csv`} download>${reader.text('run.file')}</a></p>`}`,
    ),
  };
}

/** The speed of the stage, and its remaining time. */
function rateText({ reader, now }: Visit, run: Run): string {
  const found = rateOf(run, now);
  if (found === undefined) return '';
  const { perMinute, leftMs } = found;
  const rate = reader.text('run.rate', { rate: Math.max(1, Math.round(perMinute)) });
  return leftMs === undefined ? rate : `${rate}, ${reader.text('run.left', { time: reader.duration(leftMs) })}`;
}

/** The times of its stages. */
function stages({ reader }: Visit, run: Run): Markup {
  const { stage, state, createdAt, confirmedAt, endedAt } = run;
  const previewedAt = stage === 'preview' && state === 'done' ? endedAt : run.previewedAt;
  const times = [
    ['asked', createdAt],
    ['previewed', previewedAt],
    ['confirmed', confirmedAt],
    ['ended', previewedAt === endedAt ? null : endedAt],
  ] as const;
  return html`<ul class="lines">
    ${times.map(([name, at]) => at !== null && html`<li>${reader.text(`stage.${name}`)} ${timeOf(reader, at)}</li>`)}
  </ul>`;
}

function stepForm({ reader, visitor, formToken }: Visit, run: Run, step: 'confirm' | 'cancel', label?: string): Markup {
  if (!includesRole(visitor.role, 'operator')) return null;
  return html`<form method="post" action=${`${runAddress(run.id)}/${step}`}>
    ${hidden({ [FORM_TOKEN]: formToken })}
    <button class=${step === 'confirm' ? 'primary' : undefined}>${label ?? reader.text('run.cancel')}</button>
  </form>`;
}

const cancelForm = (visit: Visit, run: Run): VNode => html`<div class="actions">
  <a href=${runAddress(run.id)}>${visit.reader.text('run.reload')}</a> ${stepForm(visit, run, 'cancel')}
</div>`;

function confirmForm(
  visit: Visit,
  run: Run,
  confirmation: Awaited<ReturnType<OpenRun['details']>>['confirmation'],
): Markup {
  if (run.stage !== 'preview' || run.state !== 'done') return null;
  if (confirmation === undefined) return html`<p>${visit.reader.text('run.nothing')}</p>`;
  return html`<p class="quiet">${confirmation.words}</p>
    <div class="actions">${stepForm(visit, run, 'confirm', confirmation.button)}</div>`;
}

const resultFile = (db: Db, id: number, columns: readonly string[]): FileBody =>
  sendCsv(`run-${id}.csv`, resultPages(db, id, columns));

async function* resultPages(db: Db, id: number, columns: readonly string[]): AsyncGenerator<readonly CsvRow[]> {
  const names = ['key', 'result', ...columns];
  yield [names];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const items = await pageItems(db, id, after, FILE_PAGE);
    yield items.map((item) => {
      const facts = itemFacts(item);
      return names.map((name) => cellOf(facts[name]));
    });
    after = items.length < FILE_PAGE ? undefined : items.at(-1)?.key;
  }
}

const cellOf = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
