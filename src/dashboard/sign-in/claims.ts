/** What an issuer says of somebody, and what follows for the dashboard. Pure. */
import { ROLES, type Role } from '../../runtime/operators/operators.ts';
import type { IssuerSubject } from '../../runtime/operators/sign-on.ts';

/** What an issuer says of a person: its answers are not ours, so nothing is known of the values. */
export type Claims = Readonly<Record<string, unknown>>;

/** Which values of which claim give which role. */
export interface RoleMapping {
  readonly roleClaim: string;
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
}

/** The texts of the claim that says what a person may do. */
export function roleValuesOf(claims: Claims, { roleClaim }: Pick<RoleMapping, 'roleClaim'>): readonly string[] {
  const value = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : undefined;
  return [value].flat().filter((each) => typeof each === 'string');
}

/** The highest role that the claims give; undefined if they give none. */
export function roleOf(claims: Claims, mapping: RoleMapping): Role | undefined {
  const values = roleValuesOf(claims, mapping);
  return ROLES.findLast((role) => mapping.roles[role]?.some((value) => values.includes(value)));
}

/** Who a person is: by issuer and subject, called by their mail address if the issuer does not call it unproven. */
export function subjectOf(issuer: string, claims: Claims): IssuerSubject {
  const { sub, email, email_verified: isVerified = true } = claims;
  const subject = `${issuer} ${String(sub)}`;
  // Some issuers send texts.
  const isProven = String(isVerified).toLowerCase() === 'true';
  const name = typeof email === 'string' && email !== '' && isProven ? email : String(sub);
  return { subject, name };
}
