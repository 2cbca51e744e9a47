/** The step of the CRM: a card for each provider, a form made from its settings, and the rights of the credentials. */
import type { VNode } from 'preact';
import { BUILT_IN } from '../../../providers/index.ts';
import { loadProvider } from '../../config/plugins/plugin.ts';
import { CONNECTION_NAME } from '../../config/schema/schema.ts';
import { forgetTrial } from '../../connector/crm/crm.ts';
import { twinFindings } from '../../connector/crm/guard.ts';
import type { TriedRight } from '../../connector/try-access.ts';
import type { Server } from '../../http/server/server.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { folderOf } from '../../setup/config-of.ts';
import {
  type AskedConnection,
  answeredConnection,
  type ReadConnection,
  readConnection,
} from '../../setup/connections.ts';
import type { Draft, DraftConnection } from '../../setup/draft.ts';
import { questionsOf } from '../../setup/questions.ts';
import type { ShownTrial } from '../../setup/trials/trials.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { livePart, state } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import { answerIn, type FormState, otherProblems, questionFields } from './question-fields.ts';
import {
  addressOf,
  addStep,
  addStepAction,
  connectionLabel,
  connectionStep,
  problemList,
  type StepDeps,
  type StepVisit,
  saveDraft,
} from './step-route.ts';

export function addCrm(app: Server, deps: StepDeps): void {
  addStep(app, deps, { path: '/crm', step: 'crm', show: (visit, draft) => cards(visit, draft) });
  addStepAction(app, deps, {
    path: '/crm',
    step: 'crm',
    async run(visit, draft, fields) {
      const use = fieldValue(fields, 'use').trim();
      const load = await loadProvider(use, folderOf(deps.place));
      const name = fieldValue(fields, 'name').trim();
      if (load.ok && name !== '') return isFree(draft, name) ? formAddress(visit, name, use) : nameRefused(visit, name);
      if (load.ok) return formAddress(visit, load.provider.name, use);
      const help = html`<a href=${addressOf(visit.way, 'crm')}>${said(visit.reader, load.message)}</a>`;
      return messagePage(visit.reader, { status: 422, title: visit.reader.text('setup.noProvider'), help });
    },
  });
  addStep(app, deps, {
    path: '/crm/:name',
    step: 'crm',
    async show(visit, draft) {
      const named = await providerAt(deps, visit, draft, visit.query('use'));
      if (named === undefined) return undefined;
      const read = named.connection && (await readConnection(named.name, named.connection, deps));
      if (read?.ok !== true) return connectionPage(visit, draft, named, { read, tried: undefined, twins: [] });
      const [tried, others] = await Promise.all([deps.trials.look(read.provider), accountsOf(deps, draft, named)]);
      const { accountId } = tried.access;
      const twins = accountId === undefined ? [] : twinFindings(read.provider, accountId, others);
      return connectionPage(visit, draft, named, { read, tried, twins });
    },
  });
  addStepAction(app, deps, {
    path: '/crm/:name',
    step: 'crm',
    async run(visit, draft, fields) {
      const named = await providerAt(deps, visit, draft, fieldValue(fields, 'use'));
      if (named === undefined) return addressOf(visit.way, 'crm');
      return keepConnection(deps, visit, named, fields);
    },
  });
  addStepAction(app, deps, {
    path: '/crm/:name/remove',
    step: 'crm',
    async run(visit) {
      const name = visit.param('name');
      await saveDraft(deps, visit, name, (before) => {
        const { [name]: _, ...connections } = before.connections;
        return { ...before, connections };
      });
      if (visit.way.base === '/setup') await deps.store.write((tx) => forgetTrial(tx, name));
      return addressOf(visit.way, 'crm');
    },
  });
}

/** Whether another connection may have the name. The names of known CRMs are reserved for them. */
const isFree = ({ connections }: Draft, name: string): boolean =>
  new RegExp(CONNECTION_NAME, 'u').test(name) && !Object.hasOwn(connections, name) && !Object.hasOwn(BUILT_IN, name);

function nameRefused({ reader, way }: StepVisit, name: string): PageBody {
  const help = html`<a href=${addressOf(way, 'crm')}>${reader.text('setup.nameHelp')}</a>`;
  return messagePage(reader, { status: 422, title: reader.text('setup.nameRefused', { name }), help });
}

const formAddress = (visit: StepVisit, name: string, use: string): string =>
  `${connectionStep(visit.way, 'crm', name)}${use === name ? '' : `?use=${encodeURIComponent(use)}`}`;

/** The provider that an address names, with the answers for it so far. */
async function providerAt(
  { place }: StepDeps,
  visit: StepVisit,
  draft: Draft,
  given: string,
): Promise<AskedConnection | undefined> {
  const name = visit.param('name');
  const connection = Object.hasOwn(draft.connections, name) ? draft.connections[name] : undefined;
  const use = connection?.use ?? (given === '' ? name : given);
  const isNamed = connection !== undefined || given !== '' || Object.hasOwn(BUILT_IN, name);
  const load = isNamed ? await loadProvider(use, folderOf(place)) : undefined;
  if (load?.ok !== true) return undefined;
  const { provider } = load;
  return { name, use, provider, parts: questionsOf(provider.settings), connection };
}

