/** A list whose items have a name that is unique in it. */
export class Table<T> {
  private at = new Map<string, number>();

  constructor(readonly list: T[], private name: (item: T) => string) {
    list.forEach((item, i) => this.at.set(name(item), i));
  }

  get(name: string): T | undefined {
    return this.list[this.at.get(name) ?? -1];
  }

  /** Puts the item where its name is, or at the end, and returns the index. */
  put(item: T): number {
    const name = this.name(item);
    const i = this.at.get(name) ?? this.list.length;
    this.at.set(name, i);
    this.list[i] = item;
    return i;
  }

  /** Changes the item of that name. */
  change(name: string, fields: Partial<T>) {
    const had = this.get(name);
    if (had) this.put({ ...had, ...fields });
  }

  /** Drops the item at the index. The last item takes its place: every reader of a log ends with one order. */
  drop(i: number) {
    const last = this.list.pop()!;
    if (i < this.list.length) {
      this.at.delete(this.name(this.list[i]!));
      this.list[i] = last;
      this.at.set(this.name(last), i);
    } else {
      this.at.delete(this.name(last));
    }
  }
}
