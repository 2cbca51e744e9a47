/** The step of the mapping: what goes where, and who wins. */
import type { VNode } from 'preact';
import { type FieldName, type FieldValue, isFieldName } from '../../../providers/fields.ts';
import type { Policy } from '../../../providers/provider.ts';
import type { ConfiguredProvider } from '../../config/load.ts';
import { checkRows } from '../../connector/crm/check-mapping.ts';
import type { Server } from '../../http/server/server.ts';
import type { Finding } from '../../runtime/finding.ts';
import { readConnection } from '../../setup/connections.ts';
import { type Draft, nextStep, withConnection } from '../../setup/draft.ts';
import { type DraftRow, exampleValues, fieldsOf, rowsOf, unmapped } from '../../setup/mapping-draft.ts';
import type { PropertySurvey } from '../../setup/trials.ts';
import { type Fields, FORM_TOKEN, fieldValues } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { brief, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { findingLine } from './crm-page.ts';
import { propertyList, propertySearch } from './property-list.ts';
import {
  addressOf,
  addStep,
  addStepAction,
  connectionStep,
  firstOpen,
  problemList,
  type SetUpDeps,
  saveDraft,
  usableConnection,
} from './setup-route.ts';

const POLICIES = ['tracked', 'always', 'if-blank', 'never'] as const satisfies readonly Policy[];
/** Rows to add a field in. */
const NEW_ROWS = 2;

/** Adds the page and its action. */
export function addMapping(app: Server, deps: SetUpDeps): void {
  addStep(app, deps, {
    path: '/setup/mapping',
    step: 'mapping',
    show: async (_visit, draft) => firstOpen('mapping', draft),
  });
  addStep(app, deps, {
    path: '/setup/mapping/:name',
    step: 'mapping',
    async show(visit, draft) {
      const provider = await usableConnection(deps, draft, visit.param('name'));
      if (provider === undefined || typeof provider === 'string') return provider;
      const rows = rowsOf(provider.provider.preset, draft.connections[provider.name]?.fields ?? {});
      return mappingPage(visit, provider, { rows, survey: await deps.trials.survey(provider) });
    },
  });
  addStepAction(app, deps, {
    path: '/setup/mapping/:name',
    step: 'mapping',
    run: (visit, draft, fields) => keepMapping(deps, visit, draft, fields),
  });
}

async function keepMapping(deps: SetUpDeps, visit: Visit, draft: Draft, fields: Fields): Promise<string | PageBody> {
  const name = visit.param('name');
  const provider = await usableConnection(deps, draft, name);
  const connection = draft.connections[name];
  if (provider === undefined || typeof provider === 'string' || connection === undefined)
    return provider === undefined || typeof provider !== 'string' ? addressOf('crm') : provider;
  const rows = rowsIn(fields);
  const changed = { ...connection, fields: fieldsOf(provider.provider.preset, rows) };
  const read = await readConnection(name, changed, deps);
  if (!read.ok) {
    const problems = read.problems.map(
      ({ path, message }) => html`<code>${path.replace(/^fields\./u, '')}</code> ${said(visit.reader, message)}`,
    );
    return mappingPage(visit, provider, { rows, survey: await deps.trials.survey(provider), problems });
  }
  const saved = await saveDraft(deps, visit, name, (before) =>
    withConnection(before, name, (known) => ({ ...known, fields: changed.fields, isMapped: true })),
  );
  return addressOf(nextStep(saved));
}

/** The rows as they were sent: three fields of one name each, in one order. */
function rowsIn(fields: Fields): readonly DraftRow[] {
  const [names, properties, policies] = [fieldValues(fields, 'f'), fieldValues(fields, 'p'), fieldValues(fields, 'w')];
  return names.flatMap((field, at) => {
    const policy = POLICIES.find((each) => each === policies[at]);
    if (!isFieldName(field) || policy === undefined) return [];
    return [{ field, property: (properties[at] ?? '').trim(), policy }];
  });
}

/** The answers that a page shows, and what is wrong with them. */
interface Shown {
  readonly rows: readonly DraftRow[];
  readonly survey: PropertySurvey | undefined;
  readonly problems?: readonly Markup[];
}

function mappingPage(visit: Visit, provider: ConfiguredProvider, { rows, survey, problems = [] }: Shown): PageBody {
  const { reader, formToken, now } = visit;
  const { name } = provider;
  const properties = survey?.ok === true ? survey.properties : undefined;
  const writable = properties?.filter((each) => each.writable) ?? [];
  const remarks = properties && remarksOn({ ...provider, mapping: rows }, properties);
  const examples = exampleValues(now);
  const own = new Set(provider.provider.definitions?.map((each) => each.name));
  const shown = rows.map((row) =>
    mappingRow(reader, row, {
      example: examples.get(row.field),
      remark: remarks?.get(row),
      isOwn: own.has(row.property) && row.policy === 'always',
    }),
  );
  const free = unmapped(provider.provider.preset, {}).filter((field) => !rows.some((row) => row.field === field));
  const columns = (['field', 'example', 'property', 'wins'] as const).map((column) => reader.text(`mapping.${column}`));
  return {
    ...(problems.length > 0 && { status: 422 }),
    title: reader.text('setup.mappingTitle', { name }),
    body: html`<p>${reader.text('setup.mappingHelp')}</p>
      ${problemList(problems)}
      ${survey === undefined && html`<p class="notice warn" role="status">${reader.text('setup.slow', { name })}</p>`}
      ${survey?.ok === false && html`<div class="notice bad" role="alert">${findingLine(reader, survey.failure)} <a href=${connectionStep('crm', name)}>${reader.text('setup.backToCrm', { name })}</a></div>`}
      ${propertySearch(reader, writable, visit.query('find'))}
      <form method="post" action=${connectionStep('mapping', name)}>
        ${hidden({ [FORM_TOKEN]: formToken })}
        ${table({ label: reader.text('step.mapping'), columns, rows: [...shown, ...newRows(reader, free)] })}
        ${propertyList('crm', writable)}
        <p class="actions"><button class="primary">${reader.text('setup.next')}</button></p>
      </form>`,
  };
}

/** What is known of a row beside its answers. */
interface RowFacts {
  readonly example: FieldValue | undefined;
  readonly remark: Finding | undefined;
  /** The property was made for cvrsync: nobody else's value is in it. */
  readonly isOwn: boolean;
}

/** One row: the field in words, an example, the property, and who wins. */
function mappingRow(
  reader: Reader,
  { field, property, policy }: DraftRow,
  { example, remark, isOwn }: RowFacts,
): readonly Markup[] {
  const words = reader.text(`field.${field}`);
  return [
    html`${words}<input type="hidden" name="f" value=${field} />`,
    html`<span class="quiet">${shownValue(example)}</span>`,
    html`${propertyField(words, property)} ${remark && html`<small class=${remark.level}>${said(reader, remark.found)}</small>`}`,
    isOwn
      ? html`<input type="hidden" name="w" value=${policy} />${reader.text('mapping.own')}`
      : policyField(reader, words, policy),
  ];
}

const LONGEST_EXAMPLE = 30;

const shownValue = (value: FieldValue | undefined): string =>
  value === undefined || value === null || typeof value === 'object'
    ? ''
    : brief(String(value)).slice(0, LONGEST_EXAMPLE);

const propertyField = (words: string, property: string): VNode =>
  html`<input name="p" list="crm" aria-label=${words} value=${property} />`;

const policyField = (reader: Reader, words: string, policy: Policy): VNode =>
  html`<select name="w" aria-label=${words}>
    ${POLICIES.map((each) => html`<option value=${each} selected=${each === policy}>${reader.text(`policy.${each}`)}</option>`)}
  </select>`;

/** Rows in which a field that goes nowhere gets a property. */
const newRows = (reader: Reader, free: readonly FieldName[]): readonly (readonly Markup[])[] =>
  Array.from({ length: Math.min(NEW_ROWS, free.length) }, () => [
    html`<select name="f" aria-label=${reader.text('mapping.add')}>
      <option value="">${reader.text('mapping.add')}</option>
      ${free.map((field) => html`<option value=${field}>${reader.text(`field.${field}`)}</option>`)}
    </select>`,
    null,
    propertyField(reader.text('mapping.addTo'), ''),
    policyField(reader, reader.text('mapping.add'), 'tracked'),
  ]);

/** The worst remark of the check on each row; what a CRM lacks and need not have is none. */
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