/** The other connections of the same provider, with their accounts if they answer in time. */
async function accountsOf(deps: StepDeps, { connections }: Draft, { name, use }: AskedConnection) {
  const others = Object.entries(connections).filter(([other, connection]) => other !== name && connection.use === use);
  const found = others.map(async ([other, connection]) => {
    const read = await readConnection(other, connection, deps);
    if (!read.ok) return [];
    const { access } = await deps.trials.look(read.provider);
    return [{ ...read.provider, account: access.accountId }];
  });
  return (await Promise.all(found)).flat();
}

/** Stores the answers, even invalid ones, and tests valid ones. */
async function keepConnection(
  deps: StepDeps,
  visit: StepVisit,
  asked: AskedConnection,
  fields: Fields,
): Promise<string | PageBody> {
  const { name } = asked;
  let answered: Awaited<ReturnType<typeof answeredConnection>>;
  try {
    answered = await answeredConnection(asked, answerIn(fields), deps, visit.way.section(visit, name));
  } catch (error) {
    const help = visit.reader.text('setup.noSecrets', { folder: folderOf(deps.place), reason: String(error) });
    return messagePage(visit.reader, { status: 500, title: visit.reader.text('error.failed'), help });
  }
  const { kept, read } = answered;
  await saveDraft(deps, visit, name, (before) => ({
    ...before,
    connections: { ...before.connections, [name]: kept },
  }));
  if (read.ok) deps.trials.begin(read.provider);
  return connectionStep(visit.way, 'crm', name);
}

async function cards(visit: StepVisit, draft: Draft): Promise<PageBody> {
  const { reader, carried, way } = visit;
  const builtIn = await Promise.all(
    Object.keys(BUILT_IN).map(async (name) => ({ name, load: await loadProvider(name, '.') })),
  );
  const known = builtIn.flatMap(({ name, load }) => (load.ok ? [{ name, about: load.provider.about }] : []));
  const others = Object.keys(draft.connections)
    .filter((name) => !Object.hasOwn(BUILT_IN, name))
    .map((name) => ({ name, about: connectionLabel(reader, draft.connections[name]?.use ?? '') }));
  return {
    title: reader.text('step.crm'),
    body: html`<p>${reader.text('setup.crmHelp')}</p>
      <ul class="cards">
        ${[...known, ...others].map(
          ({ name, about }) =>
            html`<li>
              <h2><a href=${connectionStep(visit.way, 'crm', name)}>${connectionLabel(reader, name)}</a></h2>
              <p>${said(reader, about)}</p>
              ${cardState(reader, draft.connections[name])}
            </li>`,
        )}
      </ul>
      ${Object.keys(draft.connections).length > 0 && secondAccount(visit, draft)}
      <details>
        <summary>${reader.text('setup.plugin')}</summary>
        <form method="post" action=${addressOf(way, 'crm')} class="narrow">
          ${hidden(carried)}
          <label for="use">${reader.text('setup.pluginUse')}</label>
          <input id="use" name="use" required spellcheck="false" aria-describedby="use-help" />
          <p class="quiet" id="use-help">${reader.text('setup.pluginHelp')}</p>
          <button>${reader.text('setup.pluginOpen')}</button>
        </form>
      </details>
      ${way.base === '/setup' && Object.keys(draft.connections).length > 0 && html`<p><a class="button" href=${addressOf(way, 'number')}>${reader.text('setup.next')}</a></p>`}`,
  };
}

/** A link that connects another account of a CRM, under a name of its own. */
function secondAccount({ reader, carried, way }: StepVisit, { connections }: Draft): VNode {
  const uses = [...new Set(Object.values(connections).map(({ use }) => use))];
  return html`<details>
    <summary>${reader.text('setup.second')}</summary>
    <form method="post" action=${addressOf(way, 'crm')} class="narrow">
      ${hidden(carried)}
      <label for="second-use">${reader.text('step.crm')}</label>
      <select id="second-use" name="use">
        ${uses.map((use) => html`<option value=${use}>${connectionLabel(reader, use)}</option>`)}
      </select>
      <label for="second-name">${reader.text('setup.secondName')}</label>
      <input id="second-name" name="name" required maxlength="64" spellcheck="false" autocomplete="off" aria-describedby="second-help" />
      <p class="quiet" id="second-help">${reader.text('setup.nameHelp')}</p>
      <button>${reader.text('setup.pluginOpen')}</button>
    </form>
  </details>`;
}

