import { describe, expect, it } from 'vitest';
import { companyDomain } from '../../../src/protocol/danish/web-domain.ts';

describe('the domain of a company', () => {
  it.each([
    ['www.nordlys.dk', 'nordlys.dk'],
    ['https://shop.nordlys.dk/om?x=1', 'nordlys.dk'],
    ['kontakt@nordlys.dk', 'nordlys.dk'],
    ['NORDLYS.DK.', 'nordlys.dk'],
    ['nordlys.co.uk', 'nordlys.co.uk'],
    ['blåbær.dk', 'xn--blbr-roah.dk'],
    ['ole@gmail.com', undefined],
    ['ole@live.dk', undefined],
    ['https://www.facebook.com/nordlys', undefined],
    ['nordlys', undefined],
    ['', undefined],
    [null, undefined],
  ])('of %s is %s', (spelled, domain) => expect(companyDomain(spelled)).toBe(domain));
});
