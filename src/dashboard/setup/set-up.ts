/** The pages of a first start: the entry and the six steps. The listener has no others until they are done. */
import cookie from '@fastify/cookie';
import { createCallLimit } from '../../http/server/call-limit.ts';
import type { Server, ServerLog } from '../../http/server/server.ts';
import { notFoundPage } from '../page/messages.ts';
import { openPages } from '../routes/page-scope.ts';
import { HIDDEN, readerOfRequest, sendPage } from '../routes/routes.ts';
import { createAttempts } from '../sign-in/attempts.ts';
import { addLanguages } from '../sign-in/language.ts';
import { addLogin } from '../sign-in/login.ts';
import { addSessions } from '../sign-in/sessions.ts';
import { addCrm } from '../steps/crm-page.ts';
import { addMapping, type MappingDeps } from '../steps/mapping-page.ts';
import { addNumber } from '../steps/number-page.ts';
import { addSource } from '../steps/source-page.ts';
import { addEntry } from './entry-page.ts';
import { addFill } from './fill-page.ts';
import { addTakeOver, firstWay, type SetUpDeps } from './first-way.ts';
import { addYou } from './you-page.ts';

/** The actions of a person in a minute. */
const ACTIONS = 240;

const HALVES = { connector: false, service: false, isSetUp: true } as const;

export function addSetUp(
  admin: Server,
  given: Omit<SetUpDeps & MappingDeps, 'halves' | 'limitActions' | 'entrance' | 'way'> & {
    readonly log: ServerLog;
  },
): void {
  const common = { halves: HALVES, limitActions: createCallLimit(ACTIONS), entrance: '/setup' };
  const deps = { ...given, ...common, way: firstWay(given.store) };
  admin.register(cookie);
  admin.register(async (scope: Server) => {
    await openPages(scope, deps);
    const attempts = createAttempts(deps, HALVES);
    addLogin(scope, { ...deps, attempts });
    addSessions(scope, deps);
    addLanguages(scope);
    addEntry(scope, { ...deps, attempts });
    for (const add of [addYou, addCrm, addNumber, addMapping, addSource, addFill, addTakeOver]) add(scope, deps);
    scope.get('/', HIDDEN, (_request, reply) => reply.redirect('/setup', 303));
    scope.get('/*', HIDDEN, (request, reply) =>
      sendPage({ request, reply, halves: HALVES }, notFoundPage(readerOfRequest(request))),
    );
  });
}
