/** Adds the steps: questions that both the set-up and Settings ask. */
import type { ConfiguredProvider } from '../../config/load.ts';
import type { CrmDeps } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { type ReadConnection, readConnection, type SetUpGround } from '../../setup/connections.ts';
import type { Draft, Step } from '../../setup/draft.ts';
import type { Trials } from '../../setup/trials/trials.ts';
import type { Tx } from '../../store/store.ts';
import { type Fields, FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { isText } from '../texts/texts.ts';

/** Where answers are stored and where they lead, at a first start or under Settings. */
export interface Way {
  /** The path above its pages. */
  readonly base: '/setup' | '/settings';
  /** The answers, or a page that says why nobody can answer. `seen`: the digest of the file that a form began with. */
  open(visit: Visit, seen: string): Promise<Opened>;
  keep(tx: Tx, visit: StepVisit, change: (before: Draft) => Draft): Promise<Draft>;
  /** The prefix of the secrets of a connection. */
  section(visit: Visit, name: string): string;
  /** Continues after a step: a path, or a page that says what is in the way. */
  next(visit: StepVisit, draft: Draft, at: AnsweredStep): Promise<string | PageBody>;
  /** The links of a page that tested the answers; `isRight`: they had no errors. */
  onward(visit: StepVisit, draft: Draft, at: AnsweredStep & { readonly isRight: boolean }): Markup;
  /** A page of a step, with links to the others. */
  framed(visit: StepVisit, draft: Draft, step: Step, page: PageBody): PageBody;
}

type Opened = { readonly draft: Draft } | { readonly page: PageBody };

export interface AnsweredStep {
  readonly step: Step;
  /** The connection, if the step is about one. */
  readonly name?: string;
}

export interface StepVisit extends Visit {
  readonly way: Way;
  /** The fields in every form of a step. */
  readonly carried: Readonly<Record<string, string>>;
}

export interface StepDeps extends RouteDeps, SetUpGround {
  readonly crm: CrmDeps;
  readonly trials: Trials;
  readonly way: Way;
}

interface StepPage {
  /** Below the base of the way. */
  readonly path: string;
  readonly step: Step;
  /** A path redirects. */
  show(visit: StepVisit, draft: Draft): Promise<PageBody | string | undefined>;
}

interface StepAction {
  readonly path: string;
  readonly step: Step;
  /** Returns the path to show next, or a page that says why not. */
  run(visit: StepVisit, draft: Draft, fields: Fields): Promise<string | PageBody>;
}

/** The digest of the file at the begin of the form. */
const FILE_FIELD = 'file';

const visitOf = (way: Way, visit: Visit, { read }: Draft): StepVisit => ({
  ...visit,
  way,
  carried: { [FORM_TOKEN]: visit.formToken, ...(read !== undefined && { [FILE_FIELD]: read }) },
});

export function addStep(app: Server, deps: StepDeps, { path, step, show }: StepPage): void {
  const { way } = deps;
  addPage(app, deps, {
    path: `${way.base}${path}`,
    role: 'admin',
    async show(given) {
      const opened = await way.open(given, '');
      if ('page' in opened) return opened.page;
      const visit = visitOf(way, given, opened.draft);
      const page = await show(visit, opened.draft);
      return page === undefined || typeof page === 'string' ? page : way.framed(visit, opened.draft, step, page);
    },
  });
}

export function addStepAction(app: Server, deps: StepDeps, { path, step, run }: StepAction): void {
  const { way } = deps;
  addAction(app, deps, {
    path: `${way.base}${path}`,
    role: 'admin',
    async run(given, fields) {
      const opened = await way.open(given, fieldValue(fields, FILE_FIELD));
      if ('page' in opened) return opened.page;
      const visit = visitOf(way, given, opened.draft);
      const next = await run(visit, opened.draft, fields);
      if (typeof next === 'string') return next;
      const after = await way.open(visit, '');
      return 'page' in after ? next : way.framed(visit, after.draft, step, next);
    },
  });
}

/** Stores answers, with an entry in the audit. */
export const saveDraft = (
  { store, way }: StepDeps,
  visit: StepVisit,
  subject: string,
  change: (before: Draft) => Draft,
): Promise<Draft> =>
  store.write(async (tx) => {
    const entry = { actor: visit.visitor.actor, via: 'page', action: 'setup.answer', subject } as const;
    await recordAudit(tx, { ...entry, result: 'kept' }, visit.now);
    return way.keep(tx, visit, change);
  });

/** The CRM's name for a connection named after it. */
export function connectionLabel(reader: Reader, name: string): string {
  const key = `crm.${name}`;
  return isText(key) ? reader.text(key) : name;
}

export const addressOf = ({ base }: Pick<Way, 'base'>, step: Step): string => `${base}/${step}`;

/** The page of a step for one connection, such as `/setup/number/hubspot`. */
export const connectionStep = (way: Pick<Way, 'base'>, step: Step, name: string): string =>
  `${addressOf(way, step)}/${encodeURIComponent(name)}`;

/** Undefined if the draft has no connection of the name in the address. */
async function connectionOf(
  { place, env }: StepDeps,
  { connections }: Draft,
  name: string,
): Promise<ReadConnection | undefined> {
  const connection = Object.hasOwn(connections, name) ? connections[name] : undefined;
  return connection && readConnection(name, connection, { place, env });
}

/** The connection in the address, if it is usable; else the page of the CRM, which says what is wrong. */
export async function usableConnection(
  deps: StepDeps,
  draft: Draft,
  name: string,
): Promise<ConfiguredProvider | string | undefined> {
  const read = await connectionOf(deps, draft, name);
  if (read === undefined) return undefined;
  return read.ok ? read.provider : connectionStep(deps.way, 'crm', name);
}

/** The first connection whose step is not done, else the first one; the page of the CRMs without a connection. */
export function firstOpen(way: Way, step: 'number' | 'mapping', { connections }: Draft): string {
  const names = Object.keys(connections);
  const done = step === 'number' ? 'isNumberChosen' : 'isMapped';
  const name = names.find((each) => connections[each]?.[done] !== true) ?? names[0];
  return name === undefined ? addressOf(way, 'crm') : connectionStep(way, step, name);
}

/** Problems that somebody must see first. */
export const problemList = (lines: readonly Markup[]): Markup =>
  lines.length > 0 &&
  html`<div class="notice bad" role="alert">
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>
  </div>`;
