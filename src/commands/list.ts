/** Every command: one line each. A command's file is loaded when it is used. */
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
    name: 'demo',
    about: 'show the main job with nothing to set up: a sample register, both CRMs emulated, no account and no network',
    load: () => import('./demo.ts'),
  },
  { name: 'token', about: 'print the admin token, which programs send', load: () => import('./token.ts') },
  { name: 'check', about: 'try everything the daemon needs and say what to fix', load: () => import('./check.ts') },
  {
    name: 'explain',
    about: "tell one company's story: events, facts, decisions, state",
    load: () => import('./explain.ts'),
  },
  {
    name: 'undo',
    about: 'put back what properties held before cvrsync wrote them',
    load: () => import('./undo.ts'),
  },
  {
    name: 'release',
    about: "let the register win over a person's edit of a property",
    load: () => import('./release.ts'),
  },
  { name: 'hold', about: 'write nothing to a property, or to a whole record', load: () => import('./hold.ts') },
  {
    name: 'review',
    about: 'what needs a person: list, retry or drop what failed, accept or keep what differs',
    load: () => import('./review.ts'),
  },
  {
    name: 'facts',
    about: 'what is known of companies: forget what is wrong',
    load: () => import('./facts.ts'),
  },
  {
    name: 'emulate',
    about: 'run a CRM, the register or the service on this machine',
    load: () => import('./emulate.ts'),
  },
  { name: 'migrate', about: "bring the store's tables up to this version", load: () => import('./migrate.ts') },
  { name: 'backup', about: 'copy the store and its key while the daemon runs', load: () => import('./backup.ts') },
  {
    name: 'backfill',
    about: 'find the companies a CRM has already by their CVR number, link them, have them monitored',
    load: () => import('./backfill.ts'),
  },
  {
    name: 'monitoring',
    about: 'have companies monitored for CRM records: add, remove, list, jobs',
    load: () => import('./monitoring.ts'),
  },
  {
    name: 'links',
    about: 'which record holds which company, and whether it is monitored',
    load: () => import('./links.ts'),
  },
  {
    name: 'reconcile',
    about: "compare the service's list, the links and the CRM, show what differs and repair it",
    load: () => import('./reconcile.ts'),
  },
  {
    name: 'transfer',
    about: 'make a company in the CRM, link it and have it monitored; refused where the CRM has it already',
    load: () => import('./transfer.ts'),
  },
  { name: 'keys', about: 'API keys of the service: create, list, revoke', load: () => import('./keys.ts') },
  { name: 'monitors', about: 'who is told of which changes', load: () => import('./monitors.ts') },
  { name: 'jobs', about: 'third-party jobs: create, list, move, remove', load: () => import('./jobs.ts') },
  {
    name: 'deliveries',
    about: 'what was sent to webhooks: list, replay, drop',
    load: () => import('./deliveries.ts'),
  },
  {
    name: 'provider',
    about: 'write a provider for another CRM: new, test',
    load: () => import('./provider.ts'),
  },
  { name: 'config', about: 'write, check and describe the configuration file', load: () => import('./config.ts') },
];
