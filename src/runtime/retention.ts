/** How long a kind of data is kept, in days. */
export interface Retention {
  /** Bodies of applied webhooks. */
  readonly bodies: number;
  /** Applied webhooks: as long a repeated one is recognised. */
  readonly receipts: number;
  /** Decisions, notes, and what is known of companies and records without a link. */
  readonly decisions: number;
  /** What people had the dashboard do. */
  readonly runs: number;
  /** What people and programs did by hand. */
  readonly audit: number;
  /** Changes that are told. */
  readonly changes: number;
  /** Mails that were sent or given up. */
  readonly mails: number;
  /** Deliveries that ended, and attempts. */
  readonly deliveries: number;
  /** For good where absent. */
  readonly news?: number;
}

/** Where the configuration says nothing else. */
export const RETENTION: Retention = {
  bodies: 30,
  receipts: 90,
  decisions: 400,
  runs: 90,
  audit: 400,
  changes: 30,
  mails: 30,
  deliveries: 90,
};

const DAY_MS = 86_400_000;

/** What is older at a moment is no longer kept; both in ms since 1970. */
export const keptFrom = (now: number, days: number): number => now - days * DAY_MS;
