import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props extends Omit<HTMLAttributes<HTMLDivElement>, "children"> {
  count: number;
  /** The height of every row, in CSS pixels. */
  rowHeight: number;
  row(index: number): ComponentChildren;
  /** The row to bring into view whenever it changes. */
  show?: number;
  /** Stay at the end while rows are added. */
  follow?: boolean;
  /** The reader has scrolled away from the end, or back to it. */
  onFollow?(follow: boolean): void;
  /** Names a row. With names, rows that come before those in view do not move them. */
  keyOf?(index: number): string;
  /** The last rows are near. */
  onEnd?(): void;
}

/** Scrolls the box of a list no further than it takes to see the row. */
export function bring(box: Element, row: number, rowHeight: number) {
  const at = row * rowHeight;
  if (at < box.scrollTop) box.scrollTop = at;
  else if (at + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = at + rowHeight - box.clientHeight;
}

/** The highest list that browsers place to the pixel. In a longer one each step of the scroll bar passes several rows. */
const highest = 8_000_000;

/** A scrolling list that draws the rows in view alone. Rows are placed by their height, which is fixed. */
export function Virtual({ count, rowHeight, row, show, follow, onFollow, keyOf, onEnd, ...rest }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const height = Math.min(count * rowHeight, highest);
  const beyond = count * rowHeight > highest ? (count * rowHeight - highest) * Math.min(1, view.top / (height - view.height)) : 0; // rows that were passed, in pixels
  const first = Math.max(0, Math.floor((view.top + beyond) / rowHeight) - 8);
  const last = Math.min(count, Math.ceil((view.top + beyond + view.height) / rowHeight) + 8);

  function look() {
    const b = box.current!;
    setView((v) => (v.top === b.scrollTop && v.height === b.clientHeight ? v : { top: b.scrollTop, height: b.clientHeight }));
  }
  function scrolled() {
    const b = box.current!;
    onFollow?.(b.scrollTop + b.clientHeight >= b.scrollHeight - rowHeight);
    look();
  }
  useLayoutEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    look();
    return () => watch.disconnect();
  }, []);
  const top = useRef({ key: "", index: 0 }); // the first row in view
  useLayoutEffect(() => {
    if (!keyOf) return;
    const b = box.current!;
    const { key, index } = top.current;
    if (key && b.scrollTop > 0 && keyOf(Math.min(index, count - 1)) !== key) {
      for (let i = index; i < Math.min(count, index + 1000); i++) {
        if (keyOf(i) !== key) continue;
        b.scrollTop += (i - index) * rowHeight;
        break;
      }
    }
    const now = Math.min(count - 1, Math.floor(b.scrollTop / rowHeight));
    if (count) top.current = { key: keyOf(now), index: now };
  });
  useLayoutEffect(() => {
    if (follow) box.current!.scrollTop = count * rowHeight;
  }, [follow, count, view.height]);
  useLayoutEffect(() => {
    if (show === undefined || show < 0) return;
    if (height < highest) bring(box.current!, show, rowHeight);
    else box.current!.scrollTop = (show / count) * (highest - box.current!.clientHeight);
  }, [show]);
  useEffect(() => {
    if (onEnd && count && last > count - 20) onEnd();
  }, [last, count]);

  const rows = [];
  for (let i = first; i < last; i++) rows.push(row(i));
  return (
    <div {...rest} ref={box} class={`virtual ${rest.class ?? ""}`} onScroll={scrolled}>
      <div style={{ height: `${height}px` }} role="presentation">
        <div style={{ transform: `translateY(${first * rowHeight - beyond}px)` }} role="presentation">{rows}</div>
      </div>
    </div>
  );
}
