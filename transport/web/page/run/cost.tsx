import type { Feed } from "../state/feed";
import { costOf, partsOf, type Cost } from "../state/trace";
import { useNow } from "./now";
import { clean, cut, duration, plural } from "./text";

/** What a run has used, in a few words; nothing for a run that asked no model. */
export function costInWords({ calls, input, output }: Cost): string {
  const used = input + output ? `, ${input.toLocaleString("en")} → ${plural(output, "token")}` : ""; // nobody may have told it
  return calls ? plural(calls, "model call") + used : "";
}

/** Time and tokens, by task or by the step of a plan. */
export function Costs({ feed }: { feed: Feed }) {
  feed.slow.value;
  const { top } = feed.tree;
  const now = useNow(!top.fold.state.end);
  const whole = costOf(top.root, now);
  const parts = partsOf(top.root).map((row) => ({ name: row.name, ...costOf(row, now) }));
  const longest = Math.max(1, ...parts.map((p) => p.ms));
  if (!parts.length) return <p class="empty muted">No task has begun yet.</p>;
  return (
    <div class="costs">
      <table>
        <thead><tr><th scope="col">Part</th><th scope="col" class="num">Time</th><td /><th scope="col" class="num">Calls</th><th scope="col" class="num">Tokens in</th><th scope="col" class="num">Tokens out</th></tr></thead>
        <tbody>
          {parts.slice(0, 300).map((p, i) => (
            <tr key={i + p.name}>
              <th scope="row">{clean(cut(p.name, 80))}</th><td class="num">{duration(p.ms)}</td><td><span class="share" style={{ width: `${(100 * p.ms) / longest}%` }} /></td><Used {...p} />
            </tr>
          ))}
        </tbody>
        <tfoot><tr><th scope="row">The run</th><td class="num">{duration(whole.ms)}</td><td /><Used {...whole} /></tr></tfoot>
      </table>
      <p class="muted">Waiting for people and for another attempt does not count. Parts that run at once add up to more than the run.</p>
    </div>
  );
}

const Used = ({ calls, input, output }: Cost) => <>{[calls, input, output].map((n, i) => <td key={i} class="num">{n ? n.toLocaleString("en") : ""}</td>)}</>;
