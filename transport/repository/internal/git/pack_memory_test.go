package git

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A pack of less than two kilobytes that unpacks into as much as the limits allow costs a process at most 250 MB.
func TestMemoryOfAHostilePack(t *testing.T) {
	if os.Getenv("LASTWORD_TEST_PACK") == "" { // its own process, without what other tests have taken
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "LASTWORD_TEST_PACK=1", "GOGC=50") // the race detector makes the collector late
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	var p packer
	const size = 1 << 20
	at, _ := p.object(plumbing.BlobObject, strings.Repeat("\x00", size))
	for i := range 8 { // as large as an object may be
		delta := binary.AppendUvarint(binary.AppendUvarint(nil, size), 31*size+uint64(i)+1)
		for range 31 {
			delta = append(delta, 0x80|0x70, 0, 0, size>>16)
		}
		p.offsetDelta(at, append(append(delta, byte(i)+1), make([]byte, i+1)...))
	}
	text := p.pack()
	if len(text) > 1900 {
		t.Fatalf("the pack has %d bytes", len(text))
	}
	if _, err := unpackAll(text, Limits{}); err != nil {
		t.Fatal(err)
	}
	var took runtime.MemStats // without the memory of the race detector
	runtime.ReadMemStats(&took)
	if t.Log(took.Sys); took.Sys > 250_000_000 {
		t.Errorf("the process took %d bytes", took.Sys)
	}
}
