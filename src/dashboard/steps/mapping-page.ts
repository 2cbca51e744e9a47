/** The step of the mapping: fields to properties, who wins, and the effect on one record and a sample. */
import type { ConfiguredProvider } from '../../config/load.ts';
import { checkRows } from '../../connector/crm/check-mapping.ts';
import type { Server } from '../../http/server/server.ts';
import type { Finding } from '../../runtime/finding.ts';
import { type ReadConnection, readConnection } from '../../setup/connections.ts';
import { type Draft, type DraftConnection, withConnection } from '../../setup/draft.ts';
import { type DraftRow, fieldsOf, inventedCompany, rowsOf, valuesOf } from '../../setup/mapping-draft.ts';
import type { MappingEffects, RecordEffect } from '../../setup/trials/effects.ts';
import type { PropertyListing } from '../../setup/trials/trials.ts';
import { assetUrl } from '../page/assets.ts';
import type { Fields } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import { findingLine } from './crm-page.ts';
import { effectPart, sumPart } from './mapping-effect.ts';
import { answersIn, type MappingAnswers, type Press, pressedIn } from './mapping-form.ts';
import { type MappingFacts, mappingTable, onlyFields, remarkOf, rowDetails } from './mapping-rows.ts';
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

export interface MappingDeps extends StepDeps {
  readonly effects: MappingEffects;
}

export function addMapping(app: Server, deps: MappingDeps): void {
  addStep(app, deps, {
    path: '/mapping',
    step: 'mapping',
    show: async ({ way }, draft) => firstOpen(way, 'mapping', draft),
  });
  addStep(app, deps, {
    path: '/mapping/:name',
    step: 'mapping',
    async show(visit, draft) {
      const edited = await editedIn(deps, visit, draft);
      if (edited === undefined || typeof edited === 'string') return edited;
      const { provider, connection } = edited;
      const { values = {}, only = {} } = connection;
      const rows = rowsOf(provider.provider.preset, connection);
      const answers = { rows, values, only, open: undefined, record: '' };
      return editor(deps, visit, { ...edited, answers, read: { ok: true, provider }, press: 'show' });
    },
  });
  addStepAction(app, deps, {
    path: '/mapping/:name',
    step: 'mapping',
    async run(visit, draft, fields) {
      const edited = await editedIn(deps, visit, draft);
      if (edited === undefined || typeof edited === 'string') return edited ?? addressOf(visit.way, 'crm');
      return act(deps, visit, { ...edited, fields });
    },
  });
}

interface Edited {
  readonly provider: ConfiguredProvider;
  /** The connection before the form. */
  readonly connection: DraftConnection;
}

async function editedIn(deps: StepDeps, visit: StepVisit, draft: Draft): Promise<Edited | string | undefined> {
  const name = visit.param('name');
  const provider = await usableConnection(deps, draft, name);
  const connection = draft.connections[name];
  if (typeof provider === 'string' || provider === undefined || connection === undefined)
    return typeof provider === 'string' ? provider : undefined;
  return { provider, connection };
}

/** Handles a button: reads and tests the answers, and stores them if the button saves. */
async function act(
  deps: MappingDeps,
  visit: StepVisit,
  { provider, connection, fields }: Edited & { readonly fields: Fields },
): Promise<string | PageBody> {
  const { name } = provider;
  const answers = answersIn(fields);
  const { press } = pressedIn(fields);
  const changed = withAnswers(connection, provider, answers);
  const read = await readConnection(name, changed, deps);
  const key = keyOf(visit, name);
  if (press === 'cancel') deps.effects.cancel(key);
  if (press === 'count' && read.ok) deps.effects.begin(key, read.provider);
  if (press !== 'save' || !read.ok) return editor(deps, visit, { provider, connection, answers, read, press });
  const saved = await saveDraft(deps, visit, name, (before) =>
    withConnection(before, name, (known) => ({ ...withAnswers(known, provider, answers), isMapped: true })),
  );
  return visit.way.next(visit, saved, { step: 'mapping', name });
}

/** The key of a sum: whose it is, for which connection. */
const keyOf = ({ visitor }: StepVisit, name: string): string => `${visitor.session.hash} ${name}`;

function withAnswers(
  connection: DraftConnection,
  { provider: { preset } }: ConfiguredProvider,
  { rows, values, only }: MappingAnswers,
): DraftConnection {
  const { only: _, ...others } = connection;
  const fields = fieldsOf(preset, rows, connection);
  return { ...others, fields, values, ...(Object.keys(only).length > 0 && { only }) };
}

interface Editing extends Edited {
  readonly answers: MappingAnswers;
  /** The connection with these answers. */
  readonly read: ReadConnection;
  readonly press: Press;
}

