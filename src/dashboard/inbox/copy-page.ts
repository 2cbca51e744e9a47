/** The stored copy of an unreadable input: as a page, and as a file to correct. */
import { readCopy } from '../../connector/review/unreadable-entries.ts';
import type { Server } from '../../http/server/server.ts';
import { html } from '../page/html.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ReviewDeps } from '../routes/routes.ts';

/** The copy of an entry, by its id in review. */
export const copyAddress = (id: string): string => `/inbox/copy/${id}`;

export function addCopies(app: Server, deps: ReviewDeps): void {
  const read = ({ param }: Visit) => readCopy(deps.store.db, idOf(param));
  addPage(app, deps, {
    path: '/inbox/copy/:kind/:id',
    async show(visit) {
      const { reader, visitor, param } = visit;
      const copy = await read(visit);
      if (copy === undefined) return undefined;
      const address = copyAddress(idOf(param));
      return {
        title: reader.text('copy.title', { id: idOf(param) }),
        body: html`${
          visitor.seesPersons
            ? html`<p>${reader.text('copy.help')}</p>
                <pre class="payload" tabindex="0">${copy}</pre>
                <p class="actions"><a href=${`${address}/file`} download>${reader.text('copy.file')}</a></p>`
            : html`<p>${reader.text('copy.hidden')}</p>`
        }
          <p><a href=${`/inbox?kind=${param('kind')}`}>${reader.text('review.back')}</a></p>`,
      };
    },
  });
  addPage(app, deps, {
    path: '/inbox/copy/:kind/:id/file',
    async show(visit) {
      const copy = await read(visit);
      if (copy === undefined) return undefined;
      // Their page says why they do not get it.
      if (!visit.visitor.seesPersons) return copyAddress(idOf(visit.param));
      const [kind, number] = [visit.param('kind'), visit.param('id')];
      return { file: `${kind}-${number}.json`, type: 'application/octet-stream', content: copy };
    },
  });
}

const idOf = (param: Visit['param']): string => `${param('kind')}/${param('id')}`;
