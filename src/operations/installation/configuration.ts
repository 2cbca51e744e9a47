/**
 * Operations on the accepted configuration: show changes that wait, accept them, list former versions, return to one.
 */
import Type, { type Static } from 'typebox';
import type { Crm } from '../../connector/crm/crm.ts';
import { type RulePreview, totalsOf } from '../../connector/proposals/preview.ts';
import {
  acceptProposal,
  auditOf,
  endRollback,
  findProposals,
  previewProposal,
  proposeVersion,
  type RuleProposal,
} from '../../connector/proposals/proposals.ts';
import type { NamedRules } from '../../connector/rules/rules.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import {
  type ConfigParts,
  differingSettings,
  listVersions,
  readVersion,
  type VersionEntry,
} from '../../runtime/config-versions.ts';
import { differingParts, readDaemons } from '../../runtime/daemons.ts';
import { nullable, plainText, timeText } from '../../service/routes/schemas.ts';
import type { Store } from '../../store/store.ts';
import { defineOperation, type Moment, Refused } from '../definition/operation.ts';

/** The configuration as this process last read it. */
export interface ConfigNeeds {
  readonly store: Store;
  readonly configuration: {
    readonly rules: () => readonly NamedRules[];
    readonly parts: () => Promise<ConfigParts>;
    /** Opens a configured connection, to read records. */
    readonly openCrm: (name: string) => Promise<Crm>;
    /** Makes the daemon of this process look at once for what was accepted or proposed. */
    readonly look?: (() => void) | undefined;
  };
  /** Ends the counting. */
  readonly signal?: AbortSignal;
}

/** A proposal with what it would write, or why that could not be counted. */
export interface CountedDiff {
  readonly proposal: RuleProposal;
  readonly preview?: RulePreview;
  readonly trouble?: string;
}

export interface DifferingDaemon {
  readonly name: string;
  /** Such as `connector.providers.hubspot.mapping`. */
  readonly differs: readonly string[];
}

export interface ConfigDiff {
  /** The version in force; undefined before the first start. */
  readonly version: VersionEntry | undefined;
  readonly proposals: readonly CountedDiff[];
  /** Parts of the file that differ from the version, and need no acceptance. */
  readonly settings: readonly string[];
  readonly daemons: readonly DifferingDaemon[];
}

const versionView = Type.Object({
  version: Type.Integer(),
  digest: Type.String(),
  acceptedAt: timeText('When it was accepted'),
  acceptedBy: Type.String({ description: 'A person, or `first start`, `start` if nobody had to be asked' }),
});

const viewOfVersion = ({ id, digest, acceptedAt, acceptedBy }: VersionEntry): Static<typeof versionView> => ({
  ...{ version: id, digest, acceptedBy },
  acceptedAt: new Date(acceptedAt).toISOString(),
});

const connection = plainText('The connection, as the configuration names it', { example: 'hubspot' });
const change = plainText('Names the change, as the difference shows it: another one is refused', {
  example: 'dXqk0cT8yJcXk1oQ3v9zWg',
});
const count = (description: string) => Type.Integer({ description });

const changeView = Type.Object({
  subject: Type.String(),
  before: nullable(Type.String()),
  after: nullable(Type.String()),
});
const previewView = Type.Object({
  linked: count('Linked records of the connection'),
  read: count('Records that were read: all, or an even sample'),
  unread: count('Records that the CRM did not answer for'),
  writes: count('Values that would be written; an estimate if a sample was read'),
  replaced: count('Of these, values that would replace another one'),
  edits: count('Of these, values that people wrote'),
  later: count('Values that later changes would overwrite'),
  isEstimate: Type.Boolean(),
  properties: Type.Array(
    Type.Object({
      property: Type.String(),
      ...{ writes: Type.Integer(), replaced: Type.Integer(), edits: Type.Integer(), later: Type.Integer() },
    }),
  ),
  examples: Type.Array(
    Type.Object({
      ...{ record: Type.String(), entity: Type.String(), property: Type.String() },
      ...{ before: Type.Unknown(), after: Type.Unknown(), isEdit: Type.Boolean() },
    }),
  ),
});

