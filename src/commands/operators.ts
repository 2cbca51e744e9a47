/** `operators`: manages who may use the dashboard. */

import { signInAddress } from '../first-sign-in.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import {
  allowOperator,
  createOperator,
  isActive,
  listOperators,
  ROLES,
  revokeOperator,
} from '../runtime/operators/operators.ts';
import { createFirstLink, createLoginLink } from '../runtime/operators/sessions.ts';
import type { Store } from '../store/store.ts';
import { commandActor } from './arguments/actor.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, needed, oneOf, optional, UsageError } from './cli/command.ts';
import { timeCell } from './cli/when.ts';

const create = defineCommand({
  name: 'create',
  examples: ['operators create ida --role operator'],
  about: 'create an operator; prints the token to sign in with, which cannot be shown again',
  args: { name: needed('the name of the person') },
  options: {
    role: oneOf(ROLES, 'viewer looks, operator decides and retries, admin also manages; must be given'),
  },
  run: async (context, { name: given }, { role }) => {
    const name = given.trim();
    if (!/^[^\p{Cc}]{1,100}$/u.test(name)) throw new UsageError('the name is 1 to 100 characters on one line');
    if (role === undefined) throw new UsageError(`say what ${name} may do: --role ${ROLES.join(', --role ')}`);
    const keep = (store: Store) =>
      store.write(async (tx) => {
        const now = Date.now();
        const made = await createOperator(tx, { name, role }, now);
        const entry = { actor: commandActor(), via: 'command', action: 'operator.create', subject: name } as const;
        if (made !== undefined) await recordAudit(tx, { ...entry, detail: { role }, result: 'created' }, now);
        return made;
      });
    const token = await withStore(context, keep, { create: true });
    if (token === undefined)
      throw new Error(
        `there is an operator ${name} already: revoke it first with cvrsync operators revoke, or choose another name`,
      );
    context.output.result(
      { name, role, token },
      `${token}\nThis is the token of ${name}, whose role is ${role}. It cannot be shown again. Sign in with it on the dashboard.`,
    );
    return 0;
  },
});

const list = defineCommand({
  name: 'list',
  examples: ['operators list'],
  about: 'list all operators with their roles',
  run: async (context) => {
    const operators = await withStore(context, (store) => listOperators(store.db));
    const rows = operators.map(({ name, role, createdAt, revokedAt }) => ({
      name,
      role,
      created: timeCell(createdAt),
      revoked: timeCell(revokedAt),
    }));
    context.output.table(
      rows,
      'There are no operators: nobody can open the dashboard. cvrsync operators login-link prints a link that creates the first one.',
    );
    return 0;
  },
});

const revoke = defineCommand({
  name: 'revoke',
  examples: ['operators revoke ida'],
  about: "revoke an operator and end the operator's sessions at once",
  args: { name: needed('the name, as `operators list` shows it') },
  run: async (context, { name }) => {
    const known = await withStore(context, (store) =>
      store.write(async (tx) => {
        const now = Date.now();
        const isKnown = await revokeOperator(tx, name, now);
        const entry = { actor: commandActor(), via: 'command', action: 'operator.revoke', subject: name } as const;
        if (isKnown) await recordAudit(tx, { ...entry, result: 'revoked, sessions ended' }, now);
        return isKnown;
      }),
    );
    // The given name may be a mistyped token: do not repeat it.
    if (!known) throw new Error('there is no operator of this name: see cvrsync operators list');
    context.output.result(
      { name, revoked: true },
      `The operator ${name} is revoked, and every session of ${name} ended.`,
    );
    return 0;
  },
});

const allow = defineCommand({
  name: 'allow',
  examples: ['operators allow ida'],
  about: 'let a revoked operator sign in again through single sign-on',
  args: { name: needed('the name, as `operators list` shows it') },
  run: async (context, { name }) => {
    const isAllowed = await withStore(context, (store) =>
      store.write(async (tx) => {
        const done = await allowOperator(tx, name);
        const entry = { actor: commandActor(), via: 'command', action: 'operator.allow', subject: name } as const;
        if (done) await recordAudit(tx, { ...entry, result: 'may sign in again' }, Date.now());
        return done;
      }),
    );
    if (!isAllowed)
      throw new Error(
        'no operator of this name who signs in through single sign-on is revoked: see cvrsync operators list; operators create prints a new token',
      );
    context.output.result(
      { name, allowed: true },
      `${name} may sign in again through single sign-on, with the role that the issuer gives.`,
    );
    return 0;
  },
});

const loginLink = defineCommand({
  name: 'login-link',
  examples: ['operators login-link ida'],
  about: 'print a link that signs an operator in on the dashboard, once, within 15 minutes',
  args: {
    name: optional('the name, as `operators list` shows it; leave it out for the link that creates the first operator'),
  },
  run: async (context, { name }) => {
    const config = await context.config([]);
    const token = await withStore(context, (store) =>
      store.write(async (tx) => {
        const now = Date.now();
        if (name === undefined) return await createFirstLink(tx, now);
        if (!(await isActive(tx, name))) return undefined;
        const entry = { actor: commandActor(), via: 'command', action: 'operator.link', subject: name } as const;
        await recordAudit(tx, { ...entry, result: 'printed a link that signs in' }, now);
        return await createLoginLink(tx, name, now);
      }),
    );
    if (token === undefined)
      throw new Error(
        name === undefined
          ? 'there is an operator already: name the one who signs in, as cvrsync operators list shows it'
          : 'there is no active operator of this name: see cvrsync operators list',
      );
    const link = signInAddress(config, token);
    context.output.result({ link }, link);
    return 0;
  },
});

export const command = defineCommand({
  name: 'operators',
  about: 'manage who may use the dashboard: create, list, revoke, allow, login-link',
  commands: [create, list, revoke, allow, loginLink],
});
