/** Reads text files of any editor or shell. */

const UTF8 = new TextDecoder('utf-8');
const HEAD = 512;

export type TextForm = 'utf-8' | 'utf-16le' | 'utf-16be' | 'archive' | 'binary';

const MARKS: readonly { readonly form: TextForm; readonly bytes: readonly number[] }[] = [
  { form: 'archive', bytes: [0x50, 0x4b, 3, 4] },
  { form: 'archive', bytes: [0xd0, 0xcf, 0x11, 0xe0] },
  { form: 'utf-16le', bytes: [0xff, 0xfe] },
  { form: 'utf-16be', bytes: [0xfe, 0xff] },
];

/**
 * Detects the form by its mark, or by zeros: most of our text is ASCII, and in UTF-16 every other byte of ASCII is
 * zero.
 */
export function formOf(bytes: Uint8Array): TextForm {
  const marked = MARKS.find((mark) => mark.bytes.every((byte, at) => bytes[at] === byte));
  return marked?.form ?? unmarkedForm(bytes.subarray(0, HEAD));
}

function unmarkedForm(head: Uint8Array): TextForm {
  const zerosFrom = (first: number): number => {
    let zeros = 0;
    for (let at = first; at < head.length; at += 2) if (head[at] === 0) zeros += 1;
    return zeros;
  };
  const even = zerosFrom(0);
  const odd = zerosFrom(1);
  if (even + odd === 0) return 'utf-8';
  if (even === 0 && odd > head.length / 4) return 'utf-16le';
  return odd === 0 && even > head.length / 4 ? 'utf-16be' : 'binary';
}

export function decodeText(bytes: Uint8Array): string | undefined {
  const form = formOf(bytes);
  if (form === 'archive' || form === 'binary') return undefined;
  return form === 'utf-8' ? UTF8.decode(bytes) : new TextDecoder(form).decode(bytes);
}
