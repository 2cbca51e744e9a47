/** How long to keep each kind of data, in days. */
export interface Retention {
  readonly bodies: number;
  /** Applied webhooks: how long a repeated one is recognised. */
  readonly receipts: number;
  /** Decisions, notes, and knowledge of companies and records without a link. */
  readonly decisions: number;
  readonly runs: number;
  readonly audit: number;
  readonly changes: number;
  readonly mails: number;
  readonly deliveries: number;
  readonly news?: number;
}

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

/** Data from before this time is deleted. */
export const cutoffOf = (now: number, days: number): number => now - days * DAY_MS;
