/** A first start: answers in the store, one person at a time, six steps to the backfill. */
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { changeDraft, type Draft, isAnswered, nextStep, readDraft, STEPS, type Step } from '../../setup/draft.ts';
import { enterSetUp, type SetUpHolder, takeOver } from '../../setup/holder.ts';
import type { Store } from '../../store/store.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addAction } from '../routes/routes.ts';
import { browserName } from '../sign-in/sessions.ts';
import { addressOf, connectionStep, type StepDeps, type Way } from '../steps/step-route.ts';

export type Finished =
  | { readonly kind: 'running' }
  | { readonly kind: 'unwritable'; readonly text: string; readonly code: string }
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

export interface SetUpDeps extends StepDeps {
  /** Writes the file and makes the daemon continue with it. */
  readonly finish: () => Promise<Finished>;
}

export const FIRST = { base: '/setup' } as const;

const meOf = ({ visitor: { actor, session } }: Visit): Omit<SetUpHolder, 'since' | 'seenAt'> => ({
  session: session.hash,
  name: actor.name,
  agent: session.agent,
});

/** Records that this visitor is in the set-up. Returns somebody else who is. */
export async function otherHolder(store: Store, visit: Visit): Promise<SetUpHolder | undefined> {
  const holder = await enterSetUp(store, meOf(visit), visit.now);
  return holder.session === visit.visitor.session.hash ? undefined : holder;
}

export const firstWay = (store: Store): Way => ({
  ...FIRST,
  async open(visit) {
    const other = await otherHolder(store, visit);
    return other === undefined ? { draft: await readDraft(store.db) } : { page: heldPage(visit, other) };
  },
  keep: (tx, { now }, change) => changeDraft(tx, change, now),
  section: (_visit, name) => name,
  next: async (_visit, draft) => addressOf(FIRST, nextStep(draft)),
  onward({ reader }, draft, { step, name, isRight }) {
    const open = nextStep(draft);
    const next =
      name === undefined ? addressOf(FIRST, open === step ? 'fill' : open) : connectionStep(FIRST, 'number', name);
    return html`<p>
      <a class=${isRight ? 'button primary' : 'button'} href=${next}>${reader.text(isRight ? 'setup.next' : 'setup.leave')}</a>
    </p>`;
  },
  framed: (visit, draft, step, page) => ({
    ...page,
    body: html`${stepList(visit, draft, step)} ${page.body}`,
  }),
});

/** Adds the action that takes over the set-up from another person. */
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
      return addressOf(FIRST, nextStep(await readDraft(deps.store.db)));
    },
  });
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

function stepList({ reader }: Visit, draft: Draft, current: Step): VNode {
  return html`<nav class="steps" aria-label=${reader.text('setup.steps')}>
    <ol>
      ${STEPS.map(
        (step) =>
          html`<li class=${isAnswered(draft, step) ? 'done' : undefined}>
            <a class="step" href=${addressOf(FIRST, step)} aria-current=${step === current ? 'step' : undefined}>${reader.text(`step.${step}`)}</a>
            ${isAnswered(draft, step) && html`<span class="unseen"> (${reader.text('setup.done')})</span>`}
          </li>`,
      )}
    </ol>
  </nav>`;
}
