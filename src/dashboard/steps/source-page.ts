/** The step of the source: where changes of companies come from. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { folderOf, WEBHOOK_KEY } from '../../setup/config-of.ts';
import { type Draft, SOURCE } from '../../setup/draft.ts';
import { questionsOf, readAnswers, valueAt } from '../../setup/questions.ts';
import { keepSecrets, makeWebhookSecret } from '../../setup/secret-files.ts';
import { readSource, type SourceReading, trySource } from '../../setup/trials/try-source.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';

import { findingLine } from './crm-page.ts';
import { answerIn, otherProblems, questionFields } from './question-fields.ts';
import {
  addressOf,
  addStep,
  addStepAction,
  problemList,
  type StepDeps,
  type StepVisit,
  saveDraft,
} from './step-route.ts';

const QUESTIONS = questionsOf(SOURCE);

export function addSource(app: Server, deps: StepDeps): void {
  addStep(app, deps, { path: '/source', step: 'source', show: (visit, draft) => sourcePage(deps, visit, draft) });
  addStepAction(app, deps, {
    path: '/source',
    step: 'source',
    async run(visit, { source }, fields) {
      const answers = readAnswers(QUESTIONS, answerIn(fields), source);
      const section = visit.way.section(visit, 'source');
      const settings = { ...(await keepSecrets(folderOf(deps.place), section, answers)) };
      const isRight = readSource(settings, deps).problems.length === 0;
      const draft = await saveDraft(deps, visit, 'source', (before) => ({ ...before, source: settings }));
      if (!isRight || settings['changes'] === undefined) return sourcePage(deps, visit, draft);
      // Shows the source's answer before the next step.
      return Object(settings['changes'])['source'] === 'sample'
        ? visit.way.next(visit, draft, { step: 'source' })
        : addressOf(visit.way, 'source');
    },
  });
}

async function sourcePage(deps: StepDeps, visit: StepVisit, draft: Draft): Promise<PageBody> {
  const { reader, carried } = visit;
  const { source } = draft;
  const read = source === undefined ? undefined : readSource(source, deps);
  const problems = read?.problems ?? [];
  const settings = source ?? { changes: { source: 'sample' } };
  const form = { reader, settings, problems, isAnswered: source !== undefined };
  return {
    ...(problems.length > 0 && { status: 422 }),
    title: reader.text('step.source'),
    body: html`<p>${reader.text('setup.sourceHelp')}</p>
      ${problemList(otherProblems(form, QUESTIONS).map(({ message }) => said(reader, message)))}
      ${read !== undefined && problems.length === 0 && (await answers(deps, visit, draft, read))}
      <form method="post" action=${addressOf(visit.way, 'source')} class="stacked">
        ${hidden(carried)} ${questionFields(form, QUESTIONS)}
        <p class="actions"><button class=${read === undefined ? 'primary' : undefined}>${reader.text('setup.try')}</button></p>
      </form>`,
  };
}

/** The source's answer now, and what to enter at another monitoring service. */
async function answers(deps: StepDeps, visit: StepVisit, draft: Draft, read: SourceReading): Promise<VNode> {
  const { reader } = visit;
  const findings = await trySource(deps.crm, read, Object.keys(draft.connections), deps.place);
  const publicUrl = valueAt(draft.source ?? {}, ['changes', 'publicUrl']);
  return html`${
    findings === undefined
      ? html`<p class="notice warn" role="status">${reader.text('setup.slow', { name: reader.text('step.source') })}</p>`
      : html`<div role="status">${findings.map((each) => findingLine(reader, each))}</div>`
  }
  ${typeof publicUrl === 'string' && (await webhook(deps, reader, publicUrl))}
  ${visit.way.onward(visit, draft, { step: 'source', isRight: true })}`;
}

/** What the other service must know to post here. */
async function webhook({ place }: StepDeps, reader: Reader, publicUrl: string): Promise<Markup> {
  const folder = folderOf(place);
  const file = await makeWebhookSecret(folder);
  const value = (await readFile(join(folder, file), 'utf8')).trim();
  return html`<h2>${reader.text('setup.webhook')}</h2>
    <p>${reader.text('setup.webhookHelp')}</p>
    <dl class="facts">
      <dt>${reader.text('setup.webhookAddress')}</dt>
      <dd><code class="secret">${publicUrl}/webhook</code></dd>
      <dt>${reader.text('setup.webhookHeader')}</dt>
      <dd><code>${WEBHOOK_KEY}</code></dd>
      <dt>${reader.text('setup.webhookValue')}</dt>
      <dd><code class="secret">${value}</code></dd>
    </dl>`;
}
