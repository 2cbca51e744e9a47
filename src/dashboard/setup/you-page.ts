/** The first step: who sets cvrsync up and becomes its first operator. */
import type { Server } from '../../http/server/server.ts';
import { nameOperator } from '../../runtime/operators/operators.ts';
import { YOU } from '../../setup/draft.ts';
import { questionsOf, readAnswers } from '../../setup/questions.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { languageChoice } from '../sign-in/language.ts';
import { answerIn, questionFields } from '../steps/question-fields.ts';
import { addStep, addStepAction, type StepDeps, saveDraft } from '../steps/step-route.ts';
import { chosenZone, zoneChoice } from '../steps/zone-choice.ts';
import { otherHolder } from './first-way.ts';

const QUESTIONS = questionsOf(YOU);
const LONGEST = 60;

export function addYou(app: Server, deps: StepDeps): void {
  addStep(app, deps, {
    path: '/you',
    step: 'you',
    show: async (visit, { you, timeZone }) => youPage(visit, { name: you?.name ?? '', timeZone }),
  });
  addStepAction(app, deps, {
    path: '/you',
    step: 'you',
    async run(visit, { you, timeZone: former }, fields) {
      const answers = readAnswers(QUESTIONS, answerIn(fields));
      const name = String(answers.settings['name'] ?? '').slice(0, LONGEST);
      const timeZone = chosenZone(fields) ?? former;
      const answer = { name, timeZone };
      if (name === '') return youPage(visit, answer, visit.reader.text('setup.nameMissing'));
      const { actor } = visit.visitor;
      const isNamed = name === actor.name || (await deps.store.write((tx) => nameOperator(tx, actor.name, name)));
      if (!isNamed) return youPage(visit, answer, visit.reader.text('setup.nameTaken', { name }));
      const named = { ...visit, visitor: { ...visit.visitor, actor: { ...actor, name } } };
      await otherHolder(deps.store, named);
      const draft = await saveDraft(deps, named, 'you', (before) => ({
        ...before,
        you: { ...you, name },
        ...(timeZone !== undefined && { timeZone }),
      }));
      return visit.way.next(visit, draft, { step: 'you' });
    },
  });
}

function youPage(
  { reader, formToken }: Visit,
  { name, timeZone }: { readonly name: string; readonly timeZone: string | undefined },
  problem?: string,
): PageBody {
  const problems = problem === undefined ? [] : [{ path: 'name', message: problem }];
  return {
    ...(problem !== undefined && { status: 422 }),
    title: reader.text('step.you'),
    body: html`${languageChoice(reader, '/setup/you')}
      <p>${reader.text('setup.youHelp')}</p>
      <form method="post" action="/setup/you" class="narrow">
        ${hidden({ [FORM_TOKEN]: formToken })}
        ${questionFields({ reader, settings: { name }, problems, isAnswered: true }, QUESTIONS)}
        ${zoneChoice(reader, timeZone)}
        <button class="primary">${reader.text('setup.next')}</button>
      </form>`,
  };
}