const diffView = Type.Object(
  {
    version: nullable(versionView),
    proposals: Type.Array(
      Type.Object({
        provider: connection,
        change,
        changes: Type.Array(changeView),
        fromVersion: nullable(Type.Integer({ description: 'The version that a rollback proposes' })),
        isSetAside: Type.Boolean({ description: 'A rollback set it aside: nobody is asked about it again' }),
        acceptedAt: timeText('When the rules in force were accepted'),
        acceptedBy: Type.String(),
        preview: nullable(previewView),
        trouble: nullable(Type.String({ description: 'Why the preview could not be counted' })),
      }),
    ),
    settings: Type.Array(Type.String(), {
      description: 'Other parts of the file that differ. They count once a daemon reads the file',
    }),
    daemons: Type.Array(Type.Object({ name: Type.String(), differs: Type.Array(Type.String()) }), {
      description: 'Daemons whose files differ from the accepted configuration',
    }),
  },
  { description: 'What waits to be accepted, and what differs' },
);

const viewOfPreview = (preview: RulePreview): Static<typeof previewView> => {
  const { isAbout, ...totals } = totalsOf(preview);
  const { linked, read, unread, properties, examples } = preview;
  return { linked, read, unread, ...totals, isEstimate: isAbout, properties: [...properties], examples: [...examples] };
};

const viewOfCounted = ({ proposal, preview, trouble }: CountedDiff) => ({
  provider: proposal.name,
  change: proposal.id,
  changes: proposal.changes.map(({ subject, before = null, after = null }) => ({ subject, before, after })),
  fromVersion: proposal.version ?? null,
  isSetAside: proposal.isAside,
  acceptedAt: new Date(proposal.accepted.at).toISOString(),
  acceptedBy: proposal.accepted.by,
  preview: preview === undefined ? null : viewOfPreview(preview),
  trouble: trouble ?? null,
});

export const diffConfig = defineOperation({
  name: 'config.diff',
  role: 'viewer',
  about: 'show what the configuration would change in linked records: values, whose they are, examples; writes nothing',
  input: Type.Object({ provider: Type.Optional(connection) }),
  api: { method: 'GET', path: '/config/diff', operationId: 'diffConfig', status: 200, answer: diffView },
  async read(_db, { provider }, context: ConfigNeeds & Moment) {
    const { store, configuration } = context;
    const found = await findProposals(store.db, configuration.rules());
    const proposals: CountedDiff[] = [];
    for (const proposal of found)
      if (provider === undefined || proposal.name === provider) proposals.push(await countOne(context, proposal));
    return { value: { ...(await differencesOf(context)), proposals } satisfies ConfigDiff };
  },
  view: ({ version, proposals, settings, daemons }: ConfigDiff): Static<typeof diffView> => ({
    version: version === undefined ? null : viewOfVersion(version),
    proposals: proposals.map(viewOfCounted),
    settings: [...settings],
    daemons: daemons.map(({ name, differs }) => ({ name, differs: [...differs] })),
  }),
});

async function countOne(
  { store, configuration, now, signal = AbortSignal.timeout(COUNT_MS) }: ConfigNeeds & Moment,
  proposal: RuleProposal,
): Promise<CountedDiff> {
  try {
    const open = () => configuration.openCrm(proposal.name);
    return { proposal, preview: await previewProposal({ store, now: () => now }, open, proposal, signal) };
  } catch (error) {
    return { proposal, trouble: errorText(error) };
  }
}

/** The longest counting of one request. */
const COUNT_MS = 60_000;

/** The differences that are not proposals. */
export async function differencesOf({
  store: { db },
  configuration,
  now,
}: ConfigNeeds & Pick<Moment, 'now'>): Promise<Omit<ConfigDiff, 'proposals'>> {
  const version = await readVersion(db);
  if (version === undefined) return { version, settings: [], daemons: [] };
  const daemons = (await readDaemons(db, now)).map(({ name, digests }) => {
    return { name, differs: differingParts(version.digests, digests) };
  });
  return {
    version,
    settings: differingSettings(version.digests, (await configuration.parts()).digests),
    daemons: daemons.filter(({ differs }) => differs.length > 0),
  };
}

