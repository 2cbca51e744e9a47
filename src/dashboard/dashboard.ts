/** The dashboard: pages for people on the admin listener. They call the functions of the commands and the API. */
import cookie from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countInbox } from '../connector/review/inbox.ts';
import { createCallLimit } from '../http/server/call-limit.ts';
import type { Server, ServerLog } from '../http/server/server.ts';
import type { ServiceManagement } from '../service/service.ts';
import { admit } from './access/admission.ts';
import { addAudit } from './audit.ts';
import { addBackfill } from './backfill/backfill-page.ts';
import type { CompanyDeps } from './companies/company-deps.ts';
import { addCompany } from './companies/company-page.ts';
import { addSearch } from './companies/search.ts';
import { startCallMeter } from './connections/call-meter.ts';
import { addConnections, type ConnectionDeps } from './connections/connections-page.ts';
import { addInbox } from './inbox/inbox-page.ts';
import type { BundleDeps } from './installation/bundle.ts';
import { addConfiguration } from './installation/configuration-page.ts';
import type { Installation } from './installation/installation.ts';
import { addInstallation } from './installation/installation-page.ts';
import { addOverview } from './overview/overview-page.ts';
import { recently } from './overview/recent.ts';
import { MOST_WAITING } from './page/layout.ts';
import { notFoundPage } from './page/messages.ts';
import type { RegisterPageDeps } from './register/register-page.ts';
import { openPages } from './routes/page-scope.ts';
import { HIDDEN, readerOfRequest, sendPage } from './routes/routes.ts';
import { addRuns } from './runs/runs-page.ts';
import { addServicePages } from './service-pages.ts';
import { addSettings, type SettingsGround } from './settings/settings-page.ts';
import { addFirstEvent } from './setup/first-event.ts';
import { createAttempts } from './sign-in/attempts.ts';
import { openIssuer } from './sign-in/issuer.ts';
import { addLanguages } from './sign-in/language.ts';
import { addLogin } from './sign-in/login.ts';
import { addSessions } from './sign-in/sessions.ts';
import { addSingleSignOn, type SingleSignOnSettings } from './sign-in/single-sign-on.ts';
import { addHolds } from './writes/holds.ts';
import { addWrites } from './writes/writes-page.ts';

export interface DashboardDeps
  extends Omit<CompanyDeps, 'limitActions'>,
    Pick<ConnectionDeps, 'http' | 'configuration'> {
  readonly log: ServerLog;
  readonly metrics: ConnectionDeps['metrics'] & RegisterPageDeps['metrics'] & BundleDeps['metrics'];
  readonly installation: Installation;
  readonly singleSignOn?: SingleSignOnSettings | undefined;
  /** The configuration file and its readers; without them the dashboard cannot change it. */
  readonly settings?: SettingsGround | undefined;
  readonly timeZone?: string | undefined;
  /** The service half, if it is configured. */
  readonly service?: ServiceManagement | undefined;
}

/** How often the navigation's count of waiting entries is read. */
const WAITING_EVERY_MS = 5_000;

/** The actions of an operator in a minute; a person needs far fewer. */
const ACTIONS = 240;

/**
 * Adds all pages to the admin listener, in a scope of their own: the API next to them keeps its JSON errors. Returns a
 * check for later routes of whether an operator sends a request.
 */
export function addDashboard(
  admin: Server,
  given: DashboardDeps,
): { readonly isSignedIn: (request: FastifyRequest) => Promise<boolean> } {
  const { singleSignOn } = given;
  const { store, now } = given;
  const count = recently(
    WAITING_EVERY_MS,
    () => performance.now(),
    () => countInbox(store.db, now(), {}, MOST_WAITING + 1),
  );
  // No page fails because of its navigation.
  const waiting = () => count().catch(() => undefined);
  const deps = { ...given, waiting, hasSignOn: singleSignOn !== undefined, limitActions: createCallLimit(ACTIONS) };
  admin.register(cookie);
  admin.register(async (scope: Server) => {
    const meter = startCallMeter(deps.metrics, () => performance.now());
    scope.addHook('onClose', async () => meter.stop());
    await openPages(scope, deps);
    const issuer = singleSignOn && openIssuer(singleSignOn, deps.http, deps.now);
    const attempts = createAttempts(deps, deps.halves);
    addLogin(scope, { ...deps, attempts }, issuer);
    if (singleSignOn && issuer) addSingleSignOn(scope, { ...deps, attempts, issuer, settings: singleSignOn });
    addSessions(scope, deps);
    addLanguages(scope);
    if (deps.halves.connector) {
      addSearch(scope, deps);
      addCompany(scope, deps);
      addBackfill(scope, deps);
      addWrites(scope, deps);
      addHolds(scope, deps);
      addConnections(scope, { ...deps, meter });
      addFirstEvent(scope, deps);
    }
    addRuns(scope, deps);
    addInbox(scope, deps);
    if (deps.service) addServicePages(scope, { ...deps, ...servicePart(deps.service) });
    addAudit(scope, deps);
    addInstallation(scope, deps);
    addConfiguration(scope, deps);
    if (given.settings) addSettings(scope, deps, given.settings);
    addOverview(scope, { ...deps, meter });
    scope.get('/*', HIDDEN, (request, reply) => sendNothing(deps, request, reply));
  });
  return { isSignedIn: async (request) => (await admit(deps, request)) !== undefined };
}

const servicePart = (management: ServiceManagement) => ({
  ...management,
  management,
  options: management.monitorOptions,
});

/** Answers a missing address with JSON for programs, and with a page for browsers. */
function sendNothing({ halves }: DashboardDeps, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (request.url.startsWith('/admin/') || !/\btext\/html\b/.test(request.headers.accept ?? '')) {
    reply.callNotFound();
    return reply;
  }
  return sendPage({ request, reply, halves }, notFoundPage(readerOfRequest(request)));
}
