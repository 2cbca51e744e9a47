/** The connection and the part of its plan that an address names. */
import { PLAN_PARTS, type PlanFilter } from '../../connector/backfill/plan/list-rows.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import { VERDICTS } from '../../connector/follow/verdict.ts';
import type { Visit } from '../page/visit.ts';
import type { RouteDeps } from '../routes/routes.ts';

/** The whole plan. */
export const ALL = 'all';

export interface BackfillPageDeps extends RouteDeps {
  readonly crms: readonly Crm[];
}

/** The connection that an address names; undefined if it is not configured. */
export const crmOf = ({ crms }: Pick<BackfillPageDeps, 'crms'>, { param }: Visit): Crm | undefined =>
  crms.find(({ name }) => name === param('name'));

export const backfillAddress = (name: string, more = ''): string => `/backfill/${encodeURIComponent(name)}${more}`;

const readPlanFilter = (given: (name: string) => string): PlanFilter => ({
  verdict: VERDICTS.find((each) => each === given('verdict')),
  part: PLAN_PARTS.find((each) => each === given('part')),
  text: given('q').trim().slice(0, 200) || undefined,
});

/** A page of a plan: its filter, and the position that it begins after. */
export interface PlanPlace {
  readonly filter: PlanFilter;
  readonly after: number;
  /** Whether each row shows what a link would write, which costs a call to the CRM. */
  readonly withOutlook: boolean;
}

export const readPlace = (given: (name: string) => string): PlanPlace => ({
  filter: readPlanFilter(given),
  after: /^\d{1,15}$/u.test(given('after')) ? Number(given('after')) : 0,
  withOutlook: given('outlook') === 'yes',
});

/** Whether somebody chose a part; if not, the page shows first what needs a person. */
export const isChosen = (given: (name: string) => string): boolean =>
  ['verdict', 'part', 'q', 'after'].some((name) => given(name) !== '');

/** The fields that are not empty. {@link ALL} stays, because somebody chose it. */
export function placeFields({
  filter: { verdict, part, text },
  after,
  withOutlook,
}: PlanPlace): Readonly<Record<string, string>> {
  const isAll = verdict === undefined && text === undefined;
  const fields = {
    verdict,
    part: part ?? (isAll ? ALL : undefined),
    q: text,
    after: after === 0 ? undefined : String(after),
    outlook: withOutlook ? 'yes' : undefined,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [[field, value]])),
  );
}

export function placeAddress(name: string, place: PlanPlace): string {
  const fields = new URLSearchParams(placeFields(place)).toString();
  return backfillAddress(name, fields === '' ? '' : `?${fields}`);
}

export const planAddress = (name: string, filter: PlanFilter): string =>
  placeAddress(name, { filter, after: 0, withOutlook: false });
