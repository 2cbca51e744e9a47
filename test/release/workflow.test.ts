/** The workflows: what they run exists, each job may do no more than it needs, and a release publishes what was checked. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDoc } from '../support/docs.ts';

const PATH = '.github/workflows/release.yaml';
const TEXT = readDoc(PATH);

interface WorkflowStep {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface WorkflowJob {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly WorkflowStep[];
}

const workflow = parse(TEXT);
const jobs: Readonly<Record<string, WorkflowJob>> = workflow.jobs;
const steps = Object.values(jobs).flatMap((job) => job.steps);
const commands = steps.flatMap(({ run }) => run ?? []);

/** The scripts of package.json that these command lines run. */
const scriptsOf = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) =>
    [...line.matchAll(/npm (?:run (\S+)|(test)\b)/g)].map(([, script, test]) => script ?? test ?? ''),
  );

describe('the workflow of a release', () => {
  it('starts on the tags that a release makes, and on nothing else', () => {
    expect(Object.keys(workflow.on)).toEqual(['push']);
    expect(Object.keys(workflow.on.push)).toEqual(['tags']);
    // The pattern language of tags, as far as it is used here: `+` repeats, all else but the dot is as in an expression.
    const patterns = workflow.on.push.tags.map((tag: string) => new RegExp(`^${tag.replaceAll('.', '\\.')}$`));
    const starts = (tag: string): boolean => patterns.some((pattern: RegExp) => pattern.test(tag));
    expect(['v1.2.3', 'v10.0.0-rc.1', 'v1.2', '1.2.3', 'v1.2.3-beta'].map(starts)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('may do nothing by itself; each job says what it writes', () => {
    expect(workflow.permissions).toEqual({});
    const written = Object.entries(jobs).map(([name, { permissions }]) => [
      name,
      Object.keys(permissions).filter((key) => permissions[key] === 'write'),
    ]);
    expect(written).toEqual([
      ['check', []],
      ['package', ['id-token']],
      ['image', ['packages', 'id-token', 'attestations']],
    ]);
  });

  it('ends each job in time, and publishes only what was checked', () => {
    for (const [name, job] of Object.entries(jobs)) {
      expect(job['timeout-minutes'], name).toBeLessThanOrEqual(60);
      expect(job.needs, name).toBe(name === 'check' ? undefined : 'check');
    }
  });

  it('checks the package, the code and the tests before it publishes', () => {
    expect(scriptsOf(commands)).toEqual(['release:check', 'lint', 'types', 'test']);
  });

  it('gives the one secret to the login at the registry alone', () => {
    expect(TEXT.match(/secrets\.\w+/g)).toEqual(['secrets.GITHUB_TOKEN']);
    const holders = steps.filter((step) => JSON.stringify(step).includes('secrets.'));
    expect(holders.map(({ uses }) => uses?.split('@')[0])).toEqual(['docker/login-action']);
  });

  it('publishes both with provenance, and signs the image by its digest', () => {
    expect(commands.filter((command) => command.includes('npm publish --provenance'))).toHaveLength(1);
    const build = steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(build?.with).toMatchObject({ provenance: 'mode=max', sbom: true, push: true });
    expect(build?.with?.['tags']).toContain('steps.version.outputs.number');
    const [, base = ''] = /^ARG BASE=(\S+)$/mu.exec(readDoc('Dockerfile')) ?? [];
    expect(build?.with?.['build-args']).toContain(`BASE=${base}@\${{ steps.base.outputs.digest }}`);
    expect(commands.some((command) => command.includes(`imagetools inspect ${base} `))).toBe(true);
    expect(commands).toContain('cosign sign --yes "$IMAGE@$DIGEST"');
  });

  it('puts no text of an event into a command line', () => {
    expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
  });
});

describe.each(readdirSync(join(import.meta.dirname, '../../.github/workflows')))('the workflow %s', (file) => {
  const text = readDoc(`.github/workflows/${file}`);
  const { permissions, on, jobs: own } = parse(text);
  const all = Object.values<WorkflowJob>(own);

  it('reads at most, unless a job says more; ends in time; and takes no code of strangers with rights', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(permissions);
    for (const job of all) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
    expect(Object.keys(on)).not.toContain('pull_request_target');
    expect(text).not.toContain('github.event.');
  });

  it('runs scripts that exist', () => {
    const { scripts } = JSON.parse(readDoc('package.json'));
    const lines = all.flatMap((job) => job.steps).flatMap(({ run }) => run ?? []);
    expect(scriptsOf(lines).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('pins each action to one version, and keeps no credentials in the checkout', () => {
    const used = all.flatMap((job) => job.steps).filter(({ uses }) => uses !== undefined);
    expect(used.length).toBeGreaterThan(1);
    for (const { uses, with: settings } of used) {
      expect(uses).toMatch(/^[\w-]+(?:\/[\w-]+)+@(?:v\d+\.\d+\.\d+|[0-9a-f]{40})$/);
      if (uses?.startsWith('actions/checkout@')) expect(settings).toEqual({ 'persist-credentials': false });
    }
  });
});

it('the nightly run walks from an empty folder to a CRM of 2,000 companies', () => {
  const { jobs: nightly } = parse(readDoc('.github/workflows/nightly.yaml'));
  const walks = Object.values<WorkflowJob>(nightly).flatMap((job) =>
    job.steps.filter(({ run }) => run?.includes('test/dashboard/setup/walk.test.ts')),
  );
  expect(walks.map(({ run, env }) => [scriptsOf([run ?? '']), env])).toEqual([
    [['test:all'], { CVRSYNC_TEST_WALK: '2000' }],
  ]);
  expect(readDoc('test/dashboard/setup/walk.test.ts')).toContain("process.env['CVRSYNC_TEST_WALK']");
});

it('Dependabot looks after packages, actions and the base of the image', () => {
  const { updates } = parse(readDoc('.github/dependabot.yml'));
  expect(updates.map((one: object) => Object(one)['package-ecosystem'])).toEqual(['npm', 'github-actions', 'docker']);
});
