/** The steps under Settings: answers come from the file, and changes wait until somebody saves them. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConfigEdit, withEdits } from '../../config/edit.ts';
import type { LocatedProblem } from '../../config/locate.ts';
import { forgetTrial } from '../../connector/crm/crm.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { digestOf } from '../../runtime/operators/operators.ts';
import { readConfigFile, saveEdits } from '../../setup/config-file.ts';
import { folderOf } from '../../setup/config-of.ts';
import type { Draft } from '../../setup/draft.ts';
import { draftOf, editsBetween, sectionEdits } from '../../setup/file-draft.ts';
import { forgetPending, type PendingChanges, readPending, writePending } from '../../setup/pending-changes.ts';
import { valueAt } from '../../setup/questions.ts';
import type { Tx } from '../../store/store.ts';
import { SETTINGS, SETTINGS_CHANGES } from '../addresses/addresses.ts';
import { html } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import type { MappingDeps } from '../steps/mapping-page.ts';
import { addressOf, connectionStep, problemList, type StepVisit, type Way } from '../steps/step-route.ts';
import { changesPage, problemLine } from './changes-page.ts';

export interface SettingsDeps extends Omit<MappingDeps, 'way'> {
  /** Makes the daemon read its file again. */
  readonly reread: () => void;
  /** Masks the secrets of the configuration. */
  readonly mask: (text: string) => string;
}

/** The file, and the changes of this session. */
export type Changing =
  | { readonly kind: 'unreadable'; readonly problems: readonly LocatedProblem[] }
  | {
      readonly kind: 'read';
      readonly value: Readonly<Record<string, unknown>>;
      readonly digest: string;
      readonly pending: PendingChanges | undefined;
    };

export async function readChanging({ store, place }: SettingsDeps, visit: Visit): Promise<Changing> {
  const file = await readConfigFile(place.file);
  if (!file.ok) return { kind: 'unreadable', problems: file.problems };
  const pending = await readPending(store.db, visit.visitor.session.hash);
  return { kind: 'read', value: file.value, digest: file.digest, pending };
}

export function settingsWay(deps: SettingsDeps): Way {
  const { place } = deps;
  return {
    base: SETTINGS,
    async open(visit, seen) {
      const changing = await readChanging(deps, visit);
      if (changing.kind === 'unreadable') return { page: unreadablePage(deps, visit, changing.problems) };
      const { value, digest, pending } = changing;
      const draft = draftOf({ ...Object(withEdits(value, pending?.edits ?? [])) }, place);
      if (draft === undefined) return { page: unreadablePage(deps, visit, []) };
      const known = draftOf(value, place)?.connections ?? {};
      const read = pending?.seen ?? (seen === '' ? digest : seen);
      return { draft: { ...draft, connections: withNew(draft, known), read, isChanged: pending !== undefined } };
    },
    async keep(tx, visit, change) {
      const changing = await readChanging(deps, visit);
      const before = changing.kind === 'read' ? draftOf(changing.value, place) : undefined;
      // The page before it said so.
      if (changing.kind !== 'read' || before === undefined) return { connections: {} };
      const edited = { ...Object(withEdits(changing.value, changing.pending?.edits ?? [])) };
      const after = change(draftOf(edited, place) ?? before);
      const edits = editsBetween(before, after, place);
      const seen = changing.pending?.seen ?? visit.carried['file'] ?? changing.digest;
      await keepEdits(deps, tx, visit, { seen, edits, former: changing.pending?.edits ?? [] });
      return after;
    },
    // The file in use names its own secrets, so new ones get other names until they are saved.
    section: ownSection,
    next: async (visit, _draft, { step, name }) =>
      saveChanges(deps, visit, {
        seen: undefined,
        next: name === undefined ? addressOf({ base: SETTINGS }, step) : connectionStep({ base: SETTINGS }, step, name),
      }),
    onward(visit, draft, { step, name, isRight }) {
      const { reader } = visit;
      const isNew = name !== undefined && draft.connections[name]?.isNumberChosen !== true;
      if (step === 'crm' && isNew)
        return html`<p><a class=${isRight ? 'button primary' : 'button'} href=${connectionStep(visit.way, 'number', name)}>${reader.text('setup.next')}</a></p>`;
      if (draft.isChanged !== true) return null;
      return html`<form method="post" action=${`${SETTINGS}/save`}>
        ${hidden({ ...visit.carried, next: name === undefined ? addressOf(visit.way, step) : connectionStep(visit.way, step, name) })}
        <button class=${isRight ? 'primary' : undefined}>${reader.text('settings.save')}</button>
      </form>`;
    },
    framed: (visit, draft, step, page) => ({ ...page, body: html`${trail(visit, draft, step)} ${page.body}` }),
  };
}

/** The prefix of secret files that a session writes, with its own mark. */
export const ownSection = (visit: Visit, name: string): string => `${name}-${markOf(visit)}-${visit.now.toString(36)}`;

const markOf = ({ visitor }: Visit): string => digestOf(visitor.session.hash).slice(0, 12);

/** Connections that the file does not have yet need no answers. */
const withNew = (draft: Draft, known: Draft['connections']): Draft['connections'] =>
  Object.fromEntries(
    Object.entries(draft.connections).map(([name, connection]) => [
      name,
      Object.hasOwn(known, name) ? connection : { ...connection, isNumberChosen: false, isMapped: false },
    ]),
  );

