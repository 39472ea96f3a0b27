package repository_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

func TestDocument(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/llms.txt":
			io.WriteString(w, "# Title\n")
		case "/large":
			io.WriteString(w, strings.Repeat("x", 11))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "# T")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	invalid, limit := messages.CauseInvalidInput, messages.CauseLimitExceeded
	here := repository.Allow{HTTP: true, Private: true}
	for _, test := range []struct {
		path  string
		allow repository.Allow
		text  string
		code  messages.Code
	}{
		{"/llms.txt", here, "# Title\n", ""},
		{"/none", here, "", invalid},
		{"/large", here, "", limit},
		{"/llms.txt", repository.Allow{Private: true}, "", invalid},
		{"/llms.txt", repository.Allow{HTTP: true}, "", invalid},
	} {
		text, err := repository.Document(t.Context(), server.URL+test.path, test.allow, 10)
		if string(text) != test.text || (err != nil || test.code != "") && messages.CodeOf(err) != test.code {
			t.Errorf("%s with %+v: %q, %v; want %q, %s", test.path, test.allow, text, err, test.text, test.code)
		}
	}
	if text, err := repository.Document(t.Context(), server.URL+"/cut", here, 1000); err == nil {
		t.Errorf("a document that was cut reads %q", text)
	}
}
