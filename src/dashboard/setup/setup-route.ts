/** How a step of the set-up is added: for one person at a time, with the list of steps beside it. */
import type { VNode } from 'preact';
import type { ConfiguredProvider } from '../../config/load.ts';
import type { CrmDeps } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { type ReadConnection, readConnection, type SetUpGround } from '../../setup/connections.ts';
import { changeDraft, type Draft, isAnswered, nextStep, readDraft, STEPS, type Step } from '../../setup/draft.ts';
import { enterSetUp, type SetUpHolder, takeOver } from '../../setup/holder.ts';
import type { Trials } from '../../setup/trials.ts';
import { type Fields, FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { browserName } from '../sign-in/sessions.ts';

/** What came of the end of the set-up. */
export type Finished =
  | { readonly kind: 'running' }
  | { readonly kind: 'unwritable'; readonly text: string; readonly code: string }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

/** What the pages of the set-up read, and what they hand over to. */
export interface SetUpDeps extends RouteDeps, SetUpGround {
  readonly crm: CrmDeps;
  readonly trials: Trials;
  /** Writes the file and has the daemon go on with it. */
  readonly finish: () => Promise<Finished>;
}

/** A step, or one of its pages. */
interface StepPage {
  readonly path: string;
  readonly step: Step;
  /** A path if it is elsewhere. */
  show(visit: Visit, draft: Draft): Promise<PageBody | string | undefined>;
}

interface StepAction {
  readonly path: string;
  readonly step: Step;
  /** Says which path to show next, or gives a page that says why not. */
  run(visit: Visit, draft: Draft, fields: Fields): Promise<string | PageBody>;
}

const meOf = ({ visitor: { actor, session } }: Visit): Omit<SetUpHolder, 'since' | 'seenAt'> => ({
  session: session.hash,
  name: actor.name,
  agent: session.agent,
});

/** Notes that this visitor is in the set-up; somebody else who is, if there is one. */
export async function otherHolder({ store }: Pick<SetUpDeps, 'store'>, visit: Visit): Promise<SetUpHolder | undefined> {
  const holder = await enterSetUp(store, meOf(visit), visit.now);
  return holder.session === visit.visitor.session.hash ? undefined : holder;
}

/** Adds a page of a step. */
export function addStep(app: Server, deps: SetUpDeps, { path, step, show }: StepPage): void {
  addPage(app, deps, {
    path,
    role: 'admin',
    async show(visit) {
      const other = await otherHolder(deps, visit);
      if (other !== undefined) return heldPage(visit, other);
      const draft = await readDraft(deps.store.db);
      const page = await show(visit, draft);
      return page === undefined || typeof page === 'string' ? page : framed(visit, draft, step, page);
    },
  });
}

/** Adds what a form of a step does. */
export function addStepAction(app: Server, deps: SetUpDeps, { path, step, run }: StepAction): void {
  addAction(app, deps, {
    path,
    role: 'admin',
    async run(visit, fields) {
      const other = await otherHolder(deps, visit);
      if (other !== undefined) return heldPage(visit, other);
      const next = await run(visit, await readDraft(deps.store.db), fields);
      return typeof next === 'string' ? next : framed(visit, await readDraft(deps.store.db), step, next);
    },
  });
}

/** Adds the action that puts somebody in the place of whoever is in the set-up. */
export function addTakeOver(app: Server, deps: SetUpDeps): void {
  addAction(app, deps, {
    path: '/setup/take-over',
    role: 'admin',
    async run(visit) {
      await deps.store.write(async (tx) => {
        await takeOver(tx, meOf(visit), visit.now);
        const entry = { actor: visit.visitor.actor, via: 'page', action: 'setup.take-over' } as const;
        await recordAudit(tx, { ...entry, result: 'took over' }, visit.now);
      });
      return addressOf(nextStep(await readDraft(deps.store.db)));
    },
  });
}

/** Keeps answers, with their entry in the audit. */
export const saveDraft = (
  { store }: SetUpDeps,
  { visitor: { actor }, now }: Visit,
  subject: string,
  change: (before: Draft) => Draft,
): Promise<Draft> =>
  store.write(async (tx) => {
    await recordAudit(tx, { actor, via: 'page', action: 'setup.answer', subject, result: 'kept' }, now);
    return changeDraft(tx, change, now);
  });

/** Where a step is. */
export const addressOf = (step: Step): string => `/setup/${step}`;

/** The page of a step for one connection, such as `/setup/number/hubspot`. */
export const connectionStep = (step: Step, name: string): string => `${addressOf(step)}/${encodeURIComponent(name)}`;

/** Reads the connection that an address names; undefined if the draft has none of that name. */
async function connectionOf(
  { place, env }: SetUpDeps,
  { connections }: Draft,
  name: string,
): Promise<ReadConnection | undefined> {
  const connection = Object.hasOwn(connections, name) ? connections[name] : undefined;
  return connection && readConnection(name, connection, { place, env });
}

/** The connection that an address names, where it can be used; else the page of the CRM, which says what is wrong with it. */
export async function usableConnection(
  deps: SetUpDeps,
  draft: Draft,
  name: string,
): Promise<ConfiguredProvider | string | undefined> {
  const read = await connectionOf(deps, draft, name);
  if (read === undefined) return undefined;
  return read.ok ? read.provider : connectionStep('crm', name);
}

/** The first connection whose step is not done yet; the page of the CRMs if there is none. */
export function firstOpen(step: 'number' | 'mapping', { connections }: Draft): string {
  const names = Object.keys(connections);
  const done = step === 'number' ? 'isNumberChosen' : 'isMapped';
  const name = names.find((each) => connections[each]?.[done] !== true) ?? names[0];
  return name === undefined ? addressOf('crm') : connectionStep(step, name);
}

function heldPage({ reader, now, formToken }: Visit, { name, agent, since, seenAt }: SetUpHolder): PageBody {
  return {
    status: 409,
    title: reader.text('setup.held'),
    body: html`<p>${reader.text('setup.heldBy', { name, browser: browserName(agent) })}</p>
      <dl class="facts">
        <dt>${reader.text('setup.heldSince')}</dt>
        <dd>${timeOf(reader, since, now)}</dd>
        <dt>${reader.text('setup.heldSeen')}</dt>
        <dd>${timeOf(reader, seenAt, now)}</dd>
      </dl>
      <p>${reader.text('setup.heldHelp')}</p>
      <form method="post" action="/setup/take-over">
        ${hidden({ [FORM_TOKEN]: formToken })}
        <button>${reader.text('setup.takeOver')}</button>
      </form>`,
  };
}

const framed = (visit: Visit, draft: Draft, step: Step, page: PageBody): PageBody => ({
  ...page,
  body: html`${stepList(visit, draft, step)} ${page.body}`,
});

function stepList({ reader }: Visit, draft: Draft, current: Step): VNode {
  return html`<nav class="steps" aria-label=${reader.text('setup.steps')}>
    <ol>
      ${STEPS.map(
        (step) =>
          html`<li class=${isAnswered(draft, step) ? 'done' : undefined}>
            <a class="step" href=${addressOf(step)} aria-current=${step === current ? 'step' : undefined}>${reader.text(`step.${step}`)}</a>
            ${isAnswered(draft, step) && html`<span class="unseen"> (${reader.text('setup.done')})</span>`}
          </li>`,
      )}
    </ol>
  </nav>`;
}

/** Problems that somebody must see before anything else. */
export const problemList = (lines: readonly Markup[]): Markup =>
  lines.length > 0 &&
  html`<div class="notice bad" role="alert">
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>
  </div>`;
