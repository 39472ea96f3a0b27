package doctor

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// judged checks a line of doctor's.
func judged(t *testing.T, r probe.Result, status probe.Status, seen string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Seen, seen) || (r.Remedy == "") != (status == probe.Pass) {
		t.Errorf("%+v, want %s, %q and a remedy where there is something to be done", r, status, seen)
	}
}

func TestDoctorOnClocks(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for off, want := range map[time.Duration]string{
		0: "it is the server's", time.Second: "it is the server's", 30 * time.Second: "differs by 30s", -30 * time.Second: "differs by 30s",
	} {
		header := http.Header{"Date": {now.Add(-off).Format(http.TimeFormat)}}
		judged(t, Clock(&llm.Page{Header: header, Came: now}), probe.Pass, want)
	}
	ahead := http.Header{"Date": {now.Add(time.Hour).Format(http.TimeFormat)}}
	judged(t, Clock(&llm.Page{Header: ahead, Came: now}), probe.Warn, "1h0m0s")
	judged(t, Clock(&llm.Page{Came: now}), probe.Pass, "does not tell")
}

func TestDoctorOnRoom(t *testing.T) {
	judged(t, room(10<<20, true), probe.Fail, "10 MB free")
	judged(t, room(500e6, true), probe.Warn, "500 MB free")
	judged(t, room(5e9, true), probe.Pass, "5,000 MB free")
	judged(t, room(0, false), probe.Pass, "cannot be told")
}

func TestDoctorOnFolders(t *testing.T) {
	judged(t, Output(t.TempDir()), probe.Pass, "can be written")
	judged(t, Output(t.TempDir()+"/a/b"), probe.Pass, "will be made")
	judged(t, Output("machine_test.go/docs"), probe.Fail, "machine_test.go/docs")
	judged(t, Cache(""), probe.Warn, "no place")
}
