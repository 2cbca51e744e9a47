/** `operators`: manages who may use the dashboard. */

import { signInAddress } from '../first-sign-in.ts';
import type { Ground } from '../operations/definition/operation.ts';
import { allowOperator, createOperator, listOperators, revokeOperator } from '../operations/installation/operators.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import { isActive } from '../runtime/operators/operators.ts';
import { createFirstLink, createLoginLink } from '../runtime/operators/sessions.ts';
import { commandActor } from './arguments/actor.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, optional } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { timeCell } from './cli/when.ts';
import { operationCommand } from './operations/operation-command.ts';

type Work = (ground: Ground) => Promise<ExitCode>;

const open = (context: CommandContext, work: Work) => withStore(context, (store) => work({ store, now: Date.now }));
const HINT = 'see cvrsync operators list';

const create = operationCommand(createOperator, {
  name: 'create',
  examples: ['operators create ida --role operator'],
  note: 'prints the token to sign in with, which cannot be shown again',
  args: ['name'],
  open: (context, work: Work) => withStore(context, (store) => work({ store, now: Date.now }), { create: true }),
  show: ({ output }, made) =>
    output.result(
      made,
      `${made.token}\nThis is the token of ${made.name}, whose role is ${made.role}. It cannot be shown again. Sign in with it on the dashboard.`,
    ),
});

const list = operationCommand(listOperators, {
  name: 'list',
  examples: ['operators list'],
  open,
  show({ output }, operators) {
    const rows = operators.map(({ name, role, createdAt, revokedAt }) => ({
      name,
      role,
      created: timeCell(createdAt),
      revoked: timeCell(revokedAt),
    }));
    output.table(
      rows,
      'There are no operators: nobody can open the dashboard. cvrsync operators login-link prints a link that creates the first one.',
    );
  },
});

const revoke = operationCommand(revokeOperator, {
  name: 'revoke',
  examples: ['operators revoke ida'],
  args: ['name'],
  hint: HINT,
  open,
  show: ({ output }, done) =>
    output.result(done, `The operator ${done.name} is revoked, and every session of ${done.name} ended.`),
});

const allow = operationCommand(allowOperator, {
  name: 'allow',
  examples: ['operators allow ida'],
  args: ['name'],
  hint: `${HINT}; operators create prints a new token`,
  open,
  show: ({ output }, done) =>
    output.result(done, `${done.name} may sign in again through single sign-on, with the role that the issuer gives.`),
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
