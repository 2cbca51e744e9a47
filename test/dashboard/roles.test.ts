/** Roles: what a page and an action need, and what becomes of those who have less. */
import cookie from '@fastify/cookie';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readForms } from '../../src/dashboard/access/forms.ts';
import { html } from '../../src/dashboard/page/html.ts';
import { addAction, addPage } from '../../src/dashboard/routes/routes.ts';
import { createAttempts } from '../../src/dashboard/sign-in/attempts.ts';
import { addLogin } from '../../src/dashboard/sign-in/login.ts';
import { createServer, type Server } from '../../src/http/server/server.ts';
import { createOperator, ROLES, type Role } from '../../src/runtime/operators/operators.ts';
import { newStore } from '../support/stores.ts';
import { newVisitor, type Visitor } from './visitor.ts';

/** A server with a page and an action for one role, and who did the action. */
async function serve(needed: Role) {
  const store = await newStore('sqlite');
  const server = createServer();
  const deps = { store, now: Date.now, halves: { connector: true, service: true }, limitActions: () => undefined };
  const done: string[] = [];
  server.register(async (scope: Server) => {
    await scope.register(cookie);
    readForms(scope);
    const log = { warn: () => undefined, error: () => undefined };
    addLogin(scope, { ...deps, attempts: createAttempts({ ...deps, log }, deps.halves) });
    addPage(scope, deps, {
      path: '/thing',
      role: needed,
      show: async () => ({ title: 'A thing', body: html`<p></p>` }),
    });
    addAction(scope, deps, {
      path: '/thing/do',
      role: needed,
      async run({ visitor }) {
        done.push(visitor.actor.name);
        return '/thing';
      },
    });
  });
  const base = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const signedIn = async (role: Role): Promise<Visitor> => {
    const visitor = newVisitor(base);
    const token = (await store.write((tx) => createOperator(tx, { name: role, role }, 1))) ?? '';
    await visitor.signIn(token);
    return visitor;
  };
  return { done, signedIn };
}

describe.each(ROLES)('an action that needs the role %s', (needed) => {
  it.each(ROLES)('is offered to the role %s only if that includes it', async (role) => {
    const { done, signedIn } = await serve(needed);
    const visitor = await signedIn(role);
    const may = ROLES.indexOf(role) >= ROLES.indexOf(needed);
    const page = await visitor.get('/thing');
    expect(page.status).toBe(may ? 200 : 403);
    if (!may) expect(page.text).toContain(`This needs the role ${needed}`);
    expect((await visitor.post('/thing/do', {})).status).toBe(may ? 303 : 403);
    expect(done).toEqual(may ? [role] : []);
  });
});
