/** The first lines of `explain`: what a record holds and why, before the timeline. Pure. */
import type { PropertyEdit } from '../../../providers/provider.ts';
import type { CurrentRecord } from '../../connector/explain/current.ts';
import type { Timeline, TimelineDecision } from '../../connector/explain/timeline.ts';
import type { RecordRef } from '../../connector/names/queues.ts';
import { ago, shownTime } from '../cli/when.ts';

export interface ExplainedRecord extends RecordRef {
  readonly current: CurrentRecord;
  /** Who changed the differing properties, oldest first; empty if the CRM does not say. */
  readonly edits: readonly PropertyEdit[];
}

interface Line {
  readonly property: string;
  readonly holds: unknown;
  readonly register: unknown;
  readonly seq: number;
  readonly rule: string;
  readonly detail: string | undefined;
}

interface Meaning {
  readonly means: string;
  /** What a person may do, as a command without the record and the property. */
  readonly todo: string;
}

const WRITES = 'nothing: cvrsync writes it with the next event';
const MEANINGS: Readonly<Record<string, Meaning>> = {
  same: { means: "the CRM holds the register's value", todo: 'nothing' },
  stored: { means: 'the CRM holds what it made of the value', todo: 'nothing' },
  held: { means: 'a hold stops writes to the property', todo: 'to end the hold: cvrsync hold RECORD PROPERTY --clear' },
  never: { means: 'the policy of the property is never', todo: 'nothing' },
  released: { means: 'a release lets the register win', todo: WRITES },
  blank: { means: 'the CRM holds nothing', todo: WRITES },
  always: { means: 'the policy of the property is always', todo: WRITES },
  ours: { means: 'the CRM holds what cvrsync wrote last', todo: WRITES },
  register: { means: 'the CRM holds an earlier value of the register', todo: WRITES },
  trusted: { means: 'the link trusts the register once', todo: WRITES },
  returned: { means: "a person's edit that a write went over comes back", todo: WRITES },
  filled: {
    means: 'the policy is if-blank, and the property is filled',
    todo: 'to take the value of the register: cvrsync release RECORD PROPERTY --once',
  },
  edited: {
    means: 'a person changed it, and cvrsync keeps that',
    todo: 'to take the value of the register: cvrsync release RECORD PROPERTY --once; to keep this one for good: cvrsync hold RECORD PROPERTY',
  },
};

/** Rules by which the CRM holds the register's value. */
const AGREES: ReadonlySet<string> = new Set(['same', 'stored']);
const SHOWN = 3;

/** Five lines: the record's value, the register's value, the rule, the last write, and what to do. */
export function answerLines(
  record: ExplainedRecord,
  timeline: Timeline,
  property: string | undefined,
): readonly string[] {
  const name = `${record.provider}:${record.recordId}`;
  const own = timeline.history.filter((each) => each.provider === record.provider && each.record === record.recordId);
  const lines = linesOf(record.current, own);
  const wanted = property === undefined ? lines.filter(({ rule }) => !AGREES.has(rule)) : lines.filter(isOf(property));
  const parts = {
    'Holds now': holdsText(record.current, lines, wanted, property),
    Register: registerText(timeline, wanted, property),
    Rule: ruleText(wanted, property),
    'Last write': writeText(record, own, property),
    'What to do': todoText(name, record.current, wanted, property),
  };
  return Object.entries(parts).map(([label, text]) => `${label.padEnd(12)}${text}`);
}

const isOf =
  (name: string) =>
  ({ property }: { readonly property: string | null }): boolean =>
    property?.toLowerCase() === name.toLowerCase();

/** The current decisions; if the CRM did not answer, the last stored ones. */
function linesOf(current: CurrentRecord, own: readonly TimelineDecision[]): readonly Line[] {
  if (current.kind === 'compared')
    return current.planned.map(({ property, old, now, seq, rule, detail }) => ({
      ...{ property, holds: old, register: now, seq, rule },
      detail: detail ?? undefined,
    }));
  const last = new Map(own.flatMap((each) => (each.property === null ? [] : [[each.property, each]])));
  return [...last].map(([property, each]) => {
    const isWritten = each.outcome === 'written';
    return {
      ...{ property, holds: isWritten ? each.new : each.old, register: each.new, seq: each.seq },
      rule: isWritten ? 'same' : each.rule,
      detail: each.detail ?? undefined,
    };
  });
}

function holdsText(
  current: CurrentRecord,
  lines: readonly Line[],
  wanted: readonly Line[],
  property: string | undefined,
): string {
  switch (current.kind) {
    case 'compared':
      break;
    case 'silent':
      return `not known, because the CRM could not be asked (${current.reason}). From the store: ${heldText(lines, wanted, property)}`;
    case 'contested':
      return `cvrsync writes nothing: ${current.reason}`;
    default:
      return NOT_COMPARED[current.kind];
  }
  return heldText(lines, wanted, property);
}

