/** The summary of a backfill, for people and for programs. */

import { printWarnings } from '../../connector/backfill/plan/doubts.ts';
import type { PlanRead } from '../../connector/backfill/plan/import-plan.ts';
import type { BackfillOutcome } from '../../connector/backfill/rows/outcome.ts';
import type { BackfillProgress } from '../../connector/backfill/rows/progress.ts';
import type { ScanRow } from '../../connector/backfill/rows/scan-rows.ts';
import { VERDICTS, type Verdict } from '../../connector/follow/verdict.ts';
import type { CallsMade } from './with-backfill.ts';

const MEANING: Readonly<Record<Verdict, string>> = {
  matched: 'the number of a company',
  linked: 'linked already',
  'no-number': 'no number',
  invalid: 'not a valid number',
  unit: 'the number of a production unit',
  ambiguous: 'several records with one number',
  held: 'on hold in the CRM',
  differs: 'linked to a company other than the one its number names',
  removed: 'link removed by a person',
  changed: 'changed since the plan was made',
  moved: 'merged into another record',
  gone: 'deleted in the CRM',
};

export interface Summary {
  readonly provider: string;
  /** `stopped` by a signal; `limited` by `--limit`; both continue at the next start. */
  readonly ended: 'planned' | 'done' | 'limited' | 'stopped';
  /** The property that holds the number. */
  readonly match: string;
  readonly scanned: number;
  readonly outcome: BackfillOutcome;
  readonly calls: CallsMade;
  readonly seconds: number;
  readonly trust: BackfillProgress['trust'];
  /** The command that requests each company in full; absent if this run did that. */
  readonly fill?: string;
  /** A stopped run. */
  readonly run?: number | undefined;
  /** The linked records that were linked before this run. */
  readonly before: number;
  readonly isMonitoring: boolean;
  /** A dry run or a plan, which links nothing. */
  readonly isLook: boolean;
  readonly next: string;
  readonly sample: { readonly link: readonly ScanRow[]; readonly person: readonly ScanRow[] };
  readonly file?: string;
}

/** The rows that need a person: exit code 3. */
export const forAPerson = ({ outcome }: Summary): number => outcome.person + outcome.refused;

export const documentOf = (summary: Summary): object => {
  const { provider, ended, scanned, outcome, calls, seconds, trust, sample, file } = summary;
  const { verdicts, toLink, linked, failed, observed, refused, unconfirmed, mistyped, unsure } = outcome;
  const shown = (row: ScanRow) => ({
    record: row.record_id,
    name: row.name,
    number: row.found,
    entity: row.entity,
    verdict: row.verdict,
    action: row.action,
    note: row.detail,
  });
  return {
    provider,
    ended,
    ...(file !== undefined && { file }),
    scanned,
    verdicts,
    mistyped,
    unsure,
    toLink,
    linked,
    failed,
    observed,
    refused,
    unconfirmed,
    person: forAPerson(summary),
    trust,
    calls,
    seconds,
    sample: { link: sample.link.map(shown), person: sample.person.map(shown) },
  };
};

const number = (value: number): string => value.toLocaleString('en');
const records = (count: number): string => `${number(count)} ${count === 1 ? 'record' : 'records'}`;

export function textOf(summary: Summary): string {
  const { provider, scanned, outcome, sample, ended, calls, seconds } = summary;
  const lines = [
    `${provider}: ${records(scanned)} scanned, ${number(calls.crm)} calls to the CRM, ${number(calls.service)} to the monitoring service, ${number(seconds)} s.`,
    ...(ended === 'stopped' && summary.run !== undefined
      ? [`Run ${summary.run} is not over: cvrsync runs show ${summary.run} shows it, and a daemon continues it, too.`]
      : []),
    ...VERDICTS.flatMap((verdict) => {
      const count = outcome.verdicts[verdict] ?? 0;
      return count === 0 ? [] : [`  ${number(count).padStart(9)}  ${verdict.padEnd(10)} ${MEANING[verdict]}`];
    }),
    ...numbersText(summary),
    ...(ended === 'planned' ? planText(summary) : summary.isLook ? ['Nothing was linked.'] : linksText(summary)),
  ];
  const persons = forAPerson(summary);
  if (persons > 0) {
    lines.push(`${records(persons)} ${persons === 1 ? 'needs' : 'need'} a person:`);
    lines.push(...sample.person.map(rowText));
    const shown = sample.person.length;
    if (outcome.refused > 0)
      lines.push(`  ${number(outcome.refused)} refused by the monitoring service: see cvrsync review`);
    if (outcome.person > shown) lines.push(`  and more: cvrsync backfill ${provider} --plan FILE lists them all`);
  }
  return [...lines, ...nextText(summary)].join('\n');
}

