/** What people have begun in a world and not ended: leaving a CRM, an undo. */
import type { PropertyValue } from '../../providers/provider.ts';
import type { Selection } from '../../src/connector/undo/writes.ts';
import type { CrmName } from '../support/fixture.ts';
import type { CrmRecord } from './people.ts';

/** Somebody leaves a CRM. `preview`: nothing is changed yet. `left`: it was confirmed. */
export interface Leaving {
  readonly crm: CrmName;
  readonly id: number;
  readonly stage: 'preview' | 'left';
}

/** An undo under way. */
export interface Undoing {
  readonly id: number;
  readonly selection: Selection;
  /** When it was requested: what is written after its preview is left alone. */
  readonly askedAt: number;
  /** What must come of it, once it is confirmed. */
  readonly due: readonly Due[] | undefined;
}

export interface Due {
  readonly record: CrmRecord;
  readonly property: string;
  readonly target: PropertyValue;
  /** How many changes there were then. */
  readonly changes: number;
}