async function editor(deps: MappingDeps, visit: StepVisit, editing: Editing): Promise<PageBody> {
  const { provider, read, press, answers } = editing;
  const [listing, effect] = await Promise.all([deps.trials.list(provider), effectOf(deps, editing)]);
  const properties = listing?.ok === true ? listing.properties : undefined;
  const facts: MappingFacts = {
    examples: typeof effect === 'object' ? effect.values : valuesOf(inventedCompany(visit.now).facts),
    remarks: properties && remarksOn({ ...(read.ok ? read.provider : provider), mapping: answers.rows }, properties),
    own: new Set(provider.provider.definitions?.map((each) => each.name)),
    properties,
  };
  const side = effectPart(visit, provider.name, effect);
  if (press === 'draw')
    return {
      title: provider.name,
      body: html`${side} ${answers.rows.map((row, at) => remarkOf(visit.reader, at, facts.remarks?.get(row)))}`,
    };
  const sum = deps.effects.look(keyOf(visit, provider.name));
  const isMaking = deps.trials.created(provider) === 'goes-on';
  return mappingPage(visit, editing, { listing, isMaking, facts, side, sum: sumPart(visit, sum) });
}

async function effectOf(
  { effects }: MappingDeps,
  { read, answers, press }: Editing,
): Promise<RecordEffect | 'invalid' | undefined> {
  if (!read.ok) return 'invalid';
  return effects.show(read.provider, { id: answers.record, isNext: press === 'next' });
}

/** What a page shows in addition to its answers. */
interface Shown {
  readonly listing: PropertyListing | undefined;
  /** Whether properties are being created, which the listing may lack. */
  readonly isMaking: boolean;
  readonly facts: MappingFacts;
  readonly side: Markup;
  readonly sum: Markup;
}

function mappingPage(
  visit: StepVisit,
  { provider, answers, read }: Editing,
  { listing, isMaking, facts, side, sum }: Shown,
): PageBody {
  const { reader, carried, now, way } = visit;
  const { name } = provider;
  const label = connectionLabel(reader, name);
  const problems = read.ok ? [] : read.problems;
  const writable = facts.properties?.filter((each) => each.writable) ?? [];
  return {
    ...(problems.length > 0 && { status: 422 }),
    title: reader.text('setup.mappingTitle', { name: label }),
    body: html`<p>${reader.text('setup.mappingHelp')}</p>
      ${problemList(problems.map(({ path, message }) => html`<code>${path.replace(/^fields\./u, '')}</code> ${said(reader, message)}`))}
      ${isMaking && html`<p class="notice" role="status">${reader.text('setup.creating')}</p>`}
      ${listing === undefined && html`<p class="notice warn" role="status">${reader.text('setup.slow', { name: label })}</p>`}
      ${listing?.ok === false && html`<div class="notice bad" role="alert">${findingLine(reader, listing.failure)} <a href=${connectionStep(way, 'crm', name)}>${reader.text('setup.backToCrm', { name: label })}</a></div>`}
      ${propertySearch(reader, writable, visit.query('find'))}
      <form id="mapping" method="post" action=${connectionStep(way, 'mapping', name)} data-redraw>
        ${hidden({ ...carried, ...(Object.keys(answers.values).length > 0 && { v: JSON.stringify(answers.values) }) })}
        <button name="do" value="show" hidden></button>
        <div class="editor">
          <div>
            ${mappingTable(reader, answers, facts)} ${rowDetails(reader, answers, facts, now)}
            ${onlyFields(reader, answers.only, facts)} ${propertyList('crm', writable)}
          </div>
          ${side}
        </div>
        <p class="actions"><button class="primary" name="do" value="save">${reader.text(way.base === '/setup' ? 'setup.next' : 'settings.save')}</button></p>
      </form>
      ${sum}
      <script type="module" src=${assetUrl('redraw.js')}></script>`,
  };
}

/** The worst finding of the check for each row; optional properties that are missing are none. */
function remarksOn(
  provider: Parameters<typeof checkRows>[0] & { readonly mapping: readonly DraftRow[] },
  properties: Parameters<typeof checkRows>[1],
): ReadonlyMap<DraftRow, Finding> {
  const checked = checkRows(provider, properties);
  const worst = checked.flatMap(({ row, findings }) => {
    const found = findings.find(({ level }) => level === 'fail') ?? findings.find(({ level }) => level === 'warn');
    const own = provider.mapping.find((each) => each.field === row.field && each.property === row.property);
    return found === undefined || own === undefined ? [] : [[own, found] as const];
  });
  return new Map(worst);
}
