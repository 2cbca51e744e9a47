/**
 * A text by which names are compared, in whatever case and form of Unicode they are written. Each place in it is the same
 * place in the text's NFC: a letter whose lower case is longer stays as it is.
 */
export const fold = (text: string): string =>
  Array.from(text.normalize('NFC'), (letter) => {
    const lower = letter.toLowerCase();
    return lower.length === letter.length ? lower : letter;
  }).join('');
