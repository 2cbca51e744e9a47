/** The web domain of a company. */

import { trimEndOf } from '../text/trim.ts';

/** Domains where anybody can have an address, which identify no company. */
const FREEMAIL: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com hotmail.com hotmail.dk outlook.com outlook.dk live.com live.dk msn.com yahoo.com yahoo.dk
  icloud.com me.com mac.com aol.com mail.com mail.dk email.dk proton.me protonmail.com jubii.dk ofir.dk sol.dk tele.dk
  tdcadsl.dk tdcspace.dk get2net.dk webspeed.dk stofanet.dk youmail.dk newmail.dk privat.dk cybercity.dk worldonline.dk
  dlgmail.dk fasttvnet.dk profibermail.dk bbsyd.dk waoomail.dk altiboxmail.dk energimail.dk elromail.dk gmx.de gmx.net
  gmx.com web.de`.split(/\s+/),
);
const SHARED_SITES: ReadonlySet<string> = new Set(
  `facebook.com instagram.com linkedin.com twitter.com youtube.com google.com proff.dk krak.dk degulesider.dk cvr.dk
  wordpress.com wixsite.com business.site one.com simplesite.com weebly.com x.com tiktok.com pinterest.com linktr.ee
  fb.com fb.me youtu.be trustpilot.com blogspot.com webnode.dk webnode.com jimdo.com jimdofree.com`.split(/\s+/),
);

const LABEL = /^[a-z0-9-]{1,63}$/u;
const isHost = (text: string): boolean => {
  const labels = text.split('.');
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && /[a-z]$/u.test(text);
};

/** The domain of a website or an e-mail address, as `nordlys.dk`, unless many share it. */
export function companyDomain(spelled: string | null | undefined): string | undefined {
  const domain = domainIn(spelled);
  return domain === undefined || isShared(domain) ? undefined : domain;
}

/** The domain of a site that many companies share, such as a social network. */
export function sharedDomain(spelled: string): string | undefined {
  const domain = domainIn(spelled);
  return domain !== undefined && isShared(domain) ? domain : undefined;
}

const isShared = (domain: string): boolean => FREEMAIL.has(domain) || SHARED_SITES.has(domain);

function domainIn(spelled: string | null | undefined): string | undefined {
  const text = (spelled ?? '').trim().toLowerCase().slice(0, 300);
  if (!text.includes('.')) return undefined;
  const [, behind = text] = text.split('://');
  const [place = ''] = behind.split(/[/?#]/u);
  const [named = ''] = (place.split('@').at(-1) ?? '').split(':');
  const host = trimEndOf(named, '.').normalize('NFC');
  const ascii = /[^ -~]/u.test(host) ? asciiOf(host) : host;
  if (!isHost(ascii)) return undefined;
  const domain = registrable(ascii);
  return FREEMAIL.has(ascii) ? ascii : domain;
}

const asciiOf = (host: string): string => URL.parse(`http://${host}`)?.hostname ?? '';

/** `shop.nordlys.dk` becomes `nordlys.dk`; `nordlys.co.uk` stays. */
function registrable(host: string): string {
  const labels = host.split('.');
  const isTwofold = /\.(?:co|com|org|net|ac)\.[a-z]{2}$/u.test(host);
  return labels.slice(isTwofold ? -3 : -2).join('.');
}
