package journal

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// proofForm names the form of proofs.
const proofForm = "lastword-proof/1"

// proofHead is the first line.
type proofHead struct {
	Form string         `json:"proof"`
	Run  messages.RunID `json:"run_id"`
}

// proofBlock is the line before a block's events. Hashes are hexadecimal.
type proofBlock struct {
	First    uint64 `json:"block"`
	Last     uint64 `json:"last"`
	ID       string `json:"id"`
	Writer   string `json:"writer"`
	Epoch    uint64 `json:"epoch"`
	Terminal bool   `json:"terminal"`
	Before   string `json:"before"`
	Digest   string `json:"digest"`
}

// proofSeal is the last line.
type proofSeal struct {
	Chain     string `json:"chain"`
	Seq       uint64 `json:"seq"`
	Key       []byte `json:"key"`
	Signature []byte `json:"signature"`
}

// signed returns the text that is signed: the form, the digest of the lines before the seal, and the log's position.
func signed(lines []byte, s proofSeal) []byte {
	return fmt.Appendf(nil, "%s %x %s %d", proofForm, lines, s.Chain, s.Seq)
}

// WriteProof writes a proof of the run's log so far, and checks the log meanwhile. If the log is faulty, the error is a
// [*Fault], and the proof has no signature.
func WriteProof(w io.Writer, run messages.RunID, blocks iter.Seq2[StoredBlock, error], key ed25519.PrivateKey) error {
	sum, out := sha256.New(), bufio.NewWriterSize(w, 1<<16)
	put := func(line []byte) error {
		_, err := fmt.Fprintf(io.MultiWriter(out, sum), "%s\n", line)
		return err
	}
	line := func(v any) error {
		text, err := json.Marshal(v)
		return errors.Join(err, put(text))
	}
	if len(key) != ed25519.PrivateKeySize {
		return messages.Errorf(messages.CodeConflict, "run %s has no proof, because the server has no key that signs", run)
	}
	if err := line(proofHead{proofForm, run}); err != nil {
		return err
	}
	audit := Audit{Run: run}
	for b, err := range blocks {
		if err == nil {
			_, err = audit.Add(b)
		}
		if err == nil {
			err = line(proofBlock{b.First, b.Last, b.ID.String(), b.Writer, b.Epoch, b.Terminal, b.Before.String(), b.Digest.String()})
		}
		for _, event := range b.Lines {
			if err == nil {
				err = put(event)
			}
		}
		if err != nil {
			return err
		}
	}
	end := proofSeal{Chain: audit.Chain.Hash.String(), Seq: audit.Chain.Seq, Key: key.Public().(ed25519.PublicKey)}
	end.Signature = ed25519.Sign(key, signed(sum.Sum(nil), end))
	return errors.Join(line(end), out.Flush())
}

// ReadProof checks a proof. It returns a summary of the log with the key that signed it. If something is wrong the error
// is a [*Fault]: every byte of the proof counts. The caller decides whether to trust the key.
func ReadProof(r io.Reader) (log Log, events int, err error) {
	p := proofReader{in: bufio.NewReaderSize(r, 1<<16)}
	if err := p.read(); err != nil {
		return Log{}, 0, err
	}
	log = p.audit.Log()
	log.Key = p.seal.Key
	return log, p.audit.Events, nil
}

// proofReader holds the state of a check.
type proofReader struct {
	in    *bufio.Reader
	audit Audit
	block *StoredBlock // the block whose events follow
	seal  proofSeal
}

func (p *proofReader) fault(format string, args ...any) error {
	return &Fault{Run: p.audit.Run, Seq: p.audit.Chain.Seq + 1, Rule: RuleProof, Says: fmt.Sprintf(format, args...)}
}

// read checks the lines in order: head, blocks each with its events, and the signature over everything before it.
func (p *proofReader) read() error {
	sum := sha256.New()
	for first := true; ; first = false {
		line, err := p.in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return p.fault("it ends without its last line, which signs it")
		case err != nil:
			return err
		case first:
			var h proofHead
			if json.Unmarshal(line, &h) != nil || h.Form != proofForm {
				return p.fault("its first line does not begin a proof; lastword runs proof makes one")
			}
			p.audit.Run = h.Run
		case bytes.HasPrefix(line, []byte(`{"block":`)):
			err = p.next(line)
		case bytes.HasPrefix(line, []byte(`{"chain":`)):
			return p.end(line, sum.Sum(nil))
		case p.block == nil:
			return p.fault("an event belongs to no block")
		default:
			p.block.Lines = append(p.block.Lines, bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return err
		}
		sum.Write(line)
	}
}

// next checks the block that has ended, and begins another one.
func (p *proofReader) next(line []byte) error {
	if err := p.add(); err != nil {
		return err
	}
	var b proofBlock
	if json.Unmarshal(line, &b) != nil {
		return p.fault("the line before a block is damaged")
	}
	p.block = &StoredBlock{First: b.First, Last: b.Last, Writer: b.Writer, Epoch: b.Epoch, Terminal: b.Terminal}
	for _, of := range []struct {
		text string
		to   []byte
	}{{b.ID, p.block.ID[:]}, {b.Before, p.block.Before[:]}, {b.Digest, p.block.Digest[:]}} {
		raw, err := hex.DecodeString(of.text)
		if err != nil || len(raw) != len(of.to) {
			return p.fault("the line before a block is damaged")
		}
		copy(of.to, raw)
	}
	return nil
}

func (p *proofReader) add() (err error) {
	if p.block != nil {
		_, err = p.audit.Add(*p.block)
	}
	return err
}

// end checks the last line, and that the log's position is the one in it.
func (p *proofReader) end(line, lines []byte) error {
	if err := p.add(); err != nil {
		return err
	}
	s := &p.seal
	again, chain := []byte(nil), p.audit.Chain
	if json.Unmarshal(line, s) == nil {
		again, _ = json.Marshal(s)
	}
	switch _, err := p.in.ReadByte(); {
	case !errors.Is(err, io.EOF):
		return p.fault("something follows its last line")
	case string(again)+"\n" != string(line) || len(s.Key) != ed25519.PublicKeySize:
		return p.fault("its last line is damaged")
	case s.Seq != chain.Seq || s.Chain != chain.Hash.String():
		return p.fault("its last line says that the log stands at event %d with the hash %s", s.Seq, strings.ToValidUTF8(s.Chain, "?"))
	case !ed25519.Verify(s.Key, signed(lines, *s), s.Signature):
		return p.fault("the signature does not fit these bytes and the key that it names")
	}
	return nil
}
