/** A place on a time axis where time with no event is cut short. */
export interface Break { at: number; ms: number }

/** Where times are on an axis from 0 to 1. */
export interface Scale {
  place(time: number): number;
  /** The time at a place. */
  time(place: number): number;
  breaks: Break[];
}

/** The part of the axis that a cut stretch keeps. */
const stub = 0.02;

/**
 * The axis of the times, which ascend. A stretch with no event is cut short where it is longer than ten seconds and than
 * a tenth of the rest.
 */
export function scaleOf(times: number[], collapse: boolean): Scale {
  const first = times[0] ?? 0;
  const last = Math.max(times.at(-1) ?? 0, first + 1);
  const idle: [number, number][] = [];
  let busy = last - first;
  if (collapse) {
    const gaps = times.slice(1).map((t, i): [number, number] => [times[i]!, t]).filter(([a, b]) => b - a > 10_000);
    for (const [a, b] of gaps.sort((x, y) => y[1] - y[0] - (x[1] - x[0])).slice(0, 8)) {
      if (b - a > (busy - (b - a)) / 10) {
        idle.push([a, b]);
        busy -= b - a;
      }
    }
    idle.sort((x, y) => x[0] - y[0]);
  }
  const wide = 1 - stub * idle.length;
  // knots are pairs of a time and its place; between two, time is even
  const knots: [number, number][] = [[first, 0]];
  const unit = wide / Math.max(busy, 1);
  for (const [a, b] of idle) {
    const [t, p] = knots.at(-1)!;
    const from = p + (a - t) * unit;
    knots.push([a, from], [b, from + stub]);
  }
  knots.push([last, 1]);
  const between = (v: number, from: 0 | 1, to: 0 | 1) => {
    let i = knots.findIndex((k) => k[from] >= v);
    i = Math.max(1, i < 0 ? knots.length - 1 : i);
    const a = knots[i - 1]!;
    const b = knots[i]!;
    return b[from] === a[from] ? b[to] : a[to] + ((v - a[from]) / (b[from] - a[from])) * (b[to] - a[to]);
  };
  const place = (time: number) => Math.min(1, Math.max(0, between(time, 0, 1)));
  return {
    place,
    time: (p) => between(p, 1, 0),
    breaks: idle.map(([a, b]) => ({ at: (place(a) + place(b)) / 2, ms: b - a })),
  };
}
