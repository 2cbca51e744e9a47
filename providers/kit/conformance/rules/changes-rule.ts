/** The rule about the changes that a connection reports. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeHint } from '../../../provider.ts';
import { brief, insist, insistSame } from '../lab/insist.ts';
import { type Lab, live } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { LOOK_MS, patiently, until } from '../lab/until.ts';

const MOST_EDITED = 5;
/** More than a page of most CRMs. */
const MANY = 110;
/** Deleted records may have a separate list, which the connection reads at least once a day. */
const DAY_MS = 86_400_000;

export const CHANGES: ConformanceRule = {
  name: 'changes',
  about:
    'changes reports all records that are new, edited, deleted or merged since a cursor; without one it begins now',
  why: 'without webhooks it is the only way to learn that a linked record was deleted, merged or given a number',
  has: ({ connection }) => connection.changes !== undefined,
  run: async (lab) => {
    const { ids, add, fake, text, subject } = lab;
    const edited = ids.at(-1) ?? '';
    const [deleted, merged] = [add('Soon gone'), add('Soon merged')];
    const follow = await beginning(lab);
    await sleep(LOOK_MS);
    const fresh: string[] = [];
    for (let i = 0; i < MANY; i += 1) fresh.push(add(`Ny ${i}`));
    fake.edit(edited, { [text]: 'Edited' });
    const wanted = [...fresh, edited];
    const isCurrent = (changeHint: ChangeHint | undefined): boolean =>
      changeHint?.kind === 'seen' && changeHint.properties[text] === fake.get(changeHint.id)?.[text];
    const seen = await follow((all) => wanted.every((id) => isCurrent(all.get(id))));
    const missing = wanted.filter((id) => !seen.has(id));
    insist(
      missing.length === 0,
      `of ${wanted.length} new and edited records changes left out ${missing.length}; some were edited between its pages: page by the last record seen, not by position`,
    );
    for (const id of wanted) {
      const changeHint = seen.get(id);
      insist(changeHint?.kind === 'seen', `a new or edited record came as ${brief(changeHint)}`);
      insistSame(changeHint.properties[text], fake.get(id)?.[text], 'the property in a hint');
    }
    fake.remove(deleted);
    const survivor = subject.lacks?.merge === undefined ? fake.merge?.(edited, merged) : undefined;
    const lost = survivor === undefined ? [deleted] : [deleted, merged];
    const isNotified = (all: ReadonlyMap<string, ChangeHint>) => lost.every((id) => isLoss(all.get(id)));
    let changes = await follow(isNotified);
    if (!isNotified(changes)) {
      lab.later(DAY_MS);
      changes = await follow(isNotified);
    }
    insistSame(changes.get(deleted), { kind: 'gone', id: deleted }, 'the change reported for a deleted record');
    if (survivor === undefined) return;
    const last = changes.get(merged);
    const isMoved = last?.kind === 'moved' && last.to === survivor;
    insist(isMoved || last?.kind === 'gone', `the change reported for a merged record: ${brief(last)}`);
  },
};

/** A hint that a linked record is unchanged means that it is alive. */
const isLoss = (changeHint: ChangeHint | undefined): boolean =>
  changeHint?.kind === 'gone' || changeHint?.kind === 'moved';

type Follow = (isWell: (seen: ReadonlyMap<string, ChangeHint>) => boolean) => Promise<ReadonlyMap<string, ChangeHint>>;

/** Follows the changes; each call continues the last one, until everything is reported or the time is up. */
async function beginning(lab: Lab): Promise<Follow> {
  const begun = await look(lab, undefined);
  insist(typeof begun.cursor === 'string' && begun.cursor !== '', 'changes gave no cursor to begin with');
  let { cursor } = begun;
  const seen = new Map<string, ChangeHint>();
  let pages = 0;
  /** People edit while the connection reads pages: edited records move to the end, and pages by position skip some. */
  const editBehind = (changeHints: readonly ChangeHint[]): void => {
    pages += 1;
    if (pages > MOST_EDITED) return;
    for (const { id } of changeHints.slice(0, 3))
      if (lab.fake.get(id) !== undefined) lab.fake.edit(id, { [lab.text]: `Edited ${pages}` });
  };
  const poll = async () => {
    for (;;) {
      const changes = await look(lab, cursor);
      for (const changeHint of changes.changeHints) seen.set(changeHint.id, changeHint);
      const isStill = changes.cursor === cursor;
      cursor = changes.cursor;
      if (!changes.more) return seen;
      editBehind(changes.changeHints);
      insist(!isStill, `changes gave the cursor ${brief(cursor)} twice, and more to come`);
    }
  };
  return (isWell) => until(lab.patienceMs, poll, isWell);
}

async function look({ connection, text }: Lab, cursor: string | undefined) {
  const changes = await patiently(async () => connection.changes?.([text], cursor, live()));
  insist(changes !== undefined, 'changes gave nothing');
  return changes;
}
