package lab_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/probe"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// TestModelServers runs the scenarios of docs/models.md against the servers of models that are on the PATH, with a tiny
// model of random weights: what it says is nonsense, and the wire is what matters. It is make models.
func TestModelServers(t *testing.T) {
	onlyBy(t, "models")
	file := filepath.Join(t.TempDir(), "tiny.gguf")
	must(t, os.WriteFile(file, tinyModel(), 0o644))
	t.Run("llama-server", func(t *testing.T) {
		host := freeHost(t)
		_, port, _ := net.SplitHostPort(host)
		runServer(t, host, nil, "llama-server", "--model", file, "--alias", "tiny", "--ctx-size", "2048", "--port", port, "--jinja")
		scenarios(t, host, llm.LlamaCPP, "tiny")
	})
	t.Run("ollama", func(t *testing.T) {
		host := freeHost(t)
		env := []string{"OLLAMA_HOST=" + host, "OLLAMA_MODELS=" + t.TempDir(), "HOME=" + t.TempDir()}
		runServer(t, host, env, "ollama", "serve")
		recipe := filepath.Join(filepath.Dir(file), "Modelfile")
		must(t, os.WriteFile(recipe, []byte("FROM "+file+"\n"), 0o644))
		create := exec.CommandContext(t.Context(), "ollama", "create", "tiny", "-f", recipe)
		create.Env = append(os.Environ(), env...)
		combined(t, create)
		c := modelClient(t, host, llm.Ollama)
		_, err := c.Load(t.Context(), "tiny", llm.LoadOptions{Context: 1024})
		must(t, err)
		scenarios(t, host, llm.Ollama, "tiny")
		if _, list, err := c.Models(t.Context()); err != nil || llm.Find(list, "tiny").Context != 1024 {
			t.Errorf("the context of 1024 did not last: %+v, %v", list, err)
		}
	})
}

func scenarios(t *testing.T, host, kind, name string) {
	t.Helper()
	c := modelClient(t, host, kind)
	server, list, err := c.Models(t.Context())
	if err != nil || server != kind || llm.Find(list, name) == nil {
		t.Fatalf("%s lists %+v, %v", server, list, err)
	}
	ask := func(text string, most int) (end model.End) {
		r := model.Request{Model: name, MaxTokens: most, Messages: []model.Message{{Role: model.User, Content: text}}}
		for part := range c.Stream(t.Context(), r) {
			end, _ = part.(model.End)
		}
		return end
	}
	for range 10 { // on connections that the server may close
		if end := ask("hello", 16); end.Verdict.Outcome != model.Completed || !model.SameModel(end.Model, name) {
			t.Errorf("%+v, by %s", end.Verdict, end.Model)
		}
	}
	if end := ask(strings.Repeat("hello ", 20000), 16); !end.Evidence.Overflows() || end.Verdict.Outcome != model.Failed {
		t.Errorf("a prompt that is too long: %+v", end.Verdict)
	}
	learned, err := probe.Run(t.Context(), probe.Options{Config: llm.Config{BaseURL: "http://" + host + "/v1", Proxy: "none"}, Model: name})
	must(t, err)
	for _, r := range learned.Results {
		t.Logf("%s %-14s %s", r.Status, r.ID, r.Seen)
		if strings.Contains(r.Seen, "transport closed") {
			t.Errorf("%s: %s", r.ID, r.Seen)
		}
	}
}

func modelClient(t *testing.T, host, kind string) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Config{BaseURL: "http://" + host + "/v1", Proxy: "none", Retries: -1, Server: &llm.ServerProfile{Kind: kind}})
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func freeHost(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// runServer runs a server until the test's end, or skips the test if the program is not there.
func runServer(t *testing.T, host string, env []string, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not on the PATH", program)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Cancel, cmd.WaitDelay = append(os.Environ(), env...), func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for ctx.Err() == nil {
		if answer, err := http.Get("http://" + host + "/v1/models"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s does not answer", program)
}

// tinyModel is a GGUF file: a llama of one layer with random weights, whose tokens are the bytes and a few words.
func tinyModel() []byte {
	const width, inner, alignment = 64, 128, 32
	var tokens []string
	var kinds []int32
	for _, special := range []string{"<unk>", "<s>", "</s>"} {
		tokens, kinds = append(tokens, special), append(kinds, 3)
	}
	kinds[0] = 2
	for b := range 256 {
		tokens, kinds = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(kinds, 6)
	}
	for _, word := range []string{"hello", "one", "two", "is", "a"} {
		tokens, kinds = append(tokens, "\u2581"+word), append(kinds, 1)
	}
	var head, infos, data bytes.Buffer
	put := func(b *bytes.Buffer, values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				put := uint64(len(s))
				_ = binary.Write(b, binary.LittleEndian, put)
				b.WriteString(s)
				continue
			}
			_ = binary.Write(b, binary.LittleEndian, v)
		}
	}
	const u32, f32, text, list, i32 = uint32(4), uint32(6), uint32(8), uint32(9), uint32(5)
	members := 0
	member := func(key string, values ...any) { members++; put(&head, append([]any{key}, values...)...) }
	member("general.architecture", text, "llama")
	member("general.name", text, "tiny")
	for key, n := range map[string]uint32{"context_length": 8192, "embedding_length": width, "block_count": 1, "feed_forward_length": inner,
		"attention.head_count": 2, "attention.head_count_kv": 2, "rope.dimension_count": width / 2, "vocab_size": uint32(len(tokens))} {
		member("llama."+key, u32, n)
	}
	member("llama.attention.layer_norm_rms_epsilon", f32, float32(1e-5))
	member("tokenizer.ggml.model", text, "llama")
	member("tokenizer.ggml.tokens", list, text, uint64(len(tokens)))
	for _, token := range tokens {
		put(&head, token)
	}
	member("tokenizer.ggml.scores", list, f32, uint64(len(tokens)), make([]float32, len(tokens)))
	member("tokenizer.ggml.token_type", list, i32, uint64(len(kinds)), kinds)
	for key, n := range map[string]uint32{"bos": 1, "eos": 2, "unknown": 0} {
		member("tokenizer.ggml."+key+"_token_id", u32, n)
	}
	member("tokenizer.chat_template", text, "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:")
	tensors, random := 0, rand.New(rand.NewPCG(1, 2))
	tensor := func(name string, dims ...uint64) {
		tensors++
		put(&infos, name, uint32(len(dims)), dims, uint32(0), uint64(data.Len()))
		n := uint64(1)
		for _, d := range dims {
			n *= d
		}
		for range n {
			put(&data, float32(random.NormFloat64()/8))
		}
		data.Write(make([]byte, (alignment-data.Len()%alignment)%alignment))
	}
	tensor("token_embd.weight", width, uint64(len(tokens)))
	tensor("output_norm.weight", width)
	tensor("output.weight", width, uint64(len(tokens)))
	for _, part := range []string{"q", "k", "v", "output"} {
		tensor("blk.0.attn_"+part+".weight", width, width)
	}
	tensor("blk.0.attn_norm.weight", width)
	tensor("blk.0.ffn_norm.weight", width)
	tensor("blk.0.ffn_gate.weight", width, inner)
	tensor("blk.0.ffn_up.weight", width, inner)
	tensor("blk.0.ffn_down.weight", inner, width)
	var file bytes.Buffer
	put(&file, []byte("GGUF"), uint32(3), uint64(tensors), uint64(members), head.Bytes(), infos.Bytes())
	file.Write(make([]byte, (alignment-file.Len()%alignment)%alignment))
	file.Write(data.Bytes())
	return file.Bytes()
}
