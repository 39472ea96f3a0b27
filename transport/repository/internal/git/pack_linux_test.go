package git

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A pack of less than two kilobytes that unpacks into as much as the limits allow costs a process at most 250 MB.
func TestMemoryOfAHostilePack(t *testing.T) {
	if os.Getenv("LASTWORD_TEST_PACK") == "" {
		// as users run it: the race detector multiplies the memory
		cmd := exec.CommandContext(t.Context(), "go", "test", "-trimpath", "-count=1", "-v", "-run=^"+t.Name()+"$", ".")
		cmd.Env = append(os.Environ(), "LASTWORD_TEST_PACK=1", "CGO_ENABLED=0")
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
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	if kB := strings.Fields(peak)[0]; len(kB) > 6 || kB > "250000" {
		t.Errorf("the process took %s kB", kB)
	} else {
		t.Log(kB)
	}
}
