/** Properties that a mapping needs and an account lacks: `check` offers and creates them. */
import { FIELDS, KIND_TYPES } from '../../../providers/fields.ts';
import type { Connection, Defined, Property, PropertyDefinition } from '../../../providers/provider.ts';
import type { Finding } from '../../runtime/finding.ts';
import type { MappingToCheck } from './check-mapping.ts';
import type { Crm, CrmDeps } from './crm.ts';
import { readAccount } from './guard.ts';
import { forgetMade, readMade, rememberMaking } from './made-properties.ts';

export interface ToDefine extends MappingToCheck {
  readonly provider: { readonly definitions?: readonly PropertyDefinition[] | undefined };
}

/**
 * Definitions of the properties that the mapping, the match and the hold name and the account lacks. The provider's own
 * definition counts if there is one; otherwise the field decides the type. An optional property without a definition
 * belongs to the CRM, so it is not created. Pure.
 */
export function missingProperties(config: ToDefine, properties: readonly Property[]): readonly PropertyDefinition[] {
  const { definitions } = config.provider;
  const known = new Map((definitions ?? []).map((each) => [each.name, each]));
  const there = new Set(properties.map(({ name }) => name));
  const wanted = new Map<string, PropertyDefinition>();
  const want = (name: string, make: () => PropertyDefinition): void => {
    if (!there.has(name) && !wanted.has(name)) wanted.set(name, known.get(name) ?? make());
  };
  const { match, hold } = config;
  if (match !== undefined) want(match, () => ({ name: match, label: 'CVR number', type: 'string', unique: true }));
  if (hold !== undefined) want(hold, () => ({ name: hold, label: 'CVR hold', type: 'boolean' }));
  for (const { field, property, policy, unless, optional } of config.mapping) {
    if (policy === 'never' || (unless !== undefined && there.has(unless))) continue;
    if (optional === true && definitions !== undefined && !known.has(property)) continue;
    want(property, () => ({
      name: property,
      label: labelOf(FIELDS[field].about),
      type: KIND_TYPES[FIELDS[field].kind],
    }));
  }
  return [...wanted.values()];
}

const labelOf = (about: string): string => `CVR ${about.split(/[,;:(]/u, 1)[0]?.trim() ?? about}`;

/** Empty if nothing is missing, or if the CRM cannot create properties. */
export function offerProperties(
  name: string,
  connection: Connection,
  missing: readonly PropertyDefinition[],
): readonly Finding[] {
  if (missing.length === 0 || connection.defineProperties === undefined) return [];
  return [
    {
      level: 'info',
      subject: `${name} properties`,
      found: `${missing.length} can be created: ${missing.map((each) => each.name).join(', ')}`,
      advice: 'cvrsync check --create-properties creates them',
    },
  ];
}

/** Creates properties, but in no other account than the known one, and remembers which: also those of which a lost answer does not tell. */
export async function makeProperties(
  { store, now }: Pick<CrmDeps, 'store' | 'now'>,
  { name, connection }: Pick<Crm, 'name' | 'connection'>,
  missing: readonly PropertyDefinition[],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (missing.length === 0) return [];
  if (connection.defineProperties === undefined)
    return [
      {
        level: 'warn',
        subject: `${name} properties`,
        found: `${missing.length} are missing, and this provider cannot create any`,
        advice: `create them in the CRM: ${missing.map((each) => each.name).join(', ')}`,
      },
    ];
  const account = (await connection.check(signal)).id;
  const known = await readAccount(store.db, name);
  if (known !== undefined && known !== account)
    return [
      {
        level: 'fail',
        subject: `${name} properties`,
        found: `none was created: the credentials belong to account ${account}, and the links to account ${known}`,
        advice: `correct the credentials, or configure ${account} under another name`,
      },
    ];
  const place = { provider: name, account };
  const before = await readMade(store.db, place);
  const tried = missing.filter((each) => !before.has(each.name));
  await store.write((tx) => rememberMaking(tx, place, new Map(tried.map((each) => [each.name, 'tried'])), now()));
  const defined = await connection.defineProperties(missing, signal);
  const isOurs = (each: Defined): boolean =>
    each.kind === 'created' ? each.hidden !== true : each.kind === 'exists' && before.has(each.name);
  await store.write(async (tx) => {
    await rememberMaking(tx, place, new Map(defined.filter(isOurs).map((each) => [each.name, 'made'])), now());
    const others = defined.filter((each) => !isOurs(each) && before.get(each.name) !== 'made');
    await forgetMade(
      tx,
      place,
      others.map((each) => each.name),
    );
  });
  return defined.map((each): Finding => {
    const subject = `${name} ${each.name}`;
    if (each.hidden === true)
      return { level: 'ok', subject, found: 'was there, hidden from these credentials; they see it now' };
    if (each.kind === 'created') return { level: 'ok', subject, found: 'created' };
    if (each.kind === 'exists')
      return { level: 'warn', subject, found: 'exists, but these credentials do not see it', advice: 'grant it' };
    return { level: 'fail', subject, found: `could not be created: ${each.reason ?? 'the CRM gave no reason'}` };
  });
}
