/** Actions that link and unlink a record, and that request the full update of a link. */
import type { Crm } from '../../connector/crm/crm.ts';
import { companyNames } from '../../connector/explain/company-names.ts';
import { readCurrent } from '../../connector/explain/current.ts';
import { mayHold } from '../../connector/follow/link-by-hand.ts';
import { isBound } from '../../connector/links/links.ts';
import type { Server } from '../../http/server/server.ts';
import { acceptMatched, addLink, removeLink } from '../../operations/connector/links.ts';
import { perform } from '../../operations/definition/operation.ts';
import { isMistyped } from '../../protocol/cvr-number.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { matchAddress } from '../addresses/inbox.ts';
import { html, type Markup } from '../page/html.ts';
import { timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { type CompanyDeps, CRM_LIMIT_MS } from './company-deps.ts';
import { readHolders } from './holders.ts';
import {
  type AskedRecord,
  addRecordAction,
  isNamed,
  type NamedRecord,
  type Proposal,
  type RecordAction,
} from './record-action.ts';
import { readInTime, unlinkable } from './record-reading.ts';
import { outlook } from './values/outlook.ts';

export function addLinkActions(app: Server, deps: CompanyDeps): void {
  for (const action of [linkAction(deps), unlinkAction(), updateAction(deps)]) addRecordAction(app, deps, action);
}

const linkAction = (deps: CompanyDeps): RecordAction => ({
  name: 'link',
  isForLinked: false,
  next: (asked) => (isForMatch(asked) && asked.ref ? matchAddress('done', asked.ref) : companyAddress(asked.entity)),
  async propose(asked) {
    if (isNamed(asked)) return proposeLink(deps, asked);
    const { reader } = asked.visit;
    const problem = asked.field('record') === '' ? undefined : reader.text('link.noRecord');
    return { help: reader.text('link.help'), inputs: linkInputs(deps.crms, asked), problem };
  },
});

function linkInputs(crms: readonly Crm[], { visit, field }: AskedRecord): Markup {
  const { reader } = visit;
  return html`<label for="provider">${reader.text('writes.provider')}</label>
    <select id="provider" name="provider" required>
      ${crms.map(({ name }) => html`<option value=${name} selected=${field('provider') === name}>${name}</option>`)}
    </select>
    <label for="record">${reader.text('link.record')}</label>
    <input id="record" name="record" required value=${field('record')} />
    <label class="check">
      <input type="checkbox" name="sendUpdate" value="yes" checked /> ${reader.text('link.sendUpdate')}
    </label>`;
}

async function proposeLink(deps: CompanyDeps, asked: NamedRecord): Promise<Proposal> {
  const { visit, crm, ref, entity, link, field } = asked;
  const { reader, visitor } = visit;
  const isLinked = link?.state === 'active' && link.entity === entity;
  if (isLinked) return { effect: html`<p>${reader.text('link.already')}</p>`, seen: null, isDone: true };
  if (!mayHold(crm, entity)) return { effect: html`<p>${reader.text('link.person')}</p>`, seen: null };
  if (link !== undefined && link.entity !== entity && (await isBound(deps.store.db, link)))
    return { effect: taken(asked, link.entity), seen: link.entity };
  // In parallel: the page waits only once for a slow CRM.
  const [candidate, current] = await Promise.all([
    readInTime(crm, { recordId: ref.recordId, entity }),
    readCurrent(deps, crm, { id: ref.recordId, entity }, CRM_LIMIT_MS),
  ]);
  if (candidate.kind !== 'found') return { effect: unlinkable(reader, candidate), seen: candidate.kind };
  const { other } = candidate;
  const isMatch = isForMatch(asked);
  const holders = await holdersOf(deps, asked);
  const shown = outlook({ ...visitor, reader }, { ...ref, current });
  const sendUpdate = field('sendUpdate') === 'yes';
  const effects = [
    reader.text('link.effect'),
    ...(sendUpdate ? [reader.text('link.updateEffect')] : []),
    ...(isMatch && other === undefined ? [reader.text('link.matchEffect')] : []),
  ];
  return {
    effect: html`<p>${effects.join(' ')}</p>
      ${monitoringRemark(deps, asked)} ${await companyRemark(deps, reader, entity)}
      ${holders.length > 0 && html`<p class="notice warn">${reader.text('link.held', { provider: ref.provider, records: holders.join(', ') })}</p>`}
      ${other !== undefined && html`<p class="notice bad">${reader.text('link.other', { other })}</p>`} ${shown.table}`,
    seen: [other, holders, shown.seen],
    step: {
      button: reader.text('submit.link'),
      consent: other && reader.text('link.consent', { other }),
      async perform(ground, by) {
        const input = { provider: ref.provider, record: ref.recordId, entityId: entity };
        if (isMatch && other === undefined) return perform(acceptMatched, input, ground, by);
        const needs = { ...ground, openCrm: async () => crm };
        return perform(addLink, { ...input, sendUpdate, yes: true }, needs, { ...by, seen: other ?? '' });
      },
    },
  };
}

/** Whether the person came from the match page, with a number that they typed. */
const isForMatch = ({ field }: AskedRecord): boolean => field('match') === 'yes';

/** The other records of the connection that are linked to the company. */
async function holdersOf({ store }: CompanyDeps, { ref, entity }: NamedRecord): Promise<readonly string[]> {
  const holders = await readHolders(store.db, ref.provider, [entity]);
  return (holders.get(entity) ?? []).filter((id) => id !== ref.recordId);
}

/** Warns of a company number that is invalid or that no event has mentioned. */
async function companyRemark({ store }: CompanyDeps, reader: Reader, entity: string): Promise<Markup> {
  if (isMistyped(entity)) return html`<p class="notice bad">${reader.text('link.mistyped')}</p>`;
  const isKnown = (await companyNames(store.db, [entity])).has(entity);
  return !isKnown && html`<p class="notice warn">${reader.text('link.unknown')}</p>`;
}

const taken = ({ visit: { reader } }: NamedRecord, entity: string): Markup => html`<p class="notice bad">
  ${reader.text('link.taken')} <a href=${companyAddress(entity)}>${entity}</a>
</p>`;

/** Warns if no service will be asked to monitor the company. */
const monitoringRemark = ({ hasUpstream }: CompanyDeps, { visit }: NamedRecord): Markup =>
  !hasUpstream && html`<p class="notice">${visit.reader.text('link.noUpstream')}</p>`;

const unlinkAction = (): RecordAction => ({
  name: 'unlink',
  isForLinked: true,
  async propose({ visit: { reader }, ref, link, entity }) {
    if (ref === undefined || (link?.state !== 'active' && link?.state !== 'conflict'))
      return { effect: html`<p>${reader.text('unlink.none')}</p>`, seen: null, isDone: true };
    return {
      effect: html`<p>${reader.text('unlink.effect')}</p>
        <p>${reader.text('unlink.stays')}</p>`,
      seen: null,
      step: {
        button: reader.text('submit.unlink'),
        perform: (ground, by) =>
          perform(removeLink, { provider: ref.provider, record: ref.recordId, entityId: entity }, ground, by),
      },
    };
  },
});

const updateAction = (deps: CompanyDeps): RecordAction => ({
  name: 'update',
  isForLinked: true,
  async propose(asked) {
    const { visit, link, entity } = asked;
    const { reader, now } = visit;
    if (!isNamed(asked) || link?.state !== 'active')
      return { effect: html`<p>${reader.text('unlink.none')}</p>`, seen: null };
    if (!deps.hasUpstream)
      return { effect: html`<p class="notice">${reader.text('update.noUpstream')}</p>`, seen: null };
    const last = link.observed_at;
    return {
      effect: html`<p>${reader.text('update.effect')}</p>
        ${last !== null && html`<p class="quiet">${reader.text('update.last')} ${timeOf(reader, last, now)}</p>`}`,
      seen: null,
      isDone: link.send_update === 1,
      step: {
        button: reader.text('submit.update'),
        perform(ground, by) {
          const { provider, recordId: record } = asked.ref;
          const needs = { ...ground, openCrm: async () => asked.crm };
          const input = { provider, record, entityId: entity, sendUpdate: true, yes: false };
          return perform(addLink, input, needs, { ...by, seen: '' });
        },
      },
    };
  },
});