export const listConfigVersions = defineOperation({
  name: 'config.history',
  role: 'viewer',
  about: 'list the versions of the accepted configuration, the newest first',
  input: Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'How many versions to list' }),
    before: Type.Optional(Type.Integer({ minimum: 1, description: 'Only versions before this one', examples: [4] })),
  }),
  api: {
    method: 'GET',
    path: '/config/versions',
    operationId: 'listConfigVersions',
    status: 200,
    answer: Type.Array(versionView, { description: 'The versions' }),
  },
  read: async (db, page) => ({ value: await listVersions(db, page) }),
  view: (versions: readonly VersionEntry[]) => versions.map(viewOfVersion),
});

const lookAtOnce = ({ configuration }: ConfigNeeds): void => configuration.look?.();

export const applyConfig = defineOperation({
  name: 'config.apply',
  role: 'admin',
  about: 'accept what the configuration changes in how linked records are decided, after a preview',
  more: 'All daemons of the store decide by it within seconds, and decide all linked records again.',
  input: Type.Object({ provider: connection, change: Type.Optional(change) }),
  api: {
    method: 'POST',
    path: '/config/apply',
    operationId: 'applyConfig',
    status: 200,
    answer: Type.Object({ provider: connection, change }, { description: 'The change is accepted' }),
    examples: [{ provider: 'hubspot' }],
    refusals: { 404: 'Nothing waits for this connection', 409: 'The change is another one by now' },
  },
  committed: lookAtOnce,
  async change(tx, { provider, change: seen }, { configuration, now, actor }: ConfigNeeds & Moment) {
    const file = configuration.rules();
    if ((await findProposals(tx, file)).every(({ name }) => name !== provider))
      throw new Refused('unknown', `there is no change of ${provider} to accept`);
    const accepted = await acceptProposal(tx, file, { name: provider, seen, by: actor.name }, now);
    if (accepted === undefined) throw new Refused('conflict', `the configuration of ${provider} changed meanwhile`);
    const { action: _, ...audit } = auditOf(accepted);
    return { value: { provider, change: accepted.id }, audit };
  },
});

export interface Rollback {
  readonly version: number;
  /** Connections whose rules it would change. */
  readonly providers: readonly string[];
  /** Other parts in which the versions differ: only the file can change them. */
  readonly settings: readonly string[];
}

export const rollbackConfig = defineOperation({
  name: 'config.rollback',
  role: 'admin',
  about: 'propose a former version of the accepted configuration; the version in force withdraws the proposal',
  more: 'Nothing is written before `config.apply` accepts it. The file stays as it is, and is set aside once the version is accepted.',
  input: Type.Object({ version: Type.Integer({ minimum: 1, description: 'The version, as the history lists it' }) }),
  api: {
    method: 'POST',
    path: '/config/rollback',
    operationId: 'rollbackConfig',
    status: 200,
    answer: Type.Object(
      { version: Type.Integer(), providers: Type.Array(connection), settings: Type.Array(Type.String()) },
      { description: 'What the version would change' },
    ),
    examples: [{ version: 3 }],
    refusals: { 404: 'There is no such version', 409: 'The version changes nothing that can be proposed' },
  },
  committed: lookAtOnce,
  async change(tx, { version }, { configuration, now }: ConfigNeeds & Moment) {
    const [head, former] = [await readVersion(tx), await readVersion(tx, version)];
    if (head === undefined || former === undefined)
      throw new Refused('unknown', 'there is no version with this number');
    await endRollback(tx);
    const audit = { subject: String(version), result: version === head.id ? 'withdrawn' : 'proposed' };
    if (version === head.id) return { value: { version, providers: [], settings: [] } satisfies Rollback, audit };
    await proposeVersion(tx, version, now);
    const proposals = await findProposals(tx, configuration.rules());
    const providers = proposals.filter((each) => each.version === version).map(({ name }) => name);
    const settings = differingSettings(head.digests, former.digests);
    if (providers.length === 0)
      throw new Refused('conflict', `version ${version} decides linked records as the version in force does`);
    return { value: { version, providers, settings } satisfies Rollback, audit: { ...audit, detail: { providers } } };
  },
});
