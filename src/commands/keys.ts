/** `keys`: manages who may call the service. */

import { createKey, listKeys, SCOPES, type Scope, USUAL_SCOPES } from '../service/keys/keys.ts';
import { type EnabledJob, revokeKeyAndJobs } from '../service/monitors/jobs.ts';
import { shownTime, withStore } from './arguments/with-store.ts';
import { defineCommand, flag, needed, texts, UsageError } from './cli/command.ts';
import { oneLine } from './cli/table.ts';

const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

const create = defineCommand({
  name: 'create',
  audit: 'key.create',
  about: 'create an API key; prints the key, which cannot be shown again',
  args: { name: needed('the owner of the key') },
  options: {
    scope: texts(`allow this use: ${SCOPES.join(', ')}; may be repeated (default: ${USUAL_SCOPES.join(', ')})`, 'name'),
  },
  run: async (context, { name }, { scope }) => {
    const unknown = scope.find((each) => !isScope(each));
    if (unknown !== undefined) throw new UsageError(`${unknown} is not one of ${SCOPES.join(', ')}`);
    if (!/^[^\p{Cc}]{1,256}$/u.test(name.trim())) throw new UsageError('the name is 1 to 256 characters on one line');
    const scopes = scope.length === 0 ? USUAL_SCOPES : scope.filter(isScope);
    const made = await withStore(
      context,
      (store) => store.write((tx) => createKey(tx, { name: name.trim(), scopes }, Date.now())),
      { create: true },
    );
    context.output.result(
      { ...made, name: name.trim(), scopes },
      `${made.key}\nThis is the key of ${name.trim()}, for ${scopes.join(', ')}. It cannot be shown again. Its id is ${made.id}.`,
    );
    return 0;
  },
});

const list = defineCommand({
  name: 'list',
  about: 'list all keys by id and name',
  run: async (context) => {
    const keys = await withStore(context, (store) => listKeys(store.db));
    const rows = keys.map(({ id, name, scopes, createdAt, usedAt, revokedAt }) => ({
      id,
      name,
      scopes: scopes.join(' '),
      created: shownTime(createdAt),
      used: shownTime(usedAt),
      revoked: shownTime(revokedAt),
    }));
    context.output.table(rows, 'There are no keys: cvrsync keys create NAME makes one.');
    return 0;
  },
});

const revoke = defineCommand({
  name: 'revoke',
  audit: 'key.revoke',
  about: 'revoke a key for good, and switch its jobs off; their deliveries are held for 14 days',
  args: { id: needed('the id of the key, as `keys list` shows it') },
  options: { keepJobs: flag('leave its jobs on, so that they still deliver to their webhooks') },
  run: async (context, { id }, { keepJobs }) => {
    const jobs = await withStore(context, (store) =>
      store.write((tx) => revokeKeyAndJobs(tx, id, { keepJobs, now: Date.now() })),
    );
    // Somebody may have typed the key itself: it is not repeated.
    if (jobs === undefined) throw new Error('there is no key with this id: see cvrsync keys list');
    context.output.result(
      { id, revoked: true, jobs, jobsAre: keepJobs ? 'on' : 'off' },
      [
        `The key ${id} is revoked.${jobs.length === 0 ? ' It has no job that is on.' : ''}`,
        ...jobLines(jobs, keepJobs),
      ].join('\n'),
    );
    return 0;
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
