export function RunPage({ id, seq }: { id: string; seq?: number }) {
  return <h1 class="mono">{id} {seq}</h1>;
}
