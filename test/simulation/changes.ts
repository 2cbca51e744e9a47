/** The values of each property of each record in their order, and whether cvrsync wrote them, as the CRMs report. */
import { isDeepStrictEqual } from 'node:util';
import type { CrmEmulator } from '../../providers/kit/emulator/emulator.ts';
import type { PropertyValue } from '../../providers/provider.ts';
import type { Crms } from '../support/fixture.ts';

export interface Change {
  readonly at: number;
  readonly before: PropertyValue;
  readonly after: PropertyValue;
  /** Through the API, so that cvrsync made it. */
  readonly isOurs: boolean;
}

type Values = Readonly<Record<string, PropertyValue>>;

/** The changes of each property of a record, oldest first. */
export type ChangesOf = (id: string) => ReadonlyMap<string, readonly Change[]>;

/** Follows what happens in both CRMs from now on. */
export function followChanges({ hubspot, salesforce }: Crms, now: () => number): ChangesOf {
  const changes = new Map<string, Map<string, Change[]>>();
  const looks = new Map<CrmEmulator, () => void>();
  const lookAll = (crm: CrmEmulator): void => looks.get(crm)?.();
  for (const crm of [hubspot, salesforce]) {
    const held = new Map<string, Values>();
    const look = (id: string, isOurs: boolean): void => {
      const values = crm.get(id);
      const former = held.get(id);
      if (values === undefined) return;
      // An archived property is not shown, and keeps its values.
      held.set(id, { ...former, ...values });
      for (const [property, after] of Object.entries(values)) {
        const before = former?.[property] ?? null;
        if (former === undefined || isDeepStrictEqual(before, after)) continue;
        const own = changes.get(id) ?? new Map<string, Change[]>();
        changes.set(id, own);
        own.set(property, [...(own.get(property) ?? []), { at: now(), before, after, isOurs }]);
      }
    };
    const { add, edit, merge, restore } = crm;
    const seen = (id: string): string => {
      look(id, false);
      return id;
    };
    Object.assign(crm, {
      add: (values: Values) => seen(add(values)),
      edit(id: string, values: Values, by?: string) {
        edit(id, values, by);
        look(id, false);
      },
      merge: (primary: string, other: string) => seen(merge(primary, other)),
      restore(id: string) {
        restore(id);
        look(id, false);
      },
    });
    crm.onWrite = (id) => look(id, true);
    looks.set(crm, () => {
      for (const id of held.keys()) look(id, false);
    });
  }
  // A definition that changes may take values away.
  const { changeProperty } = hubspot;
  hubspot.changeProperty = (options) => {
    changeProperty(options);
    lookAll(hubspot);
  };
  const { changeField } = salesforce;
  salesforce.changeField = (options) => {
    changeField(options);
    lookAll(salesforce);
  };
  return (id) => changes.get(id) ?? new Map();
}

/** What a property held before the last changes that cvrsync made in a row since a time; undefined if there are none. */
export function heldBefore(given: readonly Change[], since: number): Change | undefined {
  const changes = withoutReturns(given);
  const from = changes.findLastIndex(({ isOurs, at }) => !isOurs || at < since) + 1;
  return changes[from];
}

/** Leaves out what people wrote and took back: what stood there before stands there again. */
function withoutReturns(changes: readonly Change[]): readonly Change[] {
  const left: Change[] = [];
  for (const change of changes) {
    left.push(change);
    const first = left.findLastIndex(({ isOurs }) => isOurs) + 1;
    const back = left.findIndex(({ before }, at) => at >= first && before === change.after);
    if (back !== -1) left.length = back;
  }
  return left;
}
