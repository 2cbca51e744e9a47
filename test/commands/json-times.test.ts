/** Times in `--json` are ISO 8601, in every command. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Command } from '../../src/commands/cli/command.ts';
import { COMMANDS } from '../../src/commands/list.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { COMPANY, playStory } from '../dashboard/story.ts';
import { newFolder } from '../support/stores.ts';

/** Commands that do not end, or write nothing but what was given to them. */
const WITHOUT_TIMES = [
  ...[
    'init',
    'store copy',
    'store reopen',
    'serve',
    'demo',
    'emulate',
    'provider new',
    'provider test',
    'restore',
    'token',
    'alerts test',
    'match index',
    'match undo',
  ],
  ...['completion', 'completion connections', 'config init', 'config schema', 'config processing'],
];

const pathsOf = (command: Command, above = ''): readonly string[] => {
  const path = `${above}${command.name}`;
  return [...(command.run === undefined ? [] : [path]), ...command.commands.flatMap((sub) => pathsOf(sub, `${path} `))];
};

/** Every number in a document that may be a time: from the year 2000 to 2100, in ms or in seconds. */
function epochsIn(value: unknown, path: string): readonly string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, each]) => epochsIn(each, `${path}.${key}`));
  const isEpoch = typeof value === 'number' && value >= 946_684_800_000 && value < 4_102_444_800_000;
  return isEpoch ? [`${path}: ${value}`] : [];
}

test('no command prints a time as a number', async () => {
  const { fixture, records } = await playStory();
  const { store } = fixture.app;
  const now = Date.now();
  const key = await store.write((tx) => createKey(tx, { name: 'crm', scopes: ['monitoring'] }, now));
  const folder = newFolder();
  const event = join(folder, 'event.json');
  await writeFile(event, JSON.stringify({ entityId: COMPANY, timestamp: '2026-03-03T09:00:00Z', updates: {} }));
  const record = `hubspot:${records.hubspot}`;
  const made = async (...words: readonly string[]): Promise<string> =>
    String(Object(JSON.parse((await fixture.cli('--json', ...words)).stdout))['id']);
  const monitor = await made('monitors', 'create', 'Sales', '--all', '--url', 'https://example.com/cvr', '--inactive');
  const job = await made('jobs', 'create', 'hubspot', '--key', key.id, '--inactive');
  const lines: Readonly<Record<string, string>> = {
    status: '',
    'alerts digest': '',
    'runs list': '',
    'runs show': '1',
    'runs confirm': '1',
    'runs cancel': '1',
    check: '',
    review: '',
    'review list': '--kind difference',
    links: '',
    'hold list': '',
    explain: COMPANY,
    export: COMPANY,
    hold: `${record} name --until 2030-01-01 --reason why`,
    leave: 'salesforce --dry-run',
    return: 'salesforce --yes',
    'config show': '',
    'config diff': '',
    'config apply': '--yes',
    'config history': '',
    'config rollback': '',
    release: `${record} phone --once`,
    'review accept': '--all --kind difference --yes',
    'review answered': '',
    'review keep': '--all --kind difference --yes',
    'review retry': '--all --yes',
    'review drop': '--all --kind lane --yes',
    'review take-back': 'difference/hubspot/1/name',
    undo: '--provider hubspot --since 9000d --dry-run',
    'facts forget': `${COMPANY} phone`,
    erase: `${COMPANY} --dry-run`,
    backup: join(folder, 'copy.db'),
    migrate: '',
    backfill: 'hubspot --dry-run',
    match: 'hubspot',
    'match find': 'Birk',
    'monitoring add': `hubspot ${COMPANY} ${records.hubspot}`,
    'monitoring list': '',
    'monitoring jobs': '',
    'monitoring update': '',
    'monitoring remove': `hubspot ${COMPANY} ${records.hubspot}`,
    reconcile: 'hubspot --dry-run',
    transfer: 'hubspot CVR-1-10000009',
    'keys create': 'other',
    'keys list': '',
    'operators create': 'ida --role viewer',
    'operators list': '',
    'operators login-link': 'ida',
    'operators revoke': 'ida',
    'operators allow': 'ida',
    'monitors create': 'All --all --url https://example.com/x',
    'monitors list': '',
    'monitors show': monitor,
    'monitors update': `${monitor} --name Other`,
    'monitors entities add': `${monitor} ${COMPANY}`,
    'monitors entities remove': `${monitor} ${COMPANY}`,
    'monitors test': monitor,
    'monitors activate': monitor,
    'monitors disable': monitor,
    'monitors rotate-secret': monitor,
    'monitors resubscribe': `${monitor} ida@example.com`,
    'monitors remove': monitor,
    'jobs create': `salesforce --key ${key.id}`,
    'jobs list': '',
    'jobs move': `${job} --key ${key.id}`,
    'jobs remove': job,
    'deliveries list': '',
    'deliveries send': '1',
    'deliveries recover': '--since 7d',
    'deliveries replay': '',
    'deliveries drop': '',
    'keys revoke': key.id,
    send: 'http://127.0.0.1:9/webhook --yes',
    receive: event,
  };
  const commands = await Promise.all(COMMANDS.map(async ({ load }) => (await load()).command));
  expect([...Object.keys(lines), ...WITHOUT_TIMES].toSorted()).toEqual(
    commands.flatMap((command) => pathsOf(command)).toSorted(),
  );
  let printed = 0;
  for (const [path, rest] of Object.entries(lines)) {
    const words = [...path.split(' '), ...rest.split(' ').filter((word) => word !== '')];
    const { stdout } = await fixture.cli('--json', '--log-level', 'silent', ...words);
    if (stdout === '') continue;
    printed += 1;
    expect(epochsIn(JSON.parse(stdout), path)).toEqual([]);
    // A time that is a text is one that `Date` and every language read.
    expect(stdout.match(/"\d{4}-\d\d-\d\d \d\d:\d\d[^"]*"/gu) ?? []).toEqual([]);
  }
  expect(printed).toBeGreaterThan(40);
});
