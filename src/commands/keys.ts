/** `keys`: who may call the service. */
import { createKey, listKeys, revokeKey, SCOPES, type Scope, USUAL_SCOPES } from '../service/keys.ts';
import { defineCommand, needed, texts, UsageError } from './command.ts';
import { shownTime, withStore } from './opened.ts';

const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text);

const create = defineCommand({
  name: 'create',
  about: 'make an API key; it is printed this once',
  args: { name: needed('whose it is') },
  options: {
    scope: texts(`what it may be used for: ${SCOPES.join(', ')} (where not given: ${USUAL_SCOPES.join(', ')})`, 'name'),
  },
  run: async (context, { name }, { scope }) => {
    const unknown = scope.find((each) => !isScope(each));
    if (unknown !== undefined) throw new UsageError(`${unknown} is not one of ${SCOPES.join(', ')}`);
    if (!/^[^\p{Cc}]{1,256}$/u.test(name.trim())) throw new UsageError('the name is 1 to 256 characters on one line');
    const scopes = scope.length === 0 ? USUAL_SCOPES : scope.filter(isScope);
    const made = await withStore(context, (store) =>
      store.write((tx) => createKey(tx, { name: name.trim(), scopes }, Date.now())),
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
  about: 'all keys, without the keys themselves',
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
  about: 'end a key for good; its jobs stay and go on delivering',
  args: { id: needed('the id of the key, as `keys list` shows it') },
  run: async (context, { id }) => {
    const isThere = await withStore(context, (store) => store.write((tx) => revokeKey(tx, id, Date.now())));
    // Somebody may have typed the key itself: it is not repeated.
    if (!isThere) throw new Error('there is no key with this id: see cvrsync keys list');
    context.output.result(
      { id, revoked: true },
      `The key ${id} is revoked. cvrsync jobs move hands its jobs to another.`,
    );
    return 0;
  },
});

export const command = defineCommand({
  name: 'keys',
  about: 'API keys of the service: create, list, revoke',
  commands: [create, list, revoke],
});
