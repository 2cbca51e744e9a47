/** The step of the number: the property of the CVR number, tested on a sample, and the missing properties. */
import type { VNode } from 'preact';
import type { Property, PropertyDefinition } from '../../../providers/provider.ts';
import type { ConfiguredProvider } from '../../config/load.ts';
import { missingProperties } from '../../connector/crm/make-properties.ts';
import type { Server } from '../../http/server/server.ts';
import type { Findings } from '../../runtime/finding.ts';
import { isOfFile, lackedProperties, usualConnection, withMatch, withNumber } from '../../setup/connections.ts';
import { type Draft, type DraftConnection, withConnection } from '../../setup/draft.ts';
import type { Candidate } from '../../setup/trials/sample-numbers.ts';
import type { PropertySurvey } from '../../setup/trials/trials.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { livePart } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { findingLine } from './crm-page.ts';
import { propertyList, propertySearch } from './property-list.ts';
import {
  addressOf,
  addStep,
  addStepAction,
  connectionLabel,
  connectionStep,
  firstOpen,
  problemList,
  type StepDeps,
  type StepVisit,
  saveDraft,
  usableConnection,
} from './step-route.ts';

export function addNumber(app: Server, deps: StepDeps): void {
  addStep(app, deps, {
    path: '/number',
    step: 'number',
    show: async ({ way }, draft) => firstOpen(way, 'number', draft),
  });
  addStep(app, deps, {
    path: '/number/:name',
    step: 'number',
    async show(visit, draft) {
      const provider = await usableConnection(deps, draft, visit.param('name'));
      if (provider === undefined || typeof provider === 'string') return provider;
      const made = deps.trials.created(provider);
      return numberPage(visit, draft, provider, { survey: await deps.trials.survey(provider), made });
    },
  });
  addStepAction(app, deps, {
    path: '/number/:name',
    step: 'number',
    async run(visit, draft, fields) {
      const name = visit.param('name');
      const provider = await usableConnection(deps, draft, name);
      if (provider === undefined || typeof provider === 'string') return provider ?? addressOf(visit.way, 'crm');
      const survey = await deps.trials.survey(provider);
      const chosen = fieldValue(fields, 'match');
      const match = chosen === 'other' ? fieldValue(fields, 'other').trim() : chosen;
      const names = survey?.ok === true ? survey.properties.map((each) => each.name) : undefined;
      if (names !== undefined && match !== '' && !names.includes(match)) {
        const problem = visit.reader.text('setup.noSuchProperty', { property: match });
        return numberPage(visit, draft, provider, { survey, problem });
      }
      const chosenSo = (known: DraftConnection) =>
        isOfFile(draft, name) ? withMatch(known, match) : withNumber(known, provider.provider, match, names);
      const saved = await saveDraft(deps, visit, name, (before) => withConnection(before, name, chosenSo));
      return visit.way.next(visit, saved, { step: 'number', name });
    },
  });
  addStepAction(app, deps, {
    path: '/number/:name/create',
    step: 'number',
    async run(visit, draft) {
      const provider = await usableConnection(deps, draft, visit.param('name'));
      if (provider === undefined || typeof provider === 'string') return provider ?? addressOf(visit.way, 'crm');
      const survey = await deps.trials.survey(provider);
      if (survey?.ok !== true) return connectionStep(visit.way, 'number', provider.name);
      const by = { actor: visit.visitor.actor, via: 'page' } as const;
      const made = await deps.trials.create(provider, lacked(draft, provider, survey.properties), by);
      // The page of the step shows the progress.
      if (made === undefined) return connectionStep(visit.way, 'number', provider.name);
      return numberPage(visit, draft, provider, { survey: await deps.trials.survey(provider), made });
    },
  });
}

const lacked = (draft: Draft, provider: ConfiguredProvider, properties: readonly Property[]) =>
  isOfFile(draft, provider.name) ? missingProperties(provider, properties) : lackedProperties(provider, properties);

/** The CRM's answers, and the result of a form. */
interface Outcome {
  readonly survey: PropertySurvey | undefined;
  readonly problem?: string;
  readonly made?: 'goes-on' | Findings | undefined;
}

function numberPage(
  visit: StepVisit,
  draft: Draft,
  provider: ConfiguredProvider,
  { survey, problem, made }: Outcome,
): PageBody {
  const { reader } = visit;
  const { name } = provider;
  const label = connectionLabel(reader, name);
  const title = reader.text('setup.numberTitle', { name: label });
  if (survey === undefined)
    return {
      title,
      body: html`<p class="notice warn" role="status">${reader.text('setup.slow', { name: label })}</p>
        <p><a href=${connectionStep(visit.way, 'number', name)}>${reader.text('setup.lookAgain')}</a></p>
        <p><a class="button" href=${addressOf(visit.way, 'source')}>${reader.text('setup.leave')}</a></p>`,
    };
  if (!survey.ok)
    return {
      title,
      body: html`<div class="notice bad" role="alert">${findingLine(reader, survey.failure)}</div>
        <p><a class="button" href=${connectionStep(visit.way, 'crm', name)}>${reader.text('setup.backToCrm', { name: label })}</a></p>
        <p><a href=${addressOf(visit.way, 'source')}>${reader.text('setup.leave')}</a></p>`,
    };
  const missing = lacked(draft, provider, survey.properties);
  return {
    ...(problem !== undefined && { status: 422 }),
    title,
    body: html`${problemList(problem === undefined ? [] : [problem])}
      ${made !== undefined && creationPart(visit, name, made)}
      ${missing.length > 0 && made !== 'goes-on' && creation(visit, name, missing)} ${choiceForm(visit, draft, provider, survey)}`,
  };
}

