package main

import (
	"encoding/pem"
	"flag"
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

// serve gives a folder to whoever asks, until the script ends: X.git as git does, whether or not the URL says .git,
// and the rest as files. The URL is in $URL; with -tls the certificate is in $SSL_CERT_FILE. With -token nobody
// without it is served.
//
//	serve [-tls] [-token TOKEN] FOLDER
func serve(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	tls, token := flags.Bool("tls", false, ""), flags.String("token", "", "")
	ts.Check(flags.Parse(args))
	if neg || flags.NArg() != 1 {
		ts.Fatalf("usage: serve [-tls] [-token token] folder")
	}
	handler, err := repositories(ts.MkAbs(flags.Arg(0)))
	ts.Check(err)
	server := httptest.NewUnstartedServer(only(*token, handler))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust the certificate are no news here
	if !*tls {
		server.Start()
	} else {
		server.StartTLS()
		name := ts.MkAbs(".certificate.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		ts.Check(os.WriteFile(name, text, 0o666))
		ts.Setenv("SSL_CERT_FILE", name)
	}
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
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

func repositories(root string) (http.Handler, error) {
	path, err := exec.Command("git", "--exec-path").Output()
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Dir: root,
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root},
		Stderr: io.Discard, Logger: log.New(io.Discard, "", 0),
	}
	files := http.FileServer(http.Dir(root))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, service := range []string{"/info/refs", "/git-upload-pack"} {
			if name, ok := strings.CutSuffix(r.URL.Path, service); ok {
				r.URL.Path = strings.TrimSuffix(name, ".git") + ".git" + service
				backend.ServeHTTP(w, r)
				return
			}
		}
		files.ServeHTTP(w, r)
	}), err
}
