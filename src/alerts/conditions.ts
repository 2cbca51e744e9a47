/** Turns observations of the store into the conditions that an operator reads. Pure. */

import type { PreviewTotals } from '../connector/proposals/preview.ts';
import { shownCount } from '../connector/review/review-list.ts';
import { type AccountBlock, type BlockFault, needsPerson } from '../runtime/limits/blocks.ts';
import { COUNT } from '../service/register/watch/ingest-page.ts';

export interface Condition {
  readonly key: string;
  readonly what: string;
  readonly advice: string;
  readonly since?: number;
  /** How long the condition must last before it is reported; 0 by default. */
  readonly afterMs?: number;
}

/** The most failed items of a queue to count. */
export const MOST_FAILED = 1_000;

export interface Observed {
  readonly blocks: readonly AccountBlock[];
  readonly missingRoles: readonly string[];
  /** Counted up to one more than {@link MOST_FAILED}. */
  readonly failed: readonly { readonly queue: string; readonly count: number; readonly since: number }[];
  /** Connections whose safety limit withholds links; undefined is the register, whose limit withholds facts. */
  readonly limits: readonly { readonly provider: string | undefined; readonly since: number }[];
  readonly behind: readonly { readonly source: string; readonly since: number }[];
  /** Parts of the register for which the store holds fewer documents than the register counts. */
  readonly missing: readonly { readonly part: string; readonly source: number; readonly stored: number }[];
  /** Sources of the register that state other values than the leading one for too many companies. */
  readonly differing: readonly { readonly origin: string; readonly compared: number; readonly differing: number }[];
  /** The last day of the register's credentials, if it is near. */
  readonly keyEnds: string | undefined;
  readonly freeBytes: number | undefined;
  readonly waiting: number;
  readonly proposals: readonly {
    readonly provider: string;
    readonly since: number;
    /** The values that it would write and replace, and those of people; undefined if they could not be counted. */
    readonly counted: Pick<PreviewTotals, 'writes' | 'replaced' | 'edits' | 'later'> | undefined;
    /** Linked records of a connection that is no longer configured. */
    readonly removed?: number;
  }[];
  readonly mailOutage:
    | { readonly recipients: number; readonly since: number; readonly refusesSender: boolean }
    | undefined;
  readonly refusedMail: readonly {
    readonly monitor: string;
    readonly name: string;
    readonly count: number;
    readonly since: number;
  }[];
  readonly monitors: readonly {
    readonly id: string;
    readonly name: string;
    readonly since: number;
    readonly isOff: boolean;
  }[];
  /** Undefined if copies succeed or are not configured. */
  readonly backupFailsSince: number | undefined;
  /** Times of which the store holds nothing, until somebody requests full updates. */
  readonly gaps: readonly { readonly since: number; readonly until: number }[];
}

