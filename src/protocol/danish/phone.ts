/** Phone numbers in E.164, as CRMs store them. Eight digits without a country code are Danish. */

/** `12 34 56 78` and `0045 12345678` become `+4512345678`. Anything that is not clearly one number stays unchanged. */
export function internationalPhone(spelled: string): string {
  const trimmed = spelled.trim();
  if (!/^\(?\+?[\d\s().\-\u2010-\u2015]+$/u.test(trimmed)) return trimmed;
  const digits = trimmed.replace(/\D/gu, '');
  if (/^\(?\+/u.test(trimmed)) return isLong(digits) ? `+${digits}` : trimmed;
  if (digits.startsWith('00')) return isLong(digits.slice(2)) ? `+${digits.slice(2)}` : trimmed;
  if (digits.length === 8) return `+45${digits}`;
  return digits.length === 10 && digits.startsWith('45') ? `+${digits}` : trimmed;
}

const isLong = (digits: string): boolean => digits.length >= 7 && digits.length <= 15;
