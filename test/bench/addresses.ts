/** Where each page of the route table is in a filled store, with the filters that people use. */
import { REVIEW_KINDS } from '../../src/connector/review/review-kinds.ts';
import { pageAddresses } from '../dashboard/page-patterns.ts';
import { FIRST, monitorId, type Sizes } from './fill.ts';

export function filledAddresses({ links, monitors }: Pick<Sizes, 'links' | 'monitors'>): readonly string[] {
  const at = Math.floor(links / 3);
  const company = `CVR-1-${FIRST + at}`;
  const record = String(9_000_000_000 + ((at * 7_919) % links));
  const of = `?provider=hubspot&record=${record}`;
  const monitor = monitorId(Math.floor(monitors / 2));
  return pageAddresses({
    values: {
      '/settings/operators/:name': 'operator 1',
      '/keys/:id': 'key 1',
      '/monitors/:id': monitor,
      '/runs/:id': '500',
      ':entity': company,
      ':name': 'hubspot',
      ':seq': '51',
      ':kind': 'body',
      ':id': '1',
    },
    queries: {
      '/': ['', '?span=day'],
      '/audit': ['', '?action=nothing', '?actor=ida'],
      '/backfill/:name': ['', '?part=all', '?part=person'],
      '/backfill/:name/row': [`?record=${record}`],
      '/backfill/:name/skip': ['?part=link'],
      '/companies': ['', '?q=firma+77', '?q=77', `?q=${FIRST + 5}`, `?q=hubspot:${record}`],
      '/companies/:entity/end': [`${of}&property=name`],
      '/companies/:entity/hold': [of, `${of}&property=phone`],
      '/companies/:entity/release': [of, `${of}&property=phone&once=yes`],
      '/companies/:entity/unlink': [of],
      '/companies/:entity/update': [of],
      '/deliveries': [
        '',
        ...['failing', 'failed', 'held', 'due', 'done'].flatMap((state) => [
          `?state=${state}`,
          `?monitor=${monitor}&state=${state}`,
        ]),
        `?monitor=${monitor}`,
        `?entity=${company}`,
      ],
      '/holds': ['', '?provider=hubspot', '?ends=soon', '?origin=person', '?property=phone'],
      '/inbox': [
        '',
        ...REVIEW_KINDS.map((kind) => `?kind=${kind}`),
        '?kind=difference&provider=hubspot&property=phone',
        '?kind=difference&property=nowhere',
      ],
      '/monitors': ['', '?name=77'],
      '/monitors/:id/items/remove': [`?entity=${company}`],
      '/runs': ['', '?task=undo', '?task=leave&state=failed'],
      '/writes': [
        '',
        '?provider=hubspot&property=phone',
        '?rule=register',
        '?property=nowhere',
        `?entity=${company}`,
        `?record=hubspot:${record}`,
      ],
    },
  });
}
