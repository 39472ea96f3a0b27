package journal_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// kept is a journal with a run of several blocks.
func kept(t *testing.T) *journal.Memory {
	t.Helper()
	j := journal.NewMemory()
	at := journal.Head{}
	for n, bodies := range [][]messages.Body{
		{messages.RunQueued{Job: "tell", Mode: messages.Detached, Input: json.RawMessage("{\n\"text\": \"<b>\"}")}},
		{messages.RunStarted{Epoch: 1}, messages.TaskStarted{Task: "tell", Attempt: 1}},
		{messages.TextDelta{Stream: "answer", Task: "tell", Text: "häl"}, messages.TextDelta{Stream: "answer", Task: "tell", Index: 1, Offset: 4, Text: "lo"}},
		{messages.ArtifactWritten{Artifact: messages.Artifact{Name: "a.txt", Path: "a.txt", Bytes: 1, SHA256: messages.Digest("a")}, Task: "tell"}},
	} {
		b := journal.Block{Run: "r_a", After: at, ID: journal.BlockID{byte(n + 1)}, Writer: "node", Epoch: uint64(min(n, 1))}
		for i, body := range bodies {
			seq := at.Seq + uint64(i) + 1
			b.Events = append(b.Events, messages.Event{RunID: "r_a", Seq: seq, From: seq, Time: time.Unix(1e9, int64(seq)).UTC(), Body: body})
		}
		j.Append(b, func(err error) { must(t, err) })
		at = b.Head()
	}
	return j
}

func written(t *testing.T, j journal.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, journal.WriteProof(&out, "r_a", j.Blocks(t.Context(), "r_a"), key))
	return out.Bytes()
}

// "One changed byte of an exported log is found, always", and so is one that is missing or too many.
func TestEveryByteOfAProofCounts(t *testing.T) {
	j := kept(t)
	text := written(t, j)
	log, events, err := journal.ReadProof(bytes.NewReader(text))
	if err != nil || log.Run != "r_a" || log.Seq != 6 || events != 6 || log.Status != messages.Processing || !bytes.Equal(log.Key, key.Public().(ed25519.PublicKey)) {
		t.Fatalf("the proof says %+v of %d events, %v", log, events, err)
	}
	found := func(what string, at int, changed []byte) {
		if _, _, err := journal.ReadProof(bytes.NewReader(changed)); err == nil {
			t.Errorf("byte %d %s, and nobody notices", at, what)
		} else if f, ok := errors.AsType[*journal.Fault](err); !ok || f.Rule == "" {
			t.Errorf("byte %d %s: the fault names no rule: %v", at, what, err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for at := range text {
		changed := bytes.Clone(text)
		changed[at] ^= 1 << random.IntN(8)
		found("is another", at, changed)
		changed[at] = byte(random.IntN(256))
		if changed[at] != text[at] {
			found("is another", at, changed)
		}
		found("and all after it are gone", at, text[:at])
		found("is gone", at, append(bytes.Clone(text[:at]), text[at+1:]...))
	}
	found("is too many", len(text), append(bytes.Clone(text), '\n'))
}

// A log that is wrong has no proof.
func TestNoProofOfDamage(t *testing.T) {
	j := kept(t)
	var out bytes.Buffer
	err := journal.WriteProof(&out, "r_a", func(yield func(journal.StoredBlock, error) bool) {
		for b, err := range j.Blocks(t.Context(), "r_a") {
			b.Terminal = b.Last == 3
			if !yield(b, err) {
				return
			}
		}
	}, key)
	if f, ok := errors.AsType[*journal.Fault](err); !ok || f.Run != "r_a" || f.Seq != 2 || f.Rule != journal.RuleBlock {
		t.Errorf("the error is %v", err)
	}
	if _, _, err := journal.ReadProof(&out); err == nil {
		t.Error("what was written is a proof")
	}
}

// "a proof without a key is a refusal"
func TestProofWithoutKey(t *testing.T) {
	var out bytes.Buffer
	if err := journal.WriteProof(&out, "r_a", kept(t).Blocks(t.Context(), "r_a"), nil); messages.CodeOf(err) != messages.CodeConflict || out.Len() > 0 {
		t.Errorf("%v, and %q", err, out.String())
	}
}
