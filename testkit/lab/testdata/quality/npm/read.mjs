// Prints what two parsers that are not ours make of the llms.txt file named by the first argument, as JSON.
import { readFileSync } from "node:fs";
import { validateLlmsTxt } from "llmstxt-kit";
import { parseLlmsTxt } from "parse-llms-txt";

const text = readFileSync(process.argv[2], "utf8");
const { ok, errors } = validateLlmsTxt(text);
const { title, description, sections } = parseLlmsTxt(text);
const counts = sections.map(({ name, files }) => ({ name, links: files.length }));
console.log(JSON.stringify({ ok, errors, title, summary: description ?? "", sections: counts }));
