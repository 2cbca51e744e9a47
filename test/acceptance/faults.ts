/** What goes wrong in an installation, and who must be told of it. */
import type { Installation } from './installation.ts';

export interface FaultCase {
  readonly name: string;
  /** Why it cannot be in this installation; undefined if it can. */
  readonly cannot?: (at: Installation) => string | undefined;
  begin(at: Installation): unknown;
  end(at: Installation): unknown;
  /** Alerts of the rules that fire, and no other. */
  readonly rules: readonly string[];
  /** Alerts of the rules that may fire as well: whether work waits depends on what was under way. */
  readonly mayFire?: readonly string[];
  /** What the alerts of cvrsync itself say, and nothing else. */
  readonly says: readonly RegExp[];
  /** Minutes within which all of them are told, in the time of the daemons. */
  readonly within: number;
}

const MB = 1_048_576;
const HEALTHY_BYTES = 3 * 1_024 * MB;
const AWAY = { status: 503, body: { status: 'error', message: 'maintenance' } } as const;
const REVOKED = {
  status: 401,
  body: { status: 'error', category: 'INVALID_AUTHENTICATION', message: 'Authentication credentials not found.' },
} as const;

const hasOne = ({ daemons }: Installation) => (daemons.length > 1 ? undefined : 'there is one daemon');
const hasRoles = ({ form }: Installation) => (form === 'roles' ? undefined : 'every daemon has the role');

const daemonNamed = ({ daemons }: Installation, name: string) => daemons.find((daemon) => daemon.name === name);

export const FAULTS: readonly FaultCase[] = [
  {
    name: 'store stopped',
    begin: ({ store }) => store.stop(),
    end: ({ store }) => store.start(),
    rules: ['CvrsyncStoreDown', 'CvrsyncWebhooksRefused'],
    says: [/store/u],
    within: 6,
  },
  {
    name: 'a daemon gone',
    cannot: (at) => hasOne(at) ?? (at.form === 'roles' ? 'see sync gone' : undefined),
    begin: ({ daemons }) => daemons.at(-1)?.end('SIGKILL'),
    end: ({ daemons }) => daemons.at(-1)?.startAgain(),
    rules: ['CvrsyncDown'],
    says: [],
    within: 7,
  },
  {
    name: 'sync gone',
    cannot: hasRoles,
    begin: (at) => daemonNamed(at, 'sync')?.end('SIGKILL'),
    end: (at) => daemonNamed(at, 'sync')?.startAgain(),
    rules: ['CvrsyncDown', 'CvrsyncRoleMissing', 'CvrsyncWorkStandsStill'],
    says: [/No running daemon has the role sync/u],
    within: 30,
  },
  {
    name: 'CRM down',
    begin: ({ crm }) => {
      crm.answer = AWAY;
    },
    end: ({ crm }) => {
      crm.answer = undefined;
    },
    rules: ['CvrsyncWorkStandsStill'],
    says: [],
    within: 35,
  },
  {
    name: 'token revoked',
    begin: ({ crm }) => {
      crm.answer = REVOKED;
    },
    end: ({ crm }) => {
      crm.answer = undefined;
    },
    rules: ['CvrsyncAccountPaused'],
    mayFire: ['CvrsyncWorkStandsStill'],
    says: [/does not accept the credentials/u],
    within: 75,
  },
  {
    name: 'disk full',
    cannot: ({ engine, disk }) =>
      engine === 'postgres'
        ? 'the disk is that of the database'
        : disk === undefined
          ? 'no disk of its own'
          : undefined,
    begin: ({ disk }) => disk?.leave(200 * MB),
    end: ({ disk }) => disk?.leave(HEALTHY_BYTES),
    rules: ['CvrsyncDiskFills', 'CvrsyncWebhooksRefused'],
    says: [/disk of the store is almost full/u],
    within: 15,
  },
  {
    name: 'webhook wrong',
    begin: ({ traffic }) => {
      traffic.secret = 'another-secret-than-the-receiver';
    },
    end: ({ traffic }) => {
      traffic.secret = 'a-secret-of-this-run-alone-0123456789';
    },
    rules: ['CvrsyncWebhooksRefused'],
    says: [],
    within: 15,
  },
  {
    name: 'register behind',
    cannot: ({ register }) => (register === undefined ? 'it runs no service' : undefined),
    begin: ({ register }) => {
      if (register !== undefined) register.answer = AWAY;
    },
    end: ({ register }) => {
      if (register !== undefined) register.answer = undefined;
    },
    rules: ['CvrsyncRegisterBehind', 'CvrsyncWorkStandsStill'],
    says: [/cannot read the source/u],
    within: 80,
  },
  {
    name: 'upstream away',
    cannot: ({ upstream }) => (upstream === undefined ? 'it has its own service' : undefined),
    async begin(at) {
      if (at.upstream !== undefined) at.upstream.answer = 'cut';
      await at.link();
    },
    end: ({ upstream }) => {
      if (upstream !== undefined) upstream.answer = undefined;
    },
    rules: ['CvrsyncWorkStandsStill'],
    says: [],
    within: 35,
  },
];
