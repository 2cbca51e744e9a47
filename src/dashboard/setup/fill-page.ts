/** The last step: the answers, and the button that writes them and leads to the backfill. */
import type { Server } from '../../http/server/server.ts';
import { type Draft, isAnswered, STEPS } from '../../setup/draft.ts';
import { valueAt } from '../../setup/questions.ts';
import { backfillAddress } from '../backfill/filter.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addressOf, addStep, addStepAction, problemList, type StepVisit } from '../steps/step-route.ts';
import { addAlertsPart, alertsPart } from './alerts-part.ts';
import type { Finished, SetUpDeps } from './first-way.ts';

/** cvrsync cannot run without these. */
const NEEDED = ['crm', 'source'] as const;

export function addFill(app: Server, deps: SetUpDeps): void {
  addStep(app, deps, {
    path: '/fill',
    step: 'fill',
    show: (visit, draft) => fillPage(deps, visit, draft),
  });
  addAlertsPart(app, deps, (visit, draft, notice) => fillPage(deps, visit, draft, notice));
  addStepAction(app, deps, {
    path: '/fill',
    step: 'fill',
    async run(visit, draft) {
      if (NEEDED.some((step) => !isAnswered(draft, step))) return addressOf(visit.way, 'fill');
      const finished = await deps.finish();
      if (finished.kind !== 'running') return unfinished(deps, visit, finished);
      if (sourceIn(draft) === 'service') return '/first-event';
      const [name, ...others] = Object.keys(draft.connections);
      return name === undefined || others.length > 0 ? '/backfill' : backfillAddress(name);
    },
  });
}

async function fillPage(deps: SetUpDeps, visit: StepVisit, draft: Draft, notice: Markup = null): Promise<PageBody> {
  const { reader, carried } = visit;
  const open = STEPS.filter((step) => step !== 'fill' && !isAnswered(draft, step));
  const isReady = NEEDED.every((step) => !open.includes(step));
  return {
    title: reader.text('step.fill'),
    body: html`${notice}
      <p>${reader.text(isReady ? 'setup.fillHelp' : 'setup.fillOpen')}</p>
      ${
        open.length > 0 &&
        html`<ul>
          ${open.map((step) => html`<li><a href=${addressOf(visit.way, step)}>${reader.text(`step.${step}`)}</a></li>`)}
        </ul>`
      }
      ${
        isReady &&
        html`${isSample(draft) && html`<p class="notice warn">${reader.text('setup.sampleOnly')} <a href=${addressOf(visit.way, 'source')}>${reader.text('setup.toSource')}</a></p>`}
          <p>${reader.text('setup.signInAgain')} <a href="/sessions">${reader.text('setup.toToken')}</a></p>
          <p>${reader.text('setup.willWrite')} <code>${deps.place.file}</code></p>
          <form method="post" action="/setup/fill">
            ${hidden(carried)}
            <button class="primary">${reader.text('setup.finish')}</button>
          </form>`
      }
      ${await alertsPart(deps, visit, draft)}`,
  };
}

const sourceIn = ({ source }: Draft): unknown => source && valueAt(source, ['changes', 'source']);
const isSample = (draft: Draft): boolean => sourceIn(draft) === 'sample';

function unfinished(
  { place }: SetUpDeps,
  { reader }: Visit,
  finished: Exclude<Finished, { readonly kind: 'running' }>,
): PageBody {
  const title = reader.text('step.fill');
  const back = html`<p><a class="button" href="/setup/fill">${reader.text('setup.again')}</a></p>`;
  if (finished.kind === 'refused')
    return {
      status: 422,
      title,
      body: html`${problemList(finished.problems.map((each) => said(reader, each)))} ${back}`,
    };
  const isThere = finished.code === 'EEXIST';
  return {
    status: 409,
    title,
    body: html`<p class="notice bad" role="alert">
        ${reader.text(isThere ? 'setup.fileThere' : 'setup.unwritable', { file: place.file, code: finished.code })}
      </p>
      <p>${reader.text('setup.paste')}</p>
      <p><code>${place.file}</code></p>
      <pre tabindex="0">${finished.text}</pre>
      ${back}`,
  };
}
