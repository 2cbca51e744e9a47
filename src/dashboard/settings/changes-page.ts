/** The page of unsaved changes of the file, with the reasons why they cannot be saved. */
import type { ConfigEdit } from '../../config/edit.ts';
import type { LocatedProblem } from '../../config/locate.ts';
import { maskedJson } from '../../protocol/text/mask.ts';
import { linesOf, type SavedFile } from '../../setup/config-file.ts';
import type { SetUpPlace } from '../../setup/config-of.ts';
import type { PendingChanges } from '../../setup/pending-changes.ts';
import { valueAt } from '../../setup/questions.ts';
import { SETTINGS } from '../addresses/addresses.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { brief, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { problemList } from '../steps/step-route.ts';

interface ChangesDeps {
  readonly place: SetUpPlace;
  readonly mask: (text: string) => string;
}

interface ReadChanges {
  readonly value: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly pending: PendingChanges | undefined;
}

type Unsaved = Exclude<SavedFile, { readonly kind: 'saved' | 'same' }>;

/** `why`: the result of the attempt to save them. */
export function changesPage(
  deps: ChangesDeps,
  visit: Visit,
  { value, digest, pending }: ReadChanges,
  why?: Unsaved,
): PageBody {
  const { reader, formToken } = visit;
  const edits = pending?.edits ?? [];
  const carried = { [FORM_TOKEN]: formToken, file: digest };
  return {
    ...(why !== undefined && { status: why.kind === 'invalid' ? 422 : 409 }),
    title: reader.text('settings.changes'),
    body:
      edits.length === 0
        ? html`<p>${reader.text('settings.noChanges')}</p>
            <p><a href=${SETTINGS}>${reader.text('nav.settings')}</a></p>`
        : html`${why && obstacle(deps, reader, why)}
            ${why?.kind === 'unwritable' && linesToPaste(deps, reader, edits)} ${editTable(deps, reader, value, edits)}
            <div class="actions">
              <form method="post" action=${`${SETTINGS}/save`}>
                ${hidden({ ...carried, next: SETTINGS })}
                <button class="primary">${reader.text(why?.kind === 'changed' ? 'settings.saveAnyway' : 'settings.save')}</button>
              </form>
              <form method="post" action=${`${SETTINGS}/discard`}>
                ${hidden(carried)}
                <button class="plain">${reader.text('settings.discard')}</button>
              </form>
            </div>`,
  };
}

function obstacle({ place }: ChangesDeps, reader: Reader, why: Unsaved): Markup {
  if (why.kind === 'changed') return problemList([reader.text('settings.fileChanged', { file: place.file })]);
  if (why.kind === 'invalid') return problemList(why.problems.map((each) => problemLine(reader, each)));
  return problemList([
    why.code === 'ANCHORS'
      ? reader.text('settings.anchors', { file: place.file })
      : reader.text('setup.unwritable', { file: place.file, code: why.code }),
  ]);
}

export const problemLine = (reader: Reader, { path, message, line }: LocatedProblem): Markup =>
  html`${line !== undefined && html`${reader.text('settings.line', { line })} `}<code>${path}</code> ${said(reader, message)}`;

/** The lines that a person adds to the file by hand. */
function linesToPaste({ place }: ChangesDeps, reader: Reader, edits: readonly ConfigEdit[]): Markup {
  const { lines, removed } = linesOf(edits);
  return html`${
    lines !== '' &&
    html`<p>${reader.text('settings.paste')} <code>${place.file}</code></p>
      <pre tabindex="0">${lines}</pre>`
  }
    ${removed.length > 0 && html`<p>${reader.text('settings.remove')} ${removed.map((path) => html`<code>${path}</code> `)}</p>`}
    <p>${reader.text('settings.thenReload')}</p>`;
}

const editTable = (
  { mask }: ChangesDeps,
  reader: Reader,
  file: Readonly<Record<string, unknown>>,
  edits: readonly ConfigEdit[],
): Markup => {
  const shown = (value: unknown): Markup =>
    value === undefined ? '–' : html`<code>${brief(maskedJson(value, mask))}</code>`;
  return table({
    label: reader.text('settings.changes'),
    columns: [reader.text('rules.setting'), reader.text('settings.inFile'), reader.text('settings.yours')],
    rows: edits.map(({ path, value }) => [
      html`<code>${path.join('.')}</code>`,
      shown(valueAt(file, path)),
      shown(value),
    ]),
  });
};
