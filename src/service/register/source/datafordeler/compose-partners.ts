/** Composes the fully liable partners of a company, as `deltagerRelation` has them. */
import type { JsonObject } from '../../../../protocol/text/json.ts';
import { text, whole } from '../../document/fields.ts';
import { cvrIn, type DafRow, orderOf, registeredAt, standing, type UnitRows, unitIdOf } from './rows.ts';
import { sorted } from './sorted.ts';

const rowsById = (rows: readonly DafRow[] = []): ReadonlyMap<string | null, readonly DafRow[]> =>
  Map.groupBy(standing(rows), unitIdOf);

/** A partner: number and name of a company, but only the unit number of a person. */
function participantOf(
  id: string,
  unit: DafRow,
  names: readonly DafRow[],
  periodOf: (row: DafRow) => JsonObject,
): JsonObject {
  const isCompany = text(unit['enhedsType'])?.toLowerCase() === 'virksomhed';
  const main = isCompany ? names.filter((row) => orderOf(row) === 0) : [];
  return {
    enhedsNummer: whole(id) ?? id,
    enhedstype: isCompany ? 'VIRKSOMHED' : 'PERSON',
    forretningsnoegle: isCompany ? whole(cvrIn(unit['forretningsnoegle'])) : null,
    navne: sorted(main.map((row) => ({ navn: text(row['vaerdi']), periode: periodOf(row), sidstOpdateret: null }))),
  };
}

/** Undefined if the relations are unknown. An unknown partner is null, as in the register's own documents. */
export function partnersOf(
  { FuldtAnsvarligDeltagerRelation: relations, partners, partnerNames }: UnitRows,
  periodOf: (row: DafRow) => JsonObject,
): readonly JsonObject[] | undefined {
  if (relations === undefined) return undefined;
  const units = rowsById(partners);
  const names = rowsById(partnerNames);
  const byPartner = Map.groupBy(standing(relations), ({ deltagendeEnhedsId }) => text(deltagendeEnhedsId) ?? '');
  return [...byPartner]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, rows]) => {
      const [unit] = units.get(id) ?? [];
      const entries = rows.map((row) => ({
        navn: 'Interessenter',
        periode: periodOf(row),
        sidstOpdateret: registeredAt(row),
      }));
      return {
        deltager: unit === undefined ? null : participantOf(id, unit, names.get(id) ?? [], periodOf),
        organisationer: [
          {
            hovedtype: 'FULDT_ANSVARLIG_DELTAGERE',
            organisationsNavn: sorted(entries),
            attributter: [],
            medlemsData: [],
          },
        ],
      };
    });
}
