import type { Schema } from "../api/types";
import { useId } from "preact/hooks";
import { clean } from "../run/text";

/** The fields of an object's JSON Schema, in its order: all, or the required ones and the others below a line that opens. */
export function Fields({ schema, all: open, values = {} }: { schema: Schema; all?: boolean; values?: Record<string, unknown> }) {
  const required = new Set(schema.required);
  const all = Object.entries(schema.properties ?? {});
  const more = all.filter(([name]) => !required.has(name));
  const field = ([name, s]: [string, Schema]) => <Field key={name} name={name} schema={s} required={required.has(name)} value={values[name]} />;
  if (open) return <>{all.map(field)}</>;
  return (
    <>
      {all.filter(([name]) => required.has(name)).map(field)}
      {more.length > 0 && (
        <details open={required.size === 0 || more.some(([name]) => values[name] !== undefined)}>
          <summary>More options</summary>
          {more.map(field)}
        </details>
      )}
    </>
  );
}

/** What a field holds: a choice, a yes or no, a number, a date, a date with the time, a line, lines, or JSON. */
type Kind = "choice" | "yes" | "number" | "date" | "time" | "text" | "lines" | "json";

function kindOf(s: Schema): Kind {
  if (s.enum) return "choice";
  if (s.type === "boolean") return "yes";
  if (s.type === "integer" || s.type === "number") return "number";
  if (s.type === "string") return s.format === "date" ? "date" : s.format === "date-time" ? "time" : "text";
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

/** A time as a field shows it: by the reader's clock, without its zone. */
function local(value: unknown): string {
  const d = new Date(String(value));
  return Number.isNaN(+d) ? "" : new Date(+d - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function Field({ name, schema: s, required, value }: { name: string; schema: Schema; required?: boolean; value?: unknown }) {
  const kind = kindOf(s);
  const id = useId();
  const hint = hintOf(s, kind);
  const text = value === undefined ? undefined : typeof value === "string" ? value : JSON.stringify(value, null, 2);
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
        return <select {...common}>{!required && <option value="" />}{s.enum!.map((v) => <option key={String(v)} value={JSON.stringify(v)} selected={JSON.stringify(v) === JSON.stringify(value)}>{clean(String(v))}</option>)}</select>;
      case "yes":
        return <input {...common} required={false} type="checkbox" defaultChecked={(value ?? s.default) === true} />;
      case "number":
        return <input {...common} type="number" step={s.type === "integer" ? 1 : "any"} min={s.minimum} max={s.maximum} defaultValue={text} />;
      case "date":
        return <input {...common} type="date" defaultValue={text} />;
      case "time":
        return <input {...common} type="datetime-local" step={1} defaultValue={local(value)} />;
      case "text":
        if (s.format === "password") return <input {...common} type="password" autocomplete="off" />;
        if (!isLong(name, s)) return <input {...common} type="text" minLength={s.minLength} maxLength={s.maxLength} pattern={s.pattern} autocomplete="off" spellcheck={false} defaultValue={text} />;
        return <textarea {...common} rows={4} defaultValue={text} minLength={s.minLength} maxLength={s.maxLength} />;
    }
    return <textarea {...common} class="mono" rows={kind === "json" ? 6 : 3} spellcheck={false} defaultValue={kind === "lines" && Array.isArray(value) ? value.join("\n") : text} onInput={(e) => e.currentTarget.setCustomValidity("")} />;
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
      case "date":
        if (text) value[name] = text;
        break;
      case "time":
        if (text) value[name] = new Date(text).toISOString();
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
