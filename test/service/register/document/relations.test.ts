import { describe, expect, test } from 'vitest';
import type { RelationBody } from '../../../../src/service/register/document/relations.ts';
import {
  attribute,
  companyOf,
  entry,
  firm,
  type Json,
  name,
  organisation,
  owns,
  person,
  relation,
  role,
  trulyOwns,
  value,
} from '../documents.ts';

const ANNA = person(4_999_000_002, 'Anna Testesen');
const BO = person(4_999_000_003, 'Bo Opdigtsen');
const OWNER = firm(95_000_027, 'Ejer Holding ApS');

const members = (body: RelationBody, deltagerRelation: readonly unknown[], today = '2026-03-10') =>
  companyOf({ deltagerRelation }, today).bodies[body].members.map(({ entityId, share }) =>
    share === null ? entityId : `${entityId} ${share}`,
  );

test('persons are identified by their unit number, companies by their CVR number, whatever else they are called', () => {
  const stranger = person(4_999_000_004, 'Fremmed Ltd.', 'ANDEN_DELTAGER');
  const odd = person(4_999_000_005, 'Ændret Person', 'PERSON MED ÆNDRING');
  const list = [ANNA, OWNER, stranger, odd].map((each) =>
    relation(each, role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND')),
  );
  expect(members('board', list)).toEqual([
    'CVR-1-95000027',
    'CVR-3-4999000002',
    'CVR-3-4999000004',
    'CVR-3-4999000005',
  ]);
});

test('a participant that is null is skipped', () => {
  expect(members('ownership', [relation(null, owns('0.5')), relation(ANNA, owns('0.1'))])).toEqual([
    'CVR-3-4999000002 10-15',
  ]);
});

test('a person whose name has no period has a name', () => {
  const { members: board } = companyOf({
    deltagerRelation: [relation(ANNA, role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND'))],
  }).bodies.board;
  expect(board.map((each) => each.name)).toEqual(['Anna Testesen']);
});

test('a company that changed its name has the latest one', () => {
  const renamed = {
    ...OWNER,
    navne: [name('Ny Holding ApS', '2020-01-01'), name('Gl. Holding ApS', '2010-01-01', '2019-12-31')],
  };
  const { members: owners } = companyOf({ deltagerRelation: [relation(renamed, owns('1.0'))] }).bodies.ownership;
  expect(owners.map((each) => each.name)).toEqual(['Ny Holding ApS']);
});

describe('bodies', () => {
  const cases: readonly [RelationBody, Json][] = [
    ['board', role('LEDELSESORGAN', 'Bestyrelse', 'BESTYRELSESMEDLEM')],
    ['management', role('LEDELSESORGAN', 'Direktion', 'ADM. DIR.')],
    ['accountant', role('REVISION', 'Revision', 'REVISION')],
    ['founders', role('STIFTERE', 'Stiftere', 'STIFTERE')],
    ['stakeholders', role('FULDT_ANSVARLIG_DELTAGERE', 'Interessenter', 'INTERESSENTER')],
  ];
  test.each(cases)('%s is known by the kind and name of its organisation', (body, organised) => {
    expect(members(body, [relation(ANNA, organised)])).toEqual(['CVR-3-4999000002']);
  });

  test('names of organisations are compared without regard to case', () => {
    expect(members('board', [relation(ANNA, role('LEDELSESORGAN', 'BESTYRELSE', 'FORMAND'))])).toHaveLength(1);
    const shouted = { ...trulyOwns('0.3', '0.4'), organisationsNavn: [name('REELLE EJERE')] };
    expect(members('trueOwnership', [relation(ANNA, shouted)])).toEqual(['CVR-3-4999000002 30']);
  });

  test('an organisation without a name is known by its function', () => {
    const unnamed = { ...role('LEDELSESORGAN', 'Direktion', 'DIREKTØR'), organisationsNavn: [] };
    expect(members('management', [relation(ANNA, unnamed)])).toHaveLength(1);
  });

  test('other organisations are ignored', () => {
    const list = [
      relation(ANNA, role('HVIDVASK', 'Registret til bekæmpelse af hvidvask', 'X')),
      relation(ANNA, role('LEDELSESORGAN', 'Likvidator', 'LIKVIDATOR')),
      relation(ANNA, role('DIREKTION', 'Direktion', 'DIREKTØR')),
    ];
    const { bodies } = companyOf({ deltagerRelation: list });
    expect(Object.values(bodies).flatMap(({ members: all }) => all)).toEqual([]);
  });

  test('a person who left is no member', () => {
    const left = role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND', '2015-01-01', '2024-12-31');
    expect(
      members('board', [relation(ANNA, left), relation(BO, role('LEDELSESORGAN', 'Bestyrelse', 'FORMAND'))]),
    ).toEqual(['CVR-3-4999000003']);
  });

  test('a member who becomes chair remains a member', () => {
    const promoted = organisation(
      'LEDELSESORGAN',
      'Bestyrelse',
      attribute('FUNKTION', value('BESTYRELSESMEDLEM', '2015-01-01', '2024-12-31'), value('FORMAND', '2025-01-01')),
    );
    expect(members('board', [relation(ANNA, promoted)])).toEqual(['CVR-3-4999000002']);
    expect(members('board', [relation(ANNA, promoted)], '2024-12-31')).toEqual(['CVR-3-4999000002']);
  });

  test('an auditor can end on the day the new one starts, and both count on that day', () => {
    const list = [
      relation(
        firm(95_000_035, 'Gammel Revision'),
        role('REVISION', 'Revision', 'REVISION', '2015-01-01', '2026-03-10'),
      ),
      relation(OWNER, role('REVISION', 'Revision', 'REVISION', '2026-03-10')),
    ];
    expect(members('accountant', list)).toEqual(['CVR-1-95000027', 'CVR-1-95000035']);
    expect(members('accountant', list, '2026-03-11')).toEqual(['CVR-1-95000027']);
  });

  test('a partner without any data on the membership counts, while the organisation has its name', () => {
    const bare = organisation('FULDT_ANSVARLIG_DELTAGERE', 'Interessenter');
    expect(members('stakeholders', [relation(ANNA, bare)])).toEqual(['CVR-3-4999000002']);
    const over = { ...bare, organisationsNavn: [name('Interessenter', '2010-01-01', '2020-01-01')] };
    expect(members('stakeholders', [relation(ANNA, over)])).toEqual([]);
    expect(members('board', [relation(ANNA, organisation('LEDELSESORGAN', 'Bestyrelse'))])).toEqual([]);
  });
});

describe('owners', () => {
  test('legal owners have a band, beneficial ones a precise percentage, for shares and for votes', () => {
    const list = [relation(ANNA, owns('0.3333'), trulyOwns('0.3333', '0.125'))];
    expect(members('ownership', list)).toEqual(['CVR-3-4999000002 33.33-50']);
    expect(members('trueOwnership', list)).toEqual(['CVR-3-4999000002 33.33']);
    expect(members('trueVoteRights', list)).toEqual(['CVR-3-4999000002 12.5']);
  });

  test('an owner who is beneficial by role alone has no share, and is in neither list of shares', () => {
    const byRole = organisation(
      'REGISTER',
      'Reelle ejere',
      attribute('FUNKTION', value('Reel ejer')),
      attribute('BETYDELIG_INDFLYDELSE_VIA_ROLLE', value('Er reel ejer som udpeget daglig ledelse')),
    );
    expect(members('trueOwnership', [relation(ANNA, byRole)])).toEqual([]);
    expect(members('trueVoteRights', [relation(ANNA, byRole)])).toEqual([]);
  });

  test('an owner with several classes of shares is listed once, with the largest', () => {
    const classes = {
      ...owns('0.1'),
      medlemsData: [
        { attributter: [attribute('EJERANDEL_PROCENT', value('0.1'))] },
        { attributter: [attribute('EJERANDEL_PROCENT', value('0.5'))] },
      ],
    };
    expect(members('ownership', [relation(OWNER, classes)])).toEqual(['CVR-1-95000027 50-66.67']);
  });

  test('the share that was registered last counts if two overlap', () => {
    const [was, is] = [
      value('0.05', '2020-01-01', null, '2020-01-02T09:00:00.000+01:00'),
      value('0.5', '2019-01-01', null, '2024-01-02T09:00:00.000+01:00'),
    ];
    for (const values of [
      [was, is],
      [is, was],
    ]) {
      const register = organisation('REGISTER', 'EJERREGISTER', attribute('EJERANDEL_PROCENT', ...values));
      expect(members('ownership', [relation(OWNER, register)])).toEqual(['CVR-1-95000027 50-66.67']);
    }
  });

  test('a share that cannot be read leaves the owner without one', () => {
    expect(members('ownership', [relation(OWNER, owns('meget'))])).toEqual(['CVR-1-95000027']);
  });
});

test('lists and members of a wrong type hold nobody', () => {
  for (const deltagerRelation of [null, 'x', {}, [null, 4, 'x', [], {}, { deltager: 4, organisationer: 'x' }]])
    expect(Object.values(companyOf({ deltagerRelation }).bodies).flatMap(({ members: all }) => all)).toEqual([]);
  expect(companyOf({ deltagerRelation: [relation(entry({}), owns('0.5'))] }).bodies.ownership.members).toEqual([]);
});
