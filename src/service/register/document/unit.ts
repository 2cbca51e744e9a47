/** A production unit as the service stores it. Plain JSON. */
import type { Address, Industry } from '../../../protocol/formats.ts';
import type { JsonObject } from '../../../protocol/text/json.ts';
import { type AltIndustry, altIndustriesOf, contactOf, protectionOf, SNAPSHOT_FORM } from './company.ts';
import { addressOf, digits, industryOf, text } from './fields.ts';
import { lifeOf } from './life.ts';
import {
  current,
  type DatedValue,
  datedValue,
  type Horizon,
  newest,
  touchedAt,
  type Unread,
  type View,
} from './validity.ts';

export interface Unit {
  readonly kind: 'unit';
  readonly snapshotForm: typeof SNAPSHOT_FORM;
  readonly entity: string;
  readonly name: string;
  readonly registeredAt: string | null;
  readonly loadedAt: string;
  readonly readOn: string;
  /** Its current company, CVR-1-…: a unit can move. */
  readonly company: DatedValue<string | null>;
  readonly names: DatedValue<string | null>;
  readonly address: DatedValue<Address | null>;
  readonly industry: DatedValue<Industry | null>;
  readonly phoneNumber: DatedValue<string | null>;
  readonly fax: DatedValue<string | null>;
  readonly email: DatedValue<string | null>;
  /** These two are absent in older snapshots. */
  readonly altIndustries?: DatedValue<readonly AltIndustry[]>;
  readonly commercialProtection?: DatedValue<boolean | null>;
  readonly unknown?: readonly string[];
  readonly inherited?: readonly string[];
}

/** Parts of a unit with sections of their own. */
export const UNIT_PARTS = [
  'company',
  'names',
  'address',
  'industry',
  'phoneNumber',
  'fax',
  'email',
  'altIndustries',
  'commercialProtection',
] as const;

/** Reads a production unit's document for a day; fills the horizon. */
export const unitOf = (
  document: JsonObject,
  { number, loadedAt, today, horizon }: { number: string; loadedAt: string; today: string; horizon: Horizon },
): { readonly unit: Unit; readonly unread: Unread } => {
  const unread: Unread = new Map();
  const { on } = lifeOf(document, today, { horizon, unread });
  const view: View = { today, on, horizon, unread };
  const owner = current(document['virksomhedsrelation'], { ...view, on: today });
  const named = current(document['navne'], view);
  const entity = `CVR-2-${number}`;
  const unit: Unit = {
    kind: 'unit',
    snapshotForm: SNAPSHOT_FORM,
    entity,
    name: text((named.entry ?? newest(document['navne']))?.['navn']) ?? entity,
    registeredAt: touchedAt(document),
    loadedAt,
    readOn: today,
    company: datedValue(view, 'company', owner, (entry) => {
      const cvr = digits(entry?.['cvrNummer'], 8);
      return cvr === null ? null : `CVR-1-${cvr}`;
    }),
    names: datedValue(view, 'names', named, (entry) => text(entry?.['navn'])),
    address: datedValue(view, 'address', current(document['beliggenhedsadresse'], view), (entry) =>
      addressOf(entry, view),
    ),
    industry: datedValue(view, 'industry', current(document['hovedbranche'], view), (entry) => industryOf(entry, view)),
    phoneNumber: contactOf(document['telefonNummer'], view, 'phoneNumber'),
    fax: contactOf(document['telefaxNummer'], view, 'fax'),
    email: contactOf(document['elektroniskPost'], view, 'email'),
    altIndustries: altIndustriesOf(document, view),
    commercialProtection: { value: protectionOf(document, view), at: touchedAt(document) },
  };
  return { unit, unread };
};
