package main

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fill puts what a file holds, such as a commit, in place of COMMIT in the others.
//
//	fill FILE TARGET...
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fill file target...")
	}
	by := strings.TrimSpace(ts.ReadFile(args[0]))
	for _, name := range args[1:] {
		text := strings.ReplaceAll(ts.ReadFile(name), "COMMIT", by)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
	}
}

// serve gives a folder to whoever asks, until the script ends: what is below a .git as git does, the rest as files. The
// URL is in $URL; with -tls the certificate is in $SSL_CERT_FILE. With -token nobody without it is served.
//
//	serve [-tls] [-token TOKEN] FOLDER
func serve(ts *testscript.TestScript, neg bool, args []string) {
	start, token := httptest.NewServer, ""
	for len(args) > 1 {
		switch args[0] {
		case "-tls":
			start, args = httptest.NewTLSServer, args[1:]
		case "-token":
			token, args = args[1], args[2:]
		}
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve [-tls] [-token token] folder")
	}
	quiet := log.Writer()
	log.SetOutput(io.Discard) // clients that do not trust the certificate are no news here
	defer log.SetOutput(quiet)
	server := start(only(token, repositories(ts, ts.MkAbs(args[0]))))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
	if c := server.Certificate(); c != nil {
		name := ts.MkAbs(".certificate.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
		ts.Check(os.WriteFile(name, text, 0o666))
		ts.Setenv("SSL_CERT_FILE", name)
	}
}

func only(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token != "" && password != token && bearer != token {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func repositories(ts *testscript.TestScript, root string) http.Handler {
	path, err := exec.Command("git", "--exec-path").Output()
	ts.Check(err)
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Dir: root,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root,
			"REMOTE_USER="},
		Stderr: io.Discard, Logger: log.New(io.Discard, "", 0),
	}
	files := http.FileServer(http.Dir(root))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		repository, service, _ := strings.Cut(name, "/")
		if bare := filepath.Join(root, strings.TrimSuffix(repository, ".git")+".git"); service != "" && exists(bare) {
			r.URL.Path = "/" + filepath.Base(bare) + "/" + service
			backend.ServeHTTP(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
