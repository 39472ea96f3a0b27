package git_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

const secret = "s3cret-t0ken"

// guarded lets in who shows the token.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "x-access-token" || password != secret {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "you sent "+password, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func token(text string) func(string) string { return func(string) string { return text } }

func TestPrivateRepositories(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	for name, serve := range map[string]func(*testing.T, http.Handler) (*httptest.Server, git.Options){
		"https": secure, "http to this machine": plain,
	} {
		server, o := serve(t, guarded(backend(t, root)))
		remote := git.Remote{URL: server.URL + "/r.git"}
		var asked []string
		o.Token = func(host string) string { asked = append(asked, host); return secret }
		files, _, err := get(patience(t), remote, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, read(t, files), smallFiles)
		if len(asked) != 2 || asked[0] != "127.0.0.1" {
			t.Errorf("%s: asked for tokens of %q", name, asked)
		}
		for _, wrong := range []func(string) string{nil, token(""), token("wrong-" + secret)} {
			o.Token = wrong
			_, _, err := get(patience(t), remote, o)
			refused(t, err, messages.CauseInvalidInput, "LASTWORD_GIT_TOKEN", "GH_TOKEN", "GITHUB_ACCESS_TOKEN")
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
				t.Errorf("the error %#v holds the token", err)
			}
		}
	}
}

// A host that the first one names is a stranger to the token.
func TestRedirectsToAnotherHostCarryNoToken(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	var mu sync.Mutex
	shown := map[string]bool{}
	note := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			shown[fmt.Sprintf("%s %s", r.Method, r.Header.Get("Authorization"))] = true
			mu.Unlock()
			next.ServeHTTP(w, r)
		})
	}
	other, _ := secure(t, note(backend(t, root)))
	first, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != secret {
			t.Errorf("the host that the token is for did not get it")
		}
		http.Redirect(w, r, other.URL+strings.Replace(r.URL.String(), "/moved", "/r", 1), http.StatusMovedPermanently)
	}))
	o.Token = token(secret)
	o.Allow.Roots.AddCert(other.Certificate())
	files, _, err := get(patience(t), git.Remote{URL: first.URL + "/moved.git"}, o)
	must(t, err)
	same(t, read(t, files), smallFiles)
	if want := map[string]bool{"GET ": true, "POST ": true}; !maps.Equal(shown, want) {
		t.Errorf("the other host was shown %v", shown)
	}
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	insecure, _ := plain(t, http.NotFoundHandler())
	var server *httptest.Server
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{
			"/down": insecure.URL + "/r.git/info/refs", "/loop": server.URL + "/loop/info/refs",
			"/away": server.URL + "/login", "/login": "", "/metadata": "http://169.254.169.254/latest/info/refs",
			"/file": "file:///etc/passwd",
		}[strings.TrimSuffix(r.URL.Path, "/info/refs")]
		if to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	for _, http := range []bool{false, true} {
		o.Allow.HTTP = http
		for _, path := range []string{"/down", "/loop", "/away", "/metadata", "/file"} {
			_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + path}, o)
			refused(t, err, messages.CauseInvalidInput)
		}
	}
}

// A server that stops talking, before its headers or within the pack, holds up no cancel.
func TestCancelWhileTheServerStalls(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"big": noise(1 << 20)})))
	for _, c := range []struct {
		method string
		after  int
	}{{"GET", 0}, {"GET", 30}, {"POST", 0}, {"POST", 3}, {"POST", 100}, {"POST", 300 << 10}} {
		t.Run(fmt.Sprint(c.method, c.after), func(t *testing.T) {
			stalled := make(chan struct{})
			server, o := secure(t, stalling(backend(t, root), c.method, c.after, stalled))
			because := errors.New("the user left")
			ctx, cancel := context.WithCancelCause(patience(t))
			var left sync.WaitGroup
			left.Go(func() { <-stalled; cancel(because) })
			_, _, err := get(ctx, git.Remote{URL: server.URL + "/r.git"}, o)
			if !errors.Is(err, because) {
				t.Errorf("got %v", err)
			}
			left.Wait()
		})
	}
}

// stalling sends the first bytes of an answer, then nothing until the client has gone.
func stalling(next http.Handler, method string, after int, stalled chan<- struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			next.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		if after > 0 {
			maps.Copy(w.Header(), whole.Header())
			_, _ = w.Write(whole.Body.Bytes()[:after])
			_ = http.NewResponseController(w).Flush()
		}
		close(stalled)
		<-r.Context().Done()
	})
}

func TestLimits(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	files := map[string]string{"noise": noise(300 << 10), "zeros": strings.Repeat("\x00", 2<<20)}
	for i := range 30 {
		files[fmt.Sprintf("d%d/f", i)] = "x"
	}
	b.ref("refs/heads/master", b.commit(b.files(files)))
	server, o := secure(t, backend(t, root))
	remote := git.Remote{URL: server.URL + "/r.git"}
	for _, c := range []struct {
		limits git.Limits
		flag   string
	}{
		{git.Limits{WireBytes: 200 << 10}, "--max-download"},
		{git.Limits{WireBytes: 50}, "--max-download"},
		{git.Limits{UnpackedBytes: 2 << 20}, "--max-bytes"},
		{git.Limits{UnpackedBytes: 100 << 10}, "--max-bytes"},
		{git.Limits{Files: 61}, "--max-files"},
		{git.Limits{Files: 5}, "--max-files"},
	} {
		o.Limits = c.limits
		_, _, err := get(patience(t), remote, o)
		refused(t, err, messages.CauseLimitExceeded, c.flag)
	}
	o.Limits = git.Limits{WireBytes: 400 << 10, UnpackedBytes: 3 << 20, Files: 62}
	got, _, err := get(patience(t), remote, o)
	must(t, err)
	if _, err := got.Open("noise"); err != nil {
		t.Error(err)
	}
}

