/** `keys`: manages who may call the service. */

import type { Ground } from '../operations/definition/operation.ts';
import { createKey, listKeys, revokeKey } from '../operations/service/keys.ts';
import type { EnabledJob } from '../service/monitors/jobs.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { oneLine } from './cli/table.ts';
import { timeCell } from './cli/when.ts';
import { operationCommand } from './operations/operation-command.ts';

type Work = (ground: Ground) => Promise<ExitCode>;

const open = (context: CommandContext, work: Work) => withStore(context, (store) => work({ store, now: Date.now }));

const create = operationCommand(createKey, {
  name: 'create',
  examples: ['keys create crm --scope monitoring'],
  note: 'prints the key, which cannot be shown again',
  args: ['name'],
  names: { scopes: 'scope' },
  open: (context, work: Work) => withStore(context, (store) => work({ store, now: Date.now }), { create: true }),
  show({ output }, made) {
    const { id, key, name, scopes } = made;
    output.result(
      made,
      `${key}\nThis is the key of ${name}, for ${scopes.join(', ')}. It cannot be shown again. Its id is ${id}.`,
    );
  },
});

const list = operationCommand(listKeys, {
  name: 'list',
  examples: ['keys list'],
  open,
  show({ output }, keys) {
    const rows = keys.map(({ id, name, scopes, createdAt, usedAt, revokedAt }) => ({
      id,
      name,
      scopes: scopes.join(' '),
      created: timeCell(createdAt),
      used: timeCell(usedAt),
      revoked: timeCell(revokedAt),
    }));
    output.table(rows, 'There are no keys: cvrsync keys create NAME makes one.');
  },
});

const revoke = operationCommand(revokeKey, {
  name: 'revoke',
  examples: ['keys revoke KEY_ID'],
  args: ['id'],
  hint: 'see cvrsync keys list',
  open,
  show({ output }, { id, jobs, areKept }) {
    output.result(
      { id, revoked: true, jobs, jobsAre: areKept ? 'on' : 'off' },
      [
        `The key ${id} is revoked.${jobs.length === 0 ? ' It has no job that is on.' : ''}`,
        ...jobLines(jobs, areKept),
      ].join('\n'),
    );
  },
});

function jobLines(jobs: readonly EnabledJob[], isKept: boolean): readonly string[] {
  if (jobs.length === 0) return [];
  const named = jobs.map(({ id, name }) => `  ${id}  ${oneLine(name)}`);
  return isKept
    ? ['Its jobs go on delivering to their webhooks:', ...named, 'cvrsync jobs move hands them to another key.']
    : [
        'Its jobs are switched off, and what is due to them is held for 14 days:',
        ...named,
        'To go on with one: cvrsync jobs move ID --key KEY, then cvrsync monitors activate ID --replay.',
      ];
}

export const command = defineCommand({
  name: 'keys',
  about: 'manage API keys of the service: create, list, revoke',
  commands: [create, list, revoke],
});