/** The current place, the other pages of the same connection, and unsaved changes. */
function trail(visit: StepVisit, draft: Draft, step: string) {
  const { reader, way } = visit;
  const name = visit.param('name');
  const steps = ['crm', 'number', 'mapping'] as const;
  return html`<nav class="trail" aria-label=${reader.text('settings.trail')}>
      <a href=${SETTINGS}>${reader.text('nav.settings')}</a>
      ${Object.hasOwn(draft.connections, name) && steps.map((each) => html` <a href=${connectionStep(way, each, name)} aria-current=${each === step ? 'page' : undefined}>${name}: ${reader.text(`step.${each}`)}</a>`)}
    </nav>
    ${draft.isChanged === true && html`<p class="notice warn">${reader.text('settings.unsaved')} <a href=${SETTINGS_CHANGES}>${reader.text('settings.changes')}</a></p>`}
    ${step === 'source' && html`<p class="notice warn">${reader.text('settings.sourceWarning')}</p>`}`;
}

/** Stores edits as unsaved changes; deletes secrets that they no longer name. */
async function keepEdits(
  deps: SettingsDeps,
  tx: Tx,
  visit: Visit,
  { seen, edits, former }: PendingChanges & { readonly former: readonly ConfigEdit[] },
): Promise<void> {
  await writePending(tx, visit.visitor.session.hash, { seen, edits }, visit.now);
  const file = await readConfigFile(deps.place.file);
  await dropSecrets(deps, visit, former, [edits, file.ok ? file.value : {}]);
}

/** Deletes secret files of this session that `from` names and nothing else does. Other files stay. */
async function dropSecrets(
  { place }: SettingsDeps,
  visit: Visit,
  from: unknown,
  others: readonly unknown[],
): Promise<void> {
  const named = new Set(others.flatMap(secretFilesIn));
  const isOwn = (file: string): boolean => file.includes(`-${markOf(visit)}-`);
  for (const file of secretFilesIn(from).filter((each) => isOwn(each) && !named.has(each)))
    await rm(join(folderOf(place), file), { force: true }).catch(() => undefined);
}

const secretFilesIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? /^secrets\/[\w-]+$/u.test(value)
      ? [value]
      : []
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(secretFilesIn)
      : [];

/**
 * Saves this session's changes and makes the daemon read the file, or says why not. `seen`: the file that was shown.
 */
export async function saveChanges(
  deps: SettingsDeps,
  visit: Visit,
  { seen, next }: { readonly seen: string | undefined; readonly next: string },
): Promise<string | PageBody> {
  const { store, place, env } = deps;
  const { visitor, now } = visit;
  const changing = await readChanging(deps, visit);
  if (changing.kind === 'unreadable') return unreadablePage(deps, visit, changing.problems);
  const { pending } = changing;
  if (pending === undefined) return next;
  const { edits } = pending;
  const saved = await saveEdits(place, { edits, seen: seen ?? pending.seen }, env);
  if (saved.kind !== 'saved' && saved.kind !== 'same') return changesPage(deps, visit, changing, saved);
  await store.write(async (tx) => {
    await forgetPending(tx, visitor.session.hash);
    const paths = edits.map(({ path }) => path.join('.'));
    const entry = { actor: visitor.actor, via: 'page', action: 'settings.save', detail: { paths } } as const;
    if (saved.kind === 'saved') await recordAudit(tx, { ...entry, result: 'written' }, now);
  });
  if (saved.kind === 'same') return next;
  deps.reread();
  return `${SETTINGS}/saved?next=${encodeURIComponent(next)}`;
}

interface SectionChange {
  readonly path: readonly string[];
  /** The file at the begin of the form. */
  readonly seen: string;
  /** The new section; undefined removes it. */
  change(before: unknown): Promise<unknown>;
  readonly next: string;
}

/** Saves a change of one section at once. */
export async function saveSection(
  deps: SettingsDeps,
  visit: Visit,
  { path, seen, change, next }: SectionChange,
): Promise<string | PageBody> {
  const changing = await readChanging(deps, visit);
  if (changing.kind === 'unreadable') return unreadablePage(deps, visit, changing.problems);
  const { value, pending, digest } = changing;
  const former = pending?.edits ?? [];
  const before = valueAt(value, path);
  const edits = sectionEdits(before, await change(before), path);
  const others = former.filter((each) => path.some((key, at) => each.path[at] !== key));
  const began = pending?.seen ?? (seen === '' ? digest : seen);
  await deps.store.write((tx) => keepEdits(deps, tx, visit, { seen: began, edits: [...others, ...edits], former }));
  return saveChanges(deps, visit, { seen: undefined, next });
}

export async function discardChanges(deps: SettingsDeps, visit: Visit): Promise<void> {
  const changing = await readChanging(deps, visit);
  const edits = changing.kind === 'read' ? (changing.pending?.edits ?? []) : [];
  const tried = new Set(edits.flatMap(({ path: [, section, name = ''] }) => (section === 'providers' ? [name] : [])));
  await deps.store.write(async (tx) => {
    await forgetPending(tx, visit.visitor.session.hash);
    for (const name of tried) await forgetTrial(tx, name);
  });
  await dropSecrets(deps, visit, edits, [changing.kind === 'read' ? changing.value : edits]);
}

/** Shows why the file cannot be read; somebody must correct it by hand. */
export function unreadablePage(
  { place }: SettingsDeps,
  { reader }: Visit,
  problems: readonly LocatedProblem[],
): PageBody {
  return {
    status: 409,
    title: reader.text('nav.settings'),
    body: html`${problemList([
      html`<p>${reader.text('settings.unreadable')} <code>${place.file}</code></p>`,
      ...problems.map((each) => problemLine(reader, each)),
    ])}`,
  };
}