/** The remaining work and its command. It is the last line, because people look there. */
function nextText({ ended, isLook, outcome, file, next }: Summary): readonly string[] {
  switch (ended) {
    case 'planned':
      return file === undefined ? [] : [`The plan is in ${file}: edit the column action, then run ${next}`];
    case 'limited':
      return [`${records(outcome.toLink)} left by --limit. To continue: ${next}`];
    case 'stopped':
      return [`Stopped. To continue: ${next}`];
    default:
      return isLook ? [] : ['Nothing is left to link.'];
  }
}

/** This many are not an accident. */
const MANY = 10;

/** One number in eleven passes by chance: if most fail, the property holds something like phone numbers. */
function numbersText({ provider, scanned, outcome, match }: Summary): readonly string[] {
  const { mistyped, unsure, verdicts } = outcome;
  const asked = `is ${match} the property that holds the CVR number? Set connector.providers.${provider}.match.`;
  if (scanned > 0 && verdicts['no-number'] === scanned) return [`No record has a number: ${asked}`];
  const left =
    unsure === 0
      ? []
      : [
          `${records(unsure)} ${unsure === 1 ? 'is' : 'are'} not linked, because the number may be mistyped or lack a zero: set the action to link in a plan if it is right.`,
        ];
  if (mistyped === 0) return left;
  const whose = mistyped === 1 ? '1 of the matched numbers fails' : `${number(mistyped)} of the matched numbers fail`;
  const failedCheck = `${whose} the register's check (modulus 11): the plan marks those that may be mistyped.`;
  const isMost = mistyped >= MANY && mistyped * 2 > (verdicts.matched ?? 0);
  if (!isMost) return [failedCheck, ...left];
  return [failedCheck, ...left, `That is most of them: ${asked}`];
}

function planText({ outcome, sample, file }: Summary): readonly string[] {
  if (file !== undefined) return [`${records(outcome.toLink)} would be linked.`];
  const rest = outcome.toLink - sample.link.length;
  return [
    `${records(outcome.toLink)} would be linked${sample.link.length > 0 ? ':' : '.'}`,
    ...sample.link.map(rowText),
    ...(rest > 0 ? [`  and ${number(rest)} more`] : []),
  ];
}

function linksText({ ended, outcome, isMonitoring, trust, before, fill }: Summary): readonly string[] {
  const { linked, observed, unconfirmed } = outcome;
  return [
    `${records(linked)} linked${before > 0 ? ` (${number(before)} of them before this run)` : ''}${isMonitoring ? `, ${number(observed)} monitored` : '; no monitoring service is configured'}.`,
    ...(unconfirmed > 0 && isMonitoring && ended !== 'done'
      ? [`${number(unconfirmed)} wait for the monitoring service.`]
      : []),
    ...(ended === 'done' && linked > 0
      ? [
          trust === 'crm'
            ? 'The daemon fills blank properties. Properties that differ stay as they are until a person decides: cvrsync review list --kind difference'
            : 'The daemon fills blank properties, and overwrites each differing property once; cvrsync undo reverses that.',
        ]
      : []),
    ...(ended === 'done' && linked > 0 && isMonitoring && fill !== undefined
      ? [`Without --send-update the service sends a company only at its next change. To send all of them now: ${fill}`]
      : []),
    ...(trust === 'register' && before > 0
      ? [
          'Records that were linked before are not overwritten, because people may have edited them since. To overwrite them: cvrsync review accept --all',
        ]
      : []),
  ];
}

/** A CRM's text may hold line ends, and escape sequences that control the terminal. */
const rowText = ({ record_id: record, name, found, verdict, detail }: ScanRow): string =>
  `  ${record}  ${name ?? ''}  ${found ?? ''}  ${verdict}${detail === null ? '' : `: ${detail}`}`.replaceAll(
    /\p{Cc}+/gu,
    ' ',
  );

/** What a plan file would do, by the scan that made it. */
export function textOfPlan(file: string, { toLink, linked, skipped, warnings, given, repaired }: PlanRead): string {
  const many = printWarnings(warnings, toLink, true);
  return [
    `${file} would link ${records(toLink)} (${number(linked)} of them linked already) and skip ${number(skipped)}. Nothing was linked.`,
    ...printWarnings(warnings, toLink, false).map((warning) => `  ${warning}`),
    ...(repaired > 0 ? [`  ${number(repaired)} lost a leading zero in a spreadsheet; cvrsync restores it`] : []),
    ...(given.length > 0 ? ['Numbers that you changed:'] : []),
    ...given.map((one) => `  ${one.record}: the CRM holds ${one.found || 'none'}, the plan says ${one.number}`),
    ...(many.length > 0 ? ['This many doubtful lines need --yes. Was a column drag-filled, or sorted alone?'] : []),
  ]
    .map((line) => line.replaceAll(/\p{Cc}+/gu, ' '))
    .join('\n');
}