function choiceForm(
  visit: StepVisit,
  draft: Draft,
  provider: ConfiguredProvider,
  survey: PropertySurvey & { readonly ok: true },
): VNode {
  const { reader, carried } = visit;
  const { name } = provider;
  const { candidates, records } = survey.sampled;
  const own = usualConnection(provider.provider).match;
  const isThere = own !== undefined && survey.properties.some((each) => each.name === own);
  const kept = draft.connections[name];
  const best = candidates[0]?.property ?? own ?? '';
  const chosen = kept?.isNumberChosen === true ? (kept.match ?? '') : best;
  const listed = [...candidates.map(({ property }) => property), own ?? ''];
  const isOther = !listed.includes(chosen) && chosen !== '';
  const numbered = survey.properties.filter(({ type }) => NUMBER_TYPES.includes(type));
  return html`<p>${reader.text('setup.sampled', { count: records })}</p>
    ${candidates.length === 0 && html`<p class="notice">${reader.text('setup.noNumber')}</p>`}
    ${propertySearch(reader, numbered, visit.query('find'))}
    <form method="post" action=${connectionStep(visit.way, 'number', name)} class="stacked">
      ${hidden(carried)}
      <fieldset>
        <legend>${reader.text('setup.numberIn')}</legend>
        ${candidates.map((each) => radio(each.property, chosen === each.property, candidateText(reader, each)))}
        ${
          own !== undefined &&
          !candidates.some(({ property }) => property === own) &&
          radio(
            own,
            chosen === own,
            html`<code>${own}</code> ${reader.text(isThere ? 'setup.ownProperty' : 'setup.ownMissing')}`,
          )
        }
        <div class="variant">
          ${radio('other', isOther, reader.text('setup.otherProperty'))}
          <div class="group">
            <label for="other">${reader.text('setup.propertyName')}</label>
            <input
              id="other"
              name="other"
              list="properties"
              spellcheck="false"
              autocomplete="off"
              value=${isOther ? chosen : undefined}
            />
          </div>
        </div>
        ${radio('', chosen === '', reader.text('setup.noProperty'))}
      </fieldset>
      ${propertyList('properties', numbered)}
      <p class="actions"><button class="primary">${reader.text('setup.next')}</button></p>
    </form>`;
}

const NUMBER_TYPES: readonly string[] = ['string', 'multiline', 'number', 'phone'];

const radio = (value: string, isChosen: boolean, label: Markup): VNode => html`<div class="choice">
  <input type="radio" id=${`match-${value}`} name="match" value=${value} checked=${isChosen} />
  <label for=${`match-${value}`}>${label}</label>
</div>`;

const candidateText = (reader: Reader, { property, label, filled, valid, hasPrefix }: Candidate): VNode =>
  html`<code>${property}</code>${label !== property && ` ${label}`}: ${reader.text('setup.validShare', { share: reader.share(valid / Math.max(1, filled)), count: filled })}${hasPrefix && ` ${reader.text('setup.withPrefix')}`}`;

/** What was created, or is being created: the page's script asks again. */
function creationPart(visit: StepVisit, name: string, made: 'goes-on' | Findings): VNode {
  const { reader } = visit;
  const again = html`<a href=${connectionStep(visit.way, 'number', name)}>${reader.text('setup.lookAgain')}</a>`;
  if (made === 'goes-on')
    return livePart(
      visit,
      { id: 'creation', refreshes: 'soon' },
      html`<p class="notice" role="status">${reader.text('setup.creating')} ${again}</p>`,
    );
  const lacks = made.filter(({ level }) => level !== 'ok');
  const body = html`<div role="status">
    <p>${reader.text('setup.created', { count: made.length - lacks.length })}</p>
    ${lacks.map((each) => findingLine(reader, each))}
  </div>`;
  return livePart(visit, { id: 'creation', refreshes: 'never' }, body);
}

/** Lists what the button would create. */
function creation(visit: StepVisit, name: string, missing: readonly PropertyDefinition[]): VNode {
  const { reader, carried } = visit;
  return html`<section>
    <h2>${reader.text('setup.missing')}</h2>
    <p>${reader.text('setup.missingHelp', { count: missing.length })} ${reader.text('setup.fillMissing')}</p>
    <details>
      <summary>${reader.text('setup.missingList')}</summary>
      <ul>
        ${missing.map((each) => html`<li><code>${each.name}</code> ${each.label}</li>`)}
      </ul>
    </details>
    <form method="post" action=${`${connectionStep(visit.way, 'number', name)}/create`}>
      ${hidden(carried)}
      <button>${reader.text('setup.create', { count: missing.length })}</button>
    </form>
  </section>`;
}
