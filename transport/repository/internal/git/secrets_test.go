package git_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

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