const cardState = (reader: Reader, connection: DraftConnection | undefined): Markup =>
  connection !== undefined &&
  html`<p>
    ${connection.isComplete === true ? state('ok', reader.text('setup.answered')) : state('warn', reader.text('setup.incomplete'))}
  </p>`;

/** The result of the answers to a connection's form. */
interface Tried {
  readonly read: ReadConnection | undefined;
  readonly tried: ShownTrial | undefined;
  readonly twins: Findings;
}

function connectionPage(
  visit: StepVisit,
  draft: Draft,
  { name, use, provider, parts, connection }: AskedConnection,
  { read, tried, twins }: Tried,
): PageBody {
  const { reader, carried, way } = visit;
  const problems = read?.ok === false ? read.problems : [];
  const form: FormState = {
    reader,
    settings: connection?.settings ?? {},
    problems,
    isAnswered: connection !== undefined,
  };
  const others = form.isAnswered ? otherProblems(form, parts) : [];
  return {
    ...(problems.length > 0 && { status: 422 }),
    title: reader.text('setup.crmTitle', { name: connectionLabel(reader, name) }),
    body: html`<p>${said(reader, provider.about)}</p>
      ${problemList(others.map(({ path, message }) => html`<code>${path}</code> ${said(reader, message)}`))}
      ${tried && accessPart(visit, draft, { name, tried, twins })}
      <form method="post" action=${connectionStep(visit.way, 'crm', name)} class="stacked">
        ${hidden({ ...carried, use })} ${questionFields(form, parts)}
        <p class="actions"><button class=${tried === undefined ? 'primary' : undefined}>${reader.text('setup.try')}</button></p>
      </form>
      ${
        way.base === '/setup' &&
        connection !== undefined &&
        html`<form method="post" action=${`${connectionStep(visit.way, 'crm', name)}/remove`}>
          ${hidden(carried)}
          <button class="plain">${reader.text('setup.removeCrm')}</button>
        </form>`
      }`,
  };
}

const SECOND_MS = 1_000;

/** The CRM's answers so far. The page's script asks again while some are missing. */
function accessPart(
  visit: StepVisit,
  draft: Draft,
  {
    name,
    tried: { access, waitedMs },
    twins,
  }: { readonly name: string; readonly tried: ShownTrial; readonly twins: Findings },
): VNode {
  const { reader } = visit;
  const { account, rights, failure, isOver } = access;
  const isSilent = !isOver && account.length === 0;
  const body = html`<h2>${reader.text('setup.access')}</h2>
    ${account.map((each) => findingLine(reader, each))}
    ${twins.map((each) => html`<div class="notice warn" role="alert">${findingLine(reader, each)}</div>`)}
    ${
      rights.length > 0 &&
      html`<ul class="lines">
        ${rights.map((each) => html`<li>${rightLine(reader, each)}</li>`)}
      </ul>`
    }
    ${failure && html`<div class="notice bad" role="alert">${findingLine(reader, failure)}</div>`}
    ${isSilent && html`<p class="notice warn" role="status">${reader.text('setup.silent', { name: connectionLabel(reader, name), seconds: Math.round(waitedMs / SECOND_MS) })}</p>`}
    ${!isOver && html`<p><a href=${connectionStep(visit.way, 'crm', name)}>${reader.text('setup.lookAgain')}</a></p>`}
    ${visit.way.onward(visit, draft, { step: 'crm', name, isRight: isOver && failure === undefined && twins.length === 0 })}`;
  return livePart(visit, { id: 'access', refreshes: isOver ? 'never' : 'soon' }, body);
}

const SIGNS = { ok: 'ok', info: 'idle', warn: 'warn', fail: 'bad' } as const;

/** A finding of a live check. */
export const findingLine = (reader: Reader, { level, found, advice }: Finding): VNode =>
  html`<div>
    ${state(SIGNS[level], said(reader, found))}
    ${advice !== undefined && html`<div class="quiet">${withLinks(reader, advice)}</div>`}
  </div>`;

/** CRMs name the address where a right is granted. */
function withLinks(reader: Reader, text: string): Markup {
  const address = /https:\/\/[^\s,;)"']+[^\s,;)"'.]/u.exec(text)?.[0];
  return html`${said(reader, text)} ${address !== undefined && html`<a href=${address} rel="noreferrer">${reader.text('setup.grant')}</a>`}`;
}

function rightLine(reader: Reader, { right, state: answer, lack }: TriedRight): VNode {
  if (answer === 'missing' && lack !== undefined)
    return html`${state(lack.level === 'fail' ? 'bad' : 'warn', reader.text(`right.${right}`))}
      <div class="quiet">${said(reader, lack.found)}. ${lack.advice !== undefined && withLinks(reader, lack.advice)}</div>`;
  return state(
    answer === 'granted' ? 'ok' : 'idle',
    html`${reader.text(`right.${right}`)}${answer === 'waiting' && html` <span class="quiet">${reader.text('setup.waiting')}</span>`}`,
  );
}