// Whatever bit flips on the way, the files are as they were or there is an error.
func TestDamageOnTheWay(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	serve := backend(t, root)
	damage := func([]byte) []byte { return nil }
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			serve.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder()
		serve.ServeHTTP(whole, r)
		maps.Copy(w.Header(), whole.Header())
		_, _ = w.Write(damage(whole.Body.Bytes()))
	}))
	remote := git.Remote{URL: server.URL + "/r.git"}
	head, err := git.Resolve(patience(t), remote, o)
	must(t, err)
	size := 0
	damage = func(text []byte) []byte { size = len(text); return text }
	_, err = git.Fetch(patience(t), remote, head, o, nil)
	must(t, err)
	step := 5
	if testing.Short() {
		step = 17
	}
	for at := 0; at < size; at += step {
		damage = func(text []byte) []byte { text[min(at, len(text)-1)] ^= 4; return text } // git writes some bytes more or less
		files, err := git.Fetch(patience(t), remote, head, o, nil)
		if err == nil {
			same(t, read(t, files), smallFiles)
		} else if messages.CodeOf(err) == "" {
			t.Errorf("flipped byte %d: %T %v", at, err, err)
		}
		damage = func(text []byte) []byte { return text[:min(at, len(text))] }
		if _, err := git.Fetch(patience(t), remote, head, o, nil); err == nil && at < size-25 {
			t.Errorf("cut at %d of %d: no error", at, size)
		} else if err != nil && messages.CodeOf(err) == "" {
			t.Errorf("cut at %d: %T %v", at, err, err)
		}
	}
}

// A connection that breaks is worth another try.
func TestConnectionsThatBreak(t *testing.T) {
	root := t.TempDir()
	b := build(t, root, "r.git")
	b.ref("refs/heads/master", b.commit(b.files(map[string]string{"big": noise(1 << 20)})))
	serve := backend(t, root)
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			serve.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder()
		serve.ServeHTTP(whole, r)
		maps.Copy(w.Header(), whole.Header())
		_, _ = w.Write(whole.Body.Bytes()[:500<<10])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	_, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git"}, o)
	refused(t, err, messages.CauseTransportClosed)
	if !retryable(err) {
		t.Errorf("%v is not retryable", err)
	}
}

// A server may name refs without end.
func TestRefsWithoutEnd(t *testing.T) {
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.Repeat("12", 20)
		fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%04x%s HEAD\x00shallow\n", 4+40+5+9, id)
		name := strings.Repeat("x", 1000)
		for i := 0; ; i++ {
			ref := fmt.Sprintf("%s refs/heads/%s%d\n", id, name, i)
			if _, err := fmt.Fprintf(w, "%04x%s", 4+len(ref), ref); err != nil {
				return
			}
		}
	}))
	_, err := git.Resolve(patience(t), git.Remote{URL: server.URL + "/r.git"}, o)
	refused(t, err, messages.CauseLimitExceeded, "branches and tags")
}

// A server that repeats the token, in whatever it says and however it spells it, does not bring it into an error.
func TestErrorsDoNotRepeatTheToken(t *testing.T) {
	const token = "t0ken/of-the+gardener"
	root := t.TempDir()
	_, commit := small(t, root, "r.git")
	good := backend(t, root)
	for name, said := range map[string]string{
		"plain": token, "URL": url.QueryEscape(token), "JSON": strings.ReplaceAll(token, "/", `\/`),
		"Basic":             base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token)),
		"at the cut":        strings.Repeat("x", 200-len(token)+2) + token,
		"with what is lost": token[:4] + "\xff" + token[4:],
	} {
		says := "ERR no " + said
		pkt := fmt.Sprintf("%04x%s", 4+len(says), says)
		answers := map[string]http.HandlerFunc{
			"refs": func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "001e# service=git-upload-pack\n0000%s", pkt)
			},
			"no refs": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, said) },
			"redirect": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://"+said+".example/"+said, http.StatusFound)
			},
			"pack": func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					good.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprint(w, pkt)
			},
			"progress": func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					good.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprintf(w, "0008NAK\n%04x\x03%s", 5+len(said), said)
			},
		}
		for at, answer := range answers {
			for scheme, serve := range map[string]func(*testing.T, http.Handler) (*httptest.Server, git.Options){
				"https": secure, "http": plain,
			} {
				server, o := serve(t, answer)
				o.Token = func(string) string { return token }
				_, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git", Ref: commit.String()}, o)
				if err == nil {
					t.Fatalf("%s, %s, %s: no error", scheme, at, name)
				}
				if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, said) || strings.Contains(text, token) ||
					strings.Contains(text, token[:len(token)-2]) {
					t.Errorf("%s, %s, %s: %v", scheme, at, name, err)
				}
			}
		}
	}
}

// The name that goes with a token is the caller's, where there is one.
func TestUserOfTheToken(t *testing.T) {
	root := t.TempDir()
	small(t, root, "r.git")
	good := backend(t, root)
	server, o := secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "mia" || password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		good.ServeHTTP(w, r)
	}))
	o.Token, o.User = token(secret), "mia"
	if _, _, err := get(patience(t), git.Remote{URL: server.URL + "/r.git"}, o); err != nil {
		t.Error(err)
	}
}
