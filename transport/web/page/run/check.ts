// What lastword check finds in an llms.txt, found in the page: a test feeds the same texts to both.

export interface Finding { line: number; rule: string; message: string }

export interface LlmsLink { section: string; title: string; url: string; line: number }

/** Reads an llms.txt strictly. */
export function check(text: string): { links: LlmsLink[]; findings: Finding[] } {
  const links: LlmsLink[] = [];
  const findings: Finding[] = [];
  let at = 1;
  const finds = (rule: string, message: string) => findings.push({ line: at, rule, message });
  const sections = new Set<string>();
  let section: string | undefined;
  let titled = false;
  let quoted = false;
  let said = false; // something stands between the title and the first section
  let fence = "";
  let prose = false; // the line before was a paragraph's

  const closeDetails = () => section === undefined && quoted && !said && finds("details", "nothing stands between the summary and the first section");

  function detail(line: string) {
    const words = trim(line);
    if (fence) {
      if (words.startsWith(fence) && !words.replaceAll(fence[0]!, "")) fence = "";
    } else if (/^(```|~~~)/.test(words)) {
      fence = /^(.)\1*/.exec(words)![0];
    } else if (prose && /^(=+|-+)$/.test(words)) {
      finds("heading-level", "a heading made by underlining");
    }
    prose = words !== "" && !fence && !line.startsWith("- ");
    said ||= words !== "";
  }

  function preamble(line: string) {
    const quote = /^ *>(.*)$/su.exec(line);
    if (!quote) return detail(line);
    if (quoted || said) return finds("summary-line", "a quotation that is not the summary's one line");
    quoted = true;
    const words = trim(quote[1]!);
    if (heading(words)) finds("heading-level", "a heading in the summary");
    if (!words) finds("summary-line", "an empty summary");
  }

  function item(line: string) {
    if (!trim(line)) return;
    if (!line.startsWith("- [")) return finds("link-item", "a line that is not a link item");
    const middle = line.indexOf("](");
    if (middle < 0) return finds("link-item", "a link item without a link");
    const end = line.indexOf(")", middle + 2);
    if (end < 0) return finds("link-item", "a link that does not end");
    const [name, url, rest] = [line.slice(3, middle), line.slice(middle + 2, end), line.slice(end + 1)];
    links.push({ section: section!, title: name, url, line: at });
    if (rest && !rest.startsWith(": ")) finds("link-item", "after the link comes neither a colon and a space nor the end");
    else if (rest && (!trim(rest.slice(2)) || rest.slice(2) !== trim(rest.slice(2)))) finds("link-note", "a note that is empty or has space around it");
    if (!trim(name) || name !== trim(name)) finds("link-title", "a title that is empty or has space around it");
    else if (/[[\]]/.test(name)) finds("link-title", `brackets in the title "${name}"`);
    else if (name.replace(/\\\\|\\`/g, "").includes("`")) finds("link-title", `a backtick in the title "${name}" could hide the end of the link`);
    const wrong = wrongURL(url);
    if (wrong) finds("link-url", `the URL "${url}" ${wrong}`);
  }

  function read(line: string) {
    const head = heading(line);
    if (fence && section === undefined) return detail(line);
    if (!titled) {
      titled = true;
      if (head?.level !== 1 || !line.startsWith("# ") || !head.text) finds("title-first", "the first line is not an H1 with a name");
    } else if (head?.level === 1) {
      finds("title-unique", "a second H1");
    } else if (head?.level === 2) {
      if (line[0] !== "#") finds("heading-level", "an indented heading");
      closeDetails();
      const low = head.text.toLowerCase();
      if (!/^[a-z_][a-z0-9_.-]*$/i.test(head.text) || low.startsWith("xml")) finds("section-name", `section "${head.text}" is not a single word that XML can take for a name`);
      if (sections.has(low)) finds("section-unique", `a second section "${head.text}"`);
      sections.add(low);
      section = head.text;
    } else if (head) {
      finds("heading-level", `a heading of level ${head.level}`);
    } else if (section !== undefined) {
      item(line);
    } else {
      preamble(line);
    }
  }

  const lines = text.replace(/\n$/, "").split("\n");
  if (text && (!text.endsWith("\n") || text.endsWith("\n\n"))) {
    at = text.split("\n").length;
    finds("line-end", "the text does not end with exactly one line feed");
  }
  lines.forEach((line, i) => {
    at = i + 1;
    if (line.includes("\r")) finds("line-end", "a carriage return");
    const unseen = /(?![\t\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(line);
    if (unseen) finds("characters", `the character U+${unseen[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")} is not visible`);
    read(line.replace(/\r+$/, ""));
  });
  if (fence) finds("details", "a fence is not closed");
  closeDetails();
  return { links, findings: findings.sort((a, b) => a.line - b.line) };
}

/** The text without the space around it, as Go's strings.TrimSpace sees it. */
const trim = (text: string) => text.replace(/^[\s\x85]+|[\s\x85]+$/g, "");

/** An ATX heading. An indented mark counts too, for some parsers take it for one. */
function heading(line: string): { level: number; text: string } | undefined {
  const found = /^[ \t]*(#{1,6})(?![^ \t]|#)(.*)$/su.exec(line);
  return found ? { level: found[1]!.length, text: trim(found[2]!).replace(/\\([!-/:-@[-`{-~])/g, "$1") } : undefined;
}

function wrongURL(url: string): string | undefined {
  if (!/^[!#-&'*-;=?-Z_a-z~]+$/.test(url) || url.includes("^")) return "is empty or not encoded";
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (/^[^/?#]*:/.test(url) && !scheme || /%(?![0-9a-f]{2})/i.test(url.replace(/[?#].*$/, ""))) return "is malformed";
  if (scheme && scheme !== "http" && scheme !== "https") return "is neither http, https nor relative";
  if (scheme && !/^[^:]*:\/\/[^/?#]/.test(url)) return "has no host";
}
