/** Actions that override the rules for one property or for all: hold, release, and the end of either. */
import { endOfDay } from '../../connector/crm/hold.ts';
import { writtenProperties } from '../../connector/decide/plan.ts';
import { readCurrent } from '../../connector/explain/current.ts';
import { ALL_PROPERTIES, type Override, type OverrideRef, readOverrides } from '../../connector/overrides/override.ts';
import type { Server } from '../../http/server/server.ts';
import { clearRecord, holdRecord, releaseProperty } from '../../operations/connector/records.ts';
import { perform } from '../../operations/definition/operation.ts';
import type { Db } from '../../store/store.ts';
import { html, type Markup } from '../page/html.ts';
import { timeOf } from '../page/parts.ts';
import { type CompanyDeps, CRM_LIMIT_MS } from './company-deps.ts';
import {
  type AskedRecord,
  addRecordAction,
  isNamed,
  type NamedRecord,
  type Proposal,
  type RecordAction,
} from './record-action.ts';
import { outlook } from './values/outlook.ts';

export function addOverrideActions(app: Server, deps: CompanyDeps): void {
  for (const action of [holdAction(deps), releaseAction(deps), endAction(deps)]) addRecordAction(app, deps, action);
}

const holdAction = (deps: CompanyDeps): RecordAction => ({
  name: 'hold',
  isForLinked: true,
  async propose(asked) {
    const { reader, now } = asked.visit;
    const wanted = readHold(asked);
    const isOver = wanted !== undefined && wanted.until !== null && wanted.until <= now;
    if (wanted === undefined || isOver || !isNamed(asked) || !isProperty(asked, ALL_PROPERTIES))
      return { help: reader.text('hold.help'), inputs: holdInputs(asked), problem: problemOf(asked) };
    const { until } = wanted;
    const end =
      until === null ? reader.text('hold.open') : html`${reader.text('hold.until')} ${timeOf(reader, until)}.`;
    return proposeOverride(deps, asked, {
      words: html`<p>${reader.text('hold.effect')} ${end}</p>`,
      wanted,
    });
  },
});

const releaseAction = (deps: CompanyDeps): RecordAction => ({
  name: 'release',
  isForLinked: true,
  async propose(asked) {
    const { reader } = asked.visit;
    if (!isNamed(asked) || !isProperty(asked))
      return { help: reader.text('release.help'), inputs: releaseInputs(asked), problem: problemOf(asked) };
    const once = asked.field('once') === 'yes';
    return proposeOverride(deps, asked, {
      words: html`<p>${reader.text(once ? 'release.once' : 'release.always')}</p>`,
      wanted: { kind: 'release', once, until: null, reason: null },
    });
  },
});

const endAction = (deps: CompanyDeps): RecordAction => ({
  name: 'end',
  isForLinked: true,
  async propose(asked) {
    const { reader } = asked.visit;
    const current = isNamed(asked) ? await readOverride(deps.store.db, asked) : undefined;
    if (current === undefined || !isNamed(asked))
      return { effect: html`<p>${reader.text('end.none')}</p>`, seen: null, isDone: true };
    const words = html`<p>${reader.text(`end.${current.kind}`)}</p>`;
    return proposeOverride(deps, asked, { words, wanted: undefined });
  },
});

const refOf = ({ ref, field }: NamedRecord): OverrideRef => ({ ...ref, property: field('property') });

async function readOverride(db: Db, asked: NamedRecord): Promise<Override | undefined> {
  const { provider, recordId, property } = refOf(asked);
  return (await readOverrides(db, provider, [recordId], asked.visit.now)).get(recordId)?.get(property);
}

type Wanted = Omit<Override, 'createdAt'>;

const isSame = (override: Override | undefined, wanted: Wanted | undefined): boolean =>
  override?.kind === wanted?.kind &&
  override?.once === wanted?.once &&
  override?.until === wanted?.until &&
  override?.reason === wanted?.reason;

/** Undefined if the last day is invalid. */
function readHold({ field }: AskedRecord): Wanted | undefined {
  const [day, reason] = [field('until'), field('reason').trim().slice(0, 200)];
  if (day !== '' && (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(endOfDay(day)))) return undefined;
  return { kind: 'hold', once: false, until: day === '' ? null : endOfDay(day), reason: reason || null };
}

const propertiesOf = ({ crm }: AskedRecord): readonly string[] => writtenProperties(crm?.mapping ?? []);

const isProperty = (asked: AskedRecord, other?: string): boolean =>
  [...propertiesOf(asked), other].includes(asked.field('property'));

/** A form that was not filled in yet is not an error. */
const problemOf = ({ field, visit }: AskedRecord): string | undefined =>
  field('property') === '' ? undefined : visit.reader.text('action.invalid');

function propertyInput(asked: AskedRecord, all?: Markup): Markup {
  const chosen = asked.field('property');
  return html`<label for="property">${asked.visit.reader.text('outlook.property')}</label>
    <select id="property" name="property" required>
      ${all} ${propertiesOf(asked).map((name) => html`<option value=${name} selected=${chosen === name}>${name}</option>`)}
    </select>`;
}

function holdInputs(asked: AskedRecord): Markup {
  const { reader } = asked.visit;
  const all = html`<option value=${ALL_PROPERTIES}>${reader.text('company.allProperties')}</option>`;
  return html`${propertyInput(asked, all)}
    <label for="until">${reader.text('hold.lastDay')}</label>
    <input id="until" name="until" type="date" value=${asked.field('until')} />
    <label for="reason">${reader.text('hold.reason')}</label>
    <input id="reason" name="reason" maxlength="200" value=${asked.field('reason')} />`;
}

const releaseInputs = (asked: AskedRecord): Markup => html`${propertyInput(asked)}
  <label class="check">
    <input type="checkbox" name="once" value="yes" checked /> ${asked.visit.reader.text('release.onceOnly')}
  </label>`;

interface OverrideChange {
  readonly words: Markup;
  /** Undefined to end the current override. */
  readonly wanted: Wanted | undefined;
}

/** Says what the next sync of the record would decide with this override in place of the current one. */
async function proposeOverride(
  deps: CompanyDeps,
  asked: NamedRecord,
  { words, wanted }: OverrideChange,
): Promise<Proposal> {
  const { visit, crm, ref } = asked;
  const { reader, visitor, now } = visit;
  const { property } = refOf(asked);
  const before = await readOverride(deps.store.db, asked);
  const to = wanted === undefined ? null : { ...wanted, createdAt: now };
  const current = await readCurrent(deps, crm, { id: ref.recordId, overrides: [{ property, to }] }, CRM_LIMIT_MS);
  const isMeant = (name: string): boolean => property === ALL_PROPERTIES || name === property;
  const shown = outlook({ ...visitor, reader }, { ...ref, current }, isMeant);
  return {
    effect: html`${words} ${shown.table}`,
    seen: shown.seen,
    isDone: isSame(before, wanted),
    step: {
      button: reader.text(`submit.${wanted?.kind ?? 'end'}`),
      perform(ground, by) {
        const on = { provider: ref.provider, record: ref.recordId };
        const part = property === ALL_PROPERTIES ? undefined : property;
        if (wanted === undefined)
          return perform(clearRecord, { ...on, property: part, kind: before?.kind ?? 'hold' }, ground, by);
        const { kind, once, until, reason } = wanted;
        if (kind === 'release') return perform(releaseProperty, { ...on, property, once }, ground, by);
        const end = until === null ? undefined : new Date(until).toISOString();
        return perform(holdRecord, { ...on, property: part, until: end, reason: reason ?? undefined }, ground, by);
      },
    },
  };
}