const NOT_COMPARED = {
  hold: 'cvrsync leaves it alone, because its hold property in the CRM is set',
  gone: 'the record was deleted in the CRM',
  moved: 'the record was merged into another one',
  unlinked: 'the link of the record is not active: cvrsync does not read it',
} as const;

function heldText(lines: readonly Line[], wanted: readonly Line[], property: string | undefined): string {
  if (property !== undefined)
    return wanted.map(({ holds }) => shownValue(holds)).join(', ') || 'nothing is known of it';
  if (lines.length === 0) return 'nothing is known of it';
  const alike = `${lines.length - wanted.length} of ${lines.length} properties hold the register's value`;
  return wanted.length === 0 ? alike : `${alike}; others: ${some(wanted, ({ holds }) => shownValue(holds))}`;
}

const some = (lines: readonly Line[], text: (line: Line) => string): string =>
  [
    ...lines.slice(0, SHOWN).map((line) => `${line.property} ${text(line)}`),
    ...(lines.length > SHOWN ? [`and ${lines.length - SHOWN} more`] : []),
  ].join(', ');

function registerText({ facts }: Timeline, wanted: readonly Line[], property: string | undefined): string {
  const from = (seq: number): string => (seq > 0 ? ` (event ${seq})` : '');
  if (property !== undefined)
    return wanted.map(({ register, seq }) => `${shownValue(register)}${from(seq)}`).join(', ') || 'nothing is known';
  if (wanted.length > 0) return some(wanted, ({ register }) => shownValue(register));
  const newest = facts.toSorted((a, b) => b.seq - a.seq)[0];
  return newest === undefined ? 'nothing is known' : `${facts.length} facts, the newest of event ${newest.seq}`;
}

function ruleText(wanted: readonly Line[], property: string | undefined): string {
  const meant = ({ rule, detail }: Line): string => `${rule}: ${MEANINGS[rule]?.means ?? detail ?? 'see below'}`;
  if (property !== undefined) return wanted.map(meant).join('; ') || 'no decision';
  if (wanted.length === 0) return "same: the CRM holds the register's values";
  const groups = Map.groupBy(wanted, ({ rule }) => rule);
  return [...groups].map(([rule, alike]) => `${rule}: ${alike.map((each) => each.property).join(', ')}`).join('; ');
}

/** What cvrsync wrote last, and who changed it since, if the CRM says so. */
function writeText({ edits }: ExplainedRecord, own: readonly TimelineDecision[], property: string | undefined): string {
  const isWanted = property === undefined ? () => true : isOf(property);
  const now = Date.now();
  const write = own.findLast((each) => each.outcome === 'written' && isWanted(each));
  const event = write !== undefined && write.seq > 0 ? ` by event ${write.seq}` : '';
  const ours =
    write === undefined
      ? 'cvrsync wrote nothing'
      : `cvrsync wrote ${property === undefined ? `${write.property} ` : ''}${shownValue(write.new)} ${ago(write.at, now)}, at ${shownTime(write.at)}${event}`;
  const edit = editSince(edits.filter(isWanted), write?.at ?? 0);
  if (edit === undefined) return ours;
  const what = edit.value === undefined ? 'the record' : `${edit.property} to ${shownValue(edit.value)}`;
  return `${edit.by} changed ${what} ${ago(edit.at, now)}, at ${shownTime(edit.at)}; before that ${ours}`;
}

/** Salesforce has times in whole seconds. */
const SECOND_MS = 1_000;

/** The newest edit by somebody else after cvrsync's last write; in the order of the CRM, if that shows both. */
function editSince(edits: readonly PropertyEdit[], writtenAt: number): PropertyEdit | undefined {
  const lastOwn = edits.findLastIndex(({ own }) => own);
  const edit = edits.slice(lastOwn + 1).at(-1);
  const isLater = edit !== undefined && (lastOwn >= 0 || edit.at >= writtenAt - (writtenAt % SECOND_MS));
  return isLater ? edit : undefined;
}

function todoText(name: string, current: CurrentRecord, wanted: readonly Line[], property: string | undefined): string {
  if (current.kind === 'contested') return 'see cvrsync review list';
  if (current.kind === 'hold') return 'clear the hold property in the CRM';
  if (current.kind === 'silent') return `try again once the CRM answers; ${todoOf(name, wanted, property)}`;
  if (current.kind !== 'compared') return `see cvrsync links --record ${name.slice(name.indexOf(':') + 1)}`;
  return todoOf(name, wanted, property);
}

function todoOf(name: string, wanted: readonly Line[], property: string | undefined): string {
  const [first] = wanted;
  if (first === undefined) return 'nothing';
  if (property === undefined && wanted.some(({ rule }) => MEANINGS[rule]?.todo !== WRITES))
    return `for each property: cvrsync explain ${name} PROPERTY, such as ${first.property}`;
  const todo = MEANINGS[first.rule]?.todo ?? 'remove the reason; cvrsync review retry then tries again';
  return todo.replaceAll('RECORD PROPERTY', `${name} ${first.property}`);
}

const LONGEST = 80;

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'blank';
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
