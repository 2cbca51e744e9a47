/** Redirects from the inbox's former two addresses, which bookmarks and mails still hold. */
import type { Server } from '../../http/server/server.ts';
import { inboxAddress, matchAddress } from '../addresses/inbox.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';

const FIELDS = ['kind', 'provider', 'property'] as const;
const filterIn = ({ query }: Visit) => Object.fromEntries(FIELDS.map((name) => [name, query(name)]));

export function addFormerAddresses(app: Server, deps: RouteDeps): void {
  const lead = (path: string, to: (visit: Visit) => string): void =>
    addPage(app, deps, { path, show: async (visit) => to(visit) });
  lead('/review', (visit) => inboxAddress({}, filterIn(visit)));
  lead('/review.csv', (visit) => inboxAddress({}, filterIn(visit), '/inbox.csv'));
  lead('/review/answered', () => '/inbox/answered');
  lead('/review/copy/:kind/:id', ({ param }) => `/inbox/copy/${param('kind')}/${param('id')}`);
  if (!deps.halves.connector) return;
  lead('/review/upload', () => '/inbox/upload');
  lead('/match', ({ query }) => {
    const [provider = '', recordId = ''] = query('at').split('/');
    return recordId === '' ? inboxAddress({ kind: 'match' }) : matchAddress('at', { provider, recordId });
  });
}
