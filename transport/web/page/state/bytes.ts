// Offsets in texts count bytes of UTF-8; JavaScript counts UTF-16.

/** How many bytes the text takes. */
export function byteLength(text: string): number {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > 0x7f) n += c > 0x7ff && (c < 0xd800 || c > 0xdfff) ? 2 : 1; // each half of a pair stands for two bytes
  }
  return n;
}

/** The text's first so many bytes. */
export function firstBytes(text: string, bytes: number): string {
  return text.slice(0, indexAt(text, bytes));
}

/** The text without its first so many bytes. */
export function afterBytes(text: string, bytes: number): string {
  return bytes > 0 ? text.slice(indexAt(text, bytes)) : text;
}

function indexAt(text: string, bytes: number): number {
  let i = 0;
  for (let n = 0; n < bytes && i < text.length; i++) {
    const c = text.charCodeAt(i);
    n += c < 0x80 ? 1 : c < 0x800 || (c >= 0xd800 && c <= 0xdfff) ? 2 : 3;
  }
  return i;
}
