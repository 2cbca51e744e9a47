/** Whether a text contains a secret: plain, escaped as in an address, or in base64 as in a header. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const texts = [text, unescaped(text), ...base64In(text)];
  return secrets.some((secret) => secret !== '' && texts.some((each) => each.includes(secret)));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The decoded parts of a text that may be base64. */
const base64In = (text: string): readonly string[] =>
  (text.match(/[\w+/-]{4,}/gu) ?? []).map((part) => Buffer.from(part, 'base64').toString());
