/** One line for each command, whose file loads on its first use. */
import type { Command } from './cli/command.ts';

export interface CommandEntry {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'send', about: 'post a sample payload to a webhook', load: () => import('./send.ts') },
  { name: 'receive', about: 'feed a saved payload through the real code', load: () => import('./receive.ts') },
  { name: 'serve', about: 'run the daemon as configured', load: () => import('./serve.ts') },
  {
    name: 'init',
    about: 'ask for the first configuration, try each answer, and write the file',
    load: () => import('./init/init.ts'),
  },
  {
    name: 'demo',
    about: 'show the main job without any setup: a sample register and both CRMs emulated, no account and no network',
    load: () => import('./demo/demo.ts'),
  },
  { name: 'token', about: 'print the admin token that programs send', load: () => import('./token.ts') },
  {
    name: 'status',
    about: 'show how the installation does: connections, register, queues, and what needs you',
    load: () => import('./status.ts'),
  },
  {
    name: 'check',
    about: 'try everything the daemon needs and say what to fix',
    load: () => import('./check/check.ts'),
  },
  {
    name: 'explain',
    about: "show one company's timeline: events, facts, decisions, current state",
    load: () => import('./explain/explain.ts'),
  },
  {
    name: 'undo',
    about: 'put back what properties held before cvrsync wrote them',
    load: () => import('./undo/undo.ts'),
  },
  {
    name: 'runs',
    about: 'show what the daemon does to many things at once: list, show, confirm, cancel',
    load: () => import('./runs.ts'),
  },
  {
    name: 'leave',
    about: 'leave a CRM: end its links and all work there, undo what was written, remove own properties',
    load: () => import('./leave/leave.ts'),
  },
  {
    name: 'return',
    about: 'come back to a CRM that was left, and restart its links',
    load: () => import('./leave/return.ts'),
  },
  {
    name: 'release',
    about: "let the register win over a person's edit of a property",
    load: () => import('./release.ts'),
  },
  { name: 'hold', about: 'stop writes to a property, or to a whole record', load: () => import('./hold.ts') },
  {
    name: 'review',
    about: 'show and resolve what needs a person: retry or drop failed work, accept or keep a value',
    load: () => import('./review/review.ts'),
  },
  {
    name: 'export',
    about: 'print all that is kept about a company or a person, as JSON',
    load: () => import('./erase/export.ts'),
  },
  {
    name: 'erase',
    about: 'erase a company or a person from all tables, for good',
    load: () => import('./erase/erase.ts'),
  },
  {
    name: 'facts',
    about: 'manage the stored facts of companies: forget a wrong one',
    load: () => import('./facts.ts'),
  },
  {
    name: 'emulate',
    about: 'run a CRM, the register or the service on this machine',
    load: () => import('./emulate/emulate.ts'),
  },
  { name: 'migrate', about: "bring the store's tables up to this version", load: () => import('./store/migrate.ts') },
  {
    name: 'backup',
    about: 'copy the store and its key while the daemon runs',
    load: () => import('./store/backup.ts'),
  },
  { name: 'restore', about: "put a copy of the store in the store's place", load: () => import('./store/restore.ts') },
  {
    name: 'store',
    about: 'move the installation to another place or engine: copy, reopen',
    load: () => import('./store/store.ts'),
  },
  {
    name: 'backfill',
    about: 'find the companies that a CRM already holds by their CVR number, link them and have them monitored',
    load: () => import('./backfill/backfill.ts'),
  },
  {
    name: 'match',
    about: 'find the company of records that have no CVR number, for a person to accept',
    load: () => import('./match/match.ts'),
  },
  {
    name: 'monitoring',
    about: 'manage which companies are monitored for CRM records: add, remove, list, jobs',
    load: () => import('./monitoring/monitoring.ts'),
  },
  {
    name: 'links',
    about: 'show which record is linked to which company, and whether the service monitors it',
    load: () => import('./links.ts'),
  },
  {
    name: 'reconcile',
    about: "compare the service's list, the links and the CRM, show what differs and repair it",
    load: () => import('./reconcile/reconcile.ts'),
  },
  {
    name: 'transfer',
    about: 'create a company in the CRM, link it and have it monitored; refuses a duplicate',
    load: () => import('./transfer.ts'),
  },
  { name: 'keys', about: 'manage API keys of the service: create, list, revoke', load: () => import('./keys.ts') },
  {
    name: 'operators',
    about: 'manage who may use the dashboard: create, list, revoke',
    load: () => import('./operators.ts'),
  },
  {
    name: 'monitors',
    about: 'manage monitors: who is notified of which changes',
    load: () => import('./monitors/monitors.ts'),
  },
  {
    name: 'jobs',
    about: 'manage third-party jobs: create, list, move, remove',
    load: () => import('./monitors/jobs.ts'),
  },
  {
    name: 'deliveries',
    about: 'manage deliveries to webhooks: list, replay, drop',
    load: () => import('./deliveries/deliveries.ts'),
  },
  {
    name: 'provider',
    about: 'write a provider for another CRM: new, test',
    load: () => import('./provider/provider.ts'),
  },
  {
    name: 'alerts',
    about: 'show what cvrsync tells operators by mail or webhook: digest',
    load: () => import('./alerts.ts'),
  },
  {
    name: 'completion',
    about: 'print the script that completes commands, options, values and names of connections in a shell',
    load: () => import('./completion/completion.ts'),
  },
  {
    name: 'config',
    about: 'write, check and describe the configuration file',
    load: () => import('./config/config.ts'),
  },
];