export interface Thresholds {
  readonly reviewOver: number;
  readonly registerBehindMinutes: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** During an update no daemon may have a role for a while. */
const ROLE_MISSING_MS = 5 * MINUTE_MS;
const WEBHOOK_FAILS_MS = 2 * HOUR_MS;
/** Twice the space below which the daemon refuses webhooks. */
const LEAST_FREE_BYTES = 512 * 1024 * 1024;

/** All conditions, in the order of the message. Quotes no text of a CRM: it may name persons. */
export function conditionsOf(observed: Observed, thresholds: Thresholds, now: number): readonly Condition[] {
  return [
    ...observed.missingRoles.map(ofRole),
    ...observed.blocks.filter(needsPerson).map(ofBlock),
    ...observed.limits.map(ofLimit),
    ...observed.proposals.map(ofProposal),
    ...observed.failed.map(ofFailed),
    ...observed.behind.filter(({ since }) => now - since >= thresholds.registerBehindMinutes * MINUTE_MS).map(ofSource),
    ...observed.missing.map(ofMissing),
    ...observed.differing.map(ofDiffering),
    ...ofKeyEnd(observed.keyEnds, now),
    ...ofDisk(observed.freeBytes),
    ...ofBackup(observed.backupFailsSince),
    ...observed.gaps.map(ofGap),
    ...observed.monitors.map(ofMonitor),
    ...(observed.mailOutage === undefined ? [] : [ofMailOutage(observed.mailOutage)]),
    ...observed.refusedMail.map(ofRefusedMail),
    ...ofReview(observed.waiting, thresholds.reviewOver),
  ];
}

const WITHOUT_ROLE: Readonly<Record<string, string>> = {
  ingest:
    'Nobody answers webhooks: their senders try again, and give up in the end. Start a daemon with `ingest` in `roles`, or see in its log why it ended.',
  sync: 'Webhooks are answered and wait in the store: nothing is written to a CRM. Start a daemon with `sync` in `roles`, or see in its log why it ended.',
  service:
    'Nobody reads the register or notifies monitors. Start a daemon with `service` in `roles`, or see in its log why it ended.',
};

const ofRole = (role: string): Condition => ({
  key: `role:${role}`,
  what: `No running daemon has the role ${role}`,
  advice: WITHOUT_ROLE[role] ?? '',
  afterMs: ROLE_MISSING_MS,
});

const BLOCKED: Readonly<Record<BlockFault, readonly [what: string, advice: string]>> = {
  auth: [
    'does not accept the credentials',
    'The work waits, and nothing is lost. Correct the credentials in the configuration and restart cvrsync. `cvrsync check` names the cause.',
  ],
  refused: [
    'refuses what cvrsync needs',
    'The work waits, and nothing is lost. `cvrsync check` names the permission or the setting to correct.',
  ],
  rate: [
    'accepts no more calls for now: its limit is used up',
    'The work waits, and goes on by itself. Raise the limit, or find out which other software uses it.',
  ],
  locked: ['is locked', 'The work waits, and goes on by itself. `cvrsync review list` says until when it waits.'],
};

function ofBlock({ account, fault, since }: AccountBlock): Condition {
  const [what, advice] = BLOCKED[fault];
  return { key: `account:${account}`, what: `${shownAccount(account)} ${what}`, advice, since };
}

/** `@upstream` is the monitoring service, `hubspot/notes` one ability of a CRM. */
function shownAccount(account: string): string {
  if (account.startsWith('@')) return 'The monitoring service';
  const [provider = '', ability] = account.split('/');
  return ability === undefined ? provider : `${provider} (${ability})`;
}

const ofLimit = ({ provider, since }: Observed['limits'][number]): Condition =>
  provider === undefined ? ofLosses(since) : ofLinks(provider, since);

const ofLosses = (since: number): Condition => ({
  key: 'losses',
  what: 'The safety limit of the register keeps facts that many companies lost at once',
  advice:
    'cvrsync notifies nobody of it until you decide. Run `cvrsync review list` to see what is gone, and answer with `accept` or `keep`.',
  since,
});

const ofLinks = (provider: string, since: number): Condition => ({
  key: `limit:${provider}`,
  what: `The safety limit of ${provider} stops links from ending`,
  advice:
    'Many records lost their numbers or were deleted at once. Look at the CRM, then run `cvrsync review list` and answer with `accept` or `keep`.',
  since,
});

const ofProposal = ({ provider, since, counted, removed }: Observed['proposals'][number]): Condition => ({
  key: `rules:${provider}`,
  what: removed === undefined ? waiting(provider, counted) : gone(provider, removed),
  advice:
    removed === undefined
      ? `Until then the previous rules apply. \`cvrsync config diff ${provider}\` shows what it would write, \`cvrsync config apply ${provider}\` accepts it; or take the change out of the file.`
      : `\`cvrsync config apply ${provider}\` accepts that; or configure it again.`,
  since,
  // The daemon counts again until the CRM answers.
  afterMs: removed === undefined && counted === undefined ? HOUR_MS : 0,
});

const waiting = (provider: string, counted: Observed['proposals'][number]['counted']): string =>
  counted === undefined
    ? `A changed configuration of ${provider} waits to be accepted, and cvrsync cannot count what it would write`
    : `A changed configuration of ${provider} waits to be accepted: it would write ${counted.writes} values and replace ${counted.replaced + counted.later}, ${counted.edits} of them written by people`;

const gone = (provider: string, removed: number): string =>
  `The connection ${provider} is no longer configured, and that waits to be accepted: ${removed} linked records get no updates`;

const ofFailed = ({ queue, count, since }: Observed['failed'][number]): Condition => ({
  key: `failed:${queue}`,
  what: `Work failed for good in ${queue} (${shownCount(count, MOST_FAILED)} ${count === 1 ? 'item' : 'items'})`,
  advice: 'Run `cvrsync review list`, and answer with `cvrsync review retry` or `cvrsync review drop`.',
  since,
});

const ofSource = ({ source, since }: Observed['behind'][number]): Condition => ({
  key: `source:${source}`,
  what:
    source === COUNT
      ? 'cvrsync cannot count the documents of the register'
      : `cvrsync cannot read the source ${source}`,
  advice: 'No change is lost: cvrsync continues where it stopped. `cvrsync check` and the log name the cause.',
  since,
});

const ofMissing = ({ part, source, stored }: Observed['missing'][number]): Condition => ({
  key: `missing:${part}`,
  what: `${source - stored} of the ${source} ${part} that the register counts are not stored`,
  advice:
    'cvrsync reads the whole register again in addition to what is new, and counts again. If this stays, `cvrsync check` and the log name the cause.',
});

const ofDiffering = ({ origin, compared, differing }: Observed['differing'][number]): Condition => ({
  key: `differing:${origin}`,
  what: `The source ${origin} gives different values from the leading one for ${differing} of ${compared} companies and production units`,
  advice:
    'cvrsync sends only what the leading source says. `cvrsync check` names the events and an example: the first source in service.register leads.',
});

const ofKeyEnd = (lastDay: string | undefined, now: number): readonly Condition[] =>
  lastDay === undefined
    ? []
    : [
        {
          key: 'register:key',
          what:
            Date.parse(lastDay) < now - DAY_MS
              ? `The credentials of Datafordeler ended on ${lastDay}`
              : `The credentials of Datafordeler end on ${lastDay}`,
          advice:
            'Make new ones in Datafordeler Administration, and set `service.register.apiKey` and `service.register.apiKeyEnds`. Without them cvrsync reads no changes; nothing is lost.',
        },
      ];

const ofDisk = (free: number | undefined): readonly Condition[] =>
  free === undefined || free >= LEAST_FREE_BYTES
    ? []
    : [
        {
          key: 'disk',
          what: 'The disk of the store is almost full: less than 512 MiB are free',
          advice: 'Make room. Below 256 MiB cvrsync refuses webhooks, and their sender tries again later.',
        },
      ];

const ofBackup = (since: number | undefined): readonly Condition[] =>
  since === undefined
    ? []
    : [
        {
          key: 'backup',
          what: 'cvrsync cannot make a sound backup of the store',
          advice:
            'The earlier copies stay, and cvrsync tries again every 15 minutes. The log names the cause: if a copy is damaged, the store may be, too.',
          since,
        },
      ];

const ofGap = ({ since, until }: Observed['gaps'][number]): Condition => ({
  key: `gap:${until}`,
  what: `The store holds nothing of ${minuteOf(since)} to ${minuteOf(until)}`,
  advice:
    'It was restored, or lost a part of its journal. Run `cvrsync monitoring update`, which asks for the whole state of every linked company, then `cvrsync reconcile`.',
  since: until,
});

const minuteOf = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const ofMonitor = ({ id, name, since, isOff }: Observed['monitors'][number]): Condition => ({
  key: `monitor:${id}`,
  what: `The webhook of the monitor ${name} (${id}) ${isOff ? 'is switched off, because it failed' : 'fails'}`,
  advice: `Fix the receiver: \`cvrsync deliveries list --monitor ${id}${isOff ? '' : ' --state failing'}\` shows its answers. Then run \`cvrsync ${isOff ? `monitors activate ${id} --replay` : `deliveries recover --monitor ${id} --since 7d`}\`.`,
  since,
  // A short failure may be a restart; the overview shows it at once.
  afterMs: isOff ? 0 : WEBHOOK_FAILS_MS,
});

const ofMailOutage = ({ recipients, since, refusesSender }: NonNullable<Observed['mailOutage']>): Condition => ({
  key: refusesSender ? 'mail:sender' : 'mail:server',
  what: refusesSender
    ? `The mail server refuses the sender: mail for ${shownRecipients(recipients)} waits`
    : `The mail server does not take mail for ${shownRecipients(recipients)}`,
  advice: refusesSender
    ? 'cvrsync tries again for 72 hours. Correct service.smtp.from, the DNS, SPF and DKIM of its domain, or have the address removed from a block list; `cvrsync review list --kind mail` shows the answer.'
    : 'cvrsync tries again for 72 hours. `cvrsync check` and `cvrsync review list --kind mail` name the cause.',
  since,
  afterMs: refusesSender ? 0 : HOUR_MS,
});

const shownRecipients = (count: number): string => (count === 1 ? '1 recipient' : `${count} recipients`);

const ofRefusedMail = ({ monitor, name, count, since }: Observed['refusedMail'][number]): Condition => ({
  key: `mail:${monitor}`,
  what: `The mail server refuses ${count === 1 ? '1 address' : `${count} addresses`} of the monitor ${name} (${monitor})`,
  advice: `cvrsync tries each once a day, and ends its mail after three days. \`cvrsync monitors show ${monitor}\` names them: correct the recipients, then answer with \`cvrsync review retry\` or \`cvrsync review drop\`.`,
  since,
});

const ofReview = (waiting: number, most: number): readonly Condition[] =>
  waiting <= most
    ? []
    : [
        {
          key: 'review',
          what: `More than ${most} entries wait in review`,
          advice: 'Run `cvrsync review list`; it says what to do about each.',
          afterMs: DAY_MS,
        },
      ];
