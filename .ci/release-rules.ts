/** What a release must fulfil, decided from texts: its version, its changelog, the licences of what it brings along. */

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-rc\.(0|[1-9]\d*))?$/;

/** The numbers of a version in order of weight; a version without `-rc` weighs more than its candidates. */
function numbersOf(version: string): readonly number[] | undefined {
  const match = VERSION.exec(version);
  return match?.slice(1).map((part) => (part === undefined ? Number.POSITIVE_INFINITY : Number(part)));
}

/** Why this version can not follow the present one; nothing where it can. */
export function versionProblems(next: string, present: string): readonly string[] {
  const [to, from] = [numbersOf(next), numbersOf(present)];
  if (to === undefined) return [`${next} is no version: write 1.2.3 or 1.2.3-rc.1`];
  if (from === undefined) return [`package.json: ${present} is no version`];
  const at = to.findIndex((number, index) => number !== from[index]);
  return at >= 0 && Number(to[at]) > Number(from[at]) ? [] : [`${next} is not greater than the present ${present}`];
}

const isDay = (text: string): boolean => {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

/** What the changelog lacks for the release of a version. */
export function changelogProblems(changelog: string, version: string): readonly string[] {
  const sections = changelog.split(/^## /mu).slice(1);
  const entriesOf = (section: string | undefined): readonly string[] =>
    (section ?? '')
      .split('\n')
      .slice(1)
      .filter((line) => line.trim() !== '' && !line.startsWith('#') && !line.startsWith('['));
  const own = sections.find((section) => section.startsWith(`[${version}]`));
  const date = /^\[[^\]]+\] - (\d{4}-\d\d-\d\d)\n/u.exec(`${own ?? ''}\n`)?.[1];
  const left = entriesOf(sections.find((section) => section.startsWith('[Unreleased]'))).length;
  return [
    ...(date === undefined || !isDay(date) ? [`CHANGELOG.md: add the heading "## [${version}] - YYYY-MM-DD"`] : []),
    ...(own !== undefined && entriesOf(own).length === 0 ? [`CHANGELOG.md: nothing stands under ${version}`] : []),
    ...(left > 0 ? [`CHANGELOG.md: move the ${left} lines under Unreleased below the heading of ${version}`] : []),
  ];
}

/** A package that a release brings along, as npm's lock file or the build states it. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; undefined where the package states none. */
  readonly licence: string | undefined;
}

/** Licences that ask for no more than to be named. */
const ALLOWED = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 Python-2.0 Unlicense'.split(' '),
);

/** Whether an SPDX expression leaves us a licence that we take: one side of an `OR`, both sides of an `AND`. */
export function isLicenceAllowed(expression: string): boolean {
  const inner = /^\(([^()]*)\)$/u.exec(expression.trim())?.[1] ?? expression.trim();
  // `AND` binds tighter than `OR`. What is nested deeper is in no list, and so refused: a person reads it.
  return inner.split(' OR ').some((side) => side.split(' AND ').every((one) => ALLOWED.has(one.trim())));
}

/** The packages whose licence we do not take, or do not know. */
export const licenceProblems = (packages: readonly ShippedPackage[]): readonly string[] =>
  packages
    .filter(({ licence }) => licence === undefined || !isLicenceAllowed(licence))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence stated'}`);

/** The packages that the build took into its files, from the heading of each in the list of licences it writes. */
export const bundledIn = (licences: string): readonly ShippedPackage[] =>
  [...licences.matchAll(/^(\S+) (\d+\.\d+\.\d+\S*) \(([^\n]+)\)$/gmu)].map(([, name = '', version = '', licence]) => ({
    name,
    version,
    licence,
  }));

/** A bill of materials, as far as it is read here. */
interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly { readonly 'bom-ref': string; readonly properties?: readonly object[] }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const refOf = ({ name, version }: ShippedPackage): string => `${name}@${version}`;

/**
 * npm's bill of materials (CycloneDX) of every package, left with those that are shipped, under the package's own name, which npm
 * takes from the folder. npm's own `--omit dev` also leaves out what a package of development needs too: half of what is shipped.
 */
export function billOf(text: string, root: ShippedPackage, shipped: readonly ShippedPackage[]): string {
  const { metadata, components, dependencies, ...rest }: Bill = JSON.parse(text);
  const refs = new Set(shipped.map(refOf));
  const kept = components.filter((one) => refs.has(one['bom-ref']));
  const listed = new Set(kept.map((one) => one['bom-ref']));
  const absent = [...refs].filter((ref) => !listed.has(ref));
  if (absent.length > 0) throw new Error(`npm's bill of materials lacks ${absent.join(', ')}`);
  const complete = {
    ...rest,
    metadata: { ...metadata, component: { ...metadata.component, name: root.name } },
    // Npm says of what the build takes in that it is needed for development alone.
    components: kept.map(({ properties: _, ...one }) => ({ ...one, scope: 'required' })),
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref) || ref === refOf(root))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
  return `${JSON.stringify(complete, null, 2)}\n`;
}
