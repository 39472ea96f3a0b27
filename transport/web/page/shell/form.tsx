import type { Schema } from "../api/types";
import { useId } from "preact/hooks";
import { clean } from "../run/text";

/** The fields of an object's JSON Schema: the required ones, and the others below a line that opens. */
export function Fields({ schema, all: open }: { schema: Schema; all?: boolean }) {
  const required = new Set(schema.required);
  const all = Object.entries(schema.properties ?? {});
  const more = all.filter(([name]) => !required.has(name));
  return (
    <>
      {all.filter(([name]) => required.has(name)).map(([name, s]) => <Field key={name} name={name} schema={s} required />)}
      {open ? more.map(([name, s]) => <Field key={name} name={name} schema={s} />) : more.length > 0 && (
        <details open={required.size === 0}>
          <summary>More options</summary>
          {more.map(([name, s]) => <Field key={name} name={name} schema={s} />)}
        </details>
      )}
    </>
  );
}

/** What a field holds: a choice, a yes or no, a number, a line, lines, or JSON. */
type Kind = "choice" | "yes" | "number" | "text" | "lines" | "json";

function kindOf(s: Schema): Kind {
  if (s.enum) return "choice";
  if (s.type === "boolean") return "yes";
  if (s.type === "integer" || s.type === "number") return "number";
  if (s.type === "string") return "text";
  return s.type === "array" && s.items?.type === "string" ? "lines" : "json";
}

/** Reports whether a field for JSON takes any other text as well. */
const takesText = (s: Schema) => [s, ...(s.oneOf ?? []), ...(s.anyOf ?? [])].some((one) => one.type === "string" || (Array.isArray(one.type) && one.type.includes("string")));

/** What a person needs to know about a field. */
function hintOf(s: Schema, kind: Kind): string {
  const { enum: choices } = s.items ?? {};
  return clean([
    s.description, kind === "lines" && "one on each line" + (choices ? `, of ${choices.join(", ")}` : ""), kind === "json" && !takesText(s) && "as JSON",
    s.default !== undefined && kind !== "yes" && `default ${s.default}`,
  ].filter(Boolean).join("; "));
}

export function Field({ name, schema: s, required }: { name: string; schema: Schema; required?: boolean }) {
  const kind = kindOf(s);
  const id = useId();
  const hint = hintOf(s, kind);
  const common = { id, name, required, "aria-describedby": hint ? id + "-hint" : undefined };
  return (
    <div class={`field ${kind}`}>
      <label for={id}>{clean(labelOf(name, s))}{required && kind !== "yes" && <span aria-hidden="true"> *</span>}</label>
      {control()}
      {hint && <p id={id + "-hint"} class="muted">{hint}</p>}
    </div>
  );
  function control() {
    switch (kind) {
      case "choice":
        return <select {...common}>{!required && <option value="" />}{s.enum!.map((v) => <option key={String(v)} value={JSON.stringify(v)}>{clean(String(v))}</option>)}</select>;
      case "yes":
        return <input {...common} required={false} type="checkbox" defaultChecked={s.default === true} />;
      case "number":
        return <input {...common} type="number" step={s.type === "integer" ? 1 : "any"} min={s.minimum} max={s.maximum} />;
      case "text":
        if (s.format === "password") return <input {...common} type="password" autocomplete="off" />;
        if (!isLong(name, s)) return <input {...common} type="text" minLength={s.minLength} maxLength={s.maxLength} pattern={s.pattern} autocomplete="off" spellcheck={false} />;
        return <textarea {...common} rows={4} minLength={s.minLength} maxLength={s.maxLength} />;
    }
    return <textarea {...common} class="mono" rows={kind === "json" ? 6 : 3} spellcheck={false} onInput={(e) => e.currentTarget.setCustomValidity("")} />;
  }
}

/** A field's title. One that is the word for a value, such as folder, is written in small letters, and no title. */
function labelOf(name: string, { title }: Schema): string {
  if (title && title[0] !== title[0]!.toLowerCase()) return title;
  const words = name.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}

/** Texts that people write, other than names and numbers. */
const isLong = (name: string, s: Schema) => /text|message|prompt|system|body/.test(name) && !s.maxLength;

/** What the form's fields say, without those that were left empty; nothing where one of them is no JSON. */
export function valueOf(form: HTMLFormElement, schema: Schema): Record<string, unknown> | undefined {
  const value: Record<string, unknown> = {};
  for (const [name, s] of Object.entries(schema.properties ?? {})) {
    const field = form.elements.namedItem(name) as HTMLInputElement;
    const text = field.value;
    switch (kindOf(s)) {
      case "yes":
        if (schema.required?.includes(name) || field.checked !== (s.default === true)) value[name] = field.checked;
        break;
      case "text":
        if (text) value[name] = text;
        break;
      case "number":
        if (text) value[name] = Number(text);
        break;
      case "lines":
        if (text.trim()) value[name] = text.split("\n").map((line) => line.trim()).filter(Boolean);
        break;
      default:
        if (!text.trim()) break;
        try {
          value[name] = JSON.parse(text);
        } catch (e) {
          if (takesText(s)) {
            value[name] = text;
            break;
          }
          field.setCustomValidity("This is not JSON: " + (e as Error).message);
          field.reportValidity();
          return undefined;
        }
    }
  }
  return value;
}
