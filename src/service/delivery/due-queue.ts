/** The due deliveries of one monitor that were found and not begun. */
import type { Db } from '../../store/store.ts';
import type { DeliveryBodies, DeliveryBody } from './bodies.ts';
import { dueHeads, type Head } from './due.ts';
import type { Slots } from './limits/slots.ts';

export interface DueDelivery {
  readonly head: Head;
  /** Undefined where the change is no longer there. */
  readonly body: DeliveryBody | undefined;
}

export interface DueQueue {
  /** Takes the delivery that waited longest; undefined where none waits. */
  next(): DueDelivery | undefined;
  readonly isEmpty: boolean;
  /** Whether there may be due deliveries that were not looked up. */
  readonly mayHaveMore: boolean;
  /** Says that there may be more. */
  expectMore(): void;
  /** Looks deliveries up, but for companies that are busy now. The queue must be empty. */
  refill(busy: ReadonlySet<string>): Promise<void>;
}

export interface DueQueueDeps {
  readonly db: Db;
  readonly now: () => number;
  readonly bodies: DeliveryBodies;
  /** Places of looks at the store: ten thousand at once would wait for a connection until that fails. */
  readonly looks: Slots;
}

/** Deliveries that are looked up at once. */
const PAGE = 256;

export function createDueQueue({ db, now, bodies, looks }: DueQueueDeps, monitor: string): DueQueue {
  let waiting: DueDelivery[] = [];
  let mayHaveMore = true;

  return {
    next: () => waiting.shift(),
    get isEmpty() {
      return waiting.length === 0;
    },
    get mayHaveMore() {
      return mayHaveMore;
    },
    expectMore() {
      mayHaveMore = true;
    },
    async refill(busy) {
      mayHaveMore = false;
      // What ends meanwhile may still seem due to this look: it is left to the next.
      const before = new Set(busy);
      const asked = before.size + PAGE;
      await looks.take();
      try {
        const heads = await dueHeads(db, monitor, now(), asked);
        if (heads.length === asked) mayHaveMore = true;
        const fresh = heads.filter(({ entity }) => !before.has(entity));
        const loaded = await bodies.load(db, fresh);
        waiting = fresh.map((head, at) => ({ head, body: loaded[at] }));
      } finally {
        looks.give();
      }
    },
  };
}
