package redact_test

import (
	"fmt"
	"net/url"
	"os"

	"github.com/seed889630bf/lastword/internal/redact"
)

// Secrets finds what a process was given, in whatever form others repeat it, and even where a text is cut.
func ExampleSecrets() {
	var secrets redact.Secrets
	secrets.Add("token", "s3cr3t/with+signs")
	fmt.Println(secrets.Text("GET /?key=" + url.QueryEscape("s3cr3t/with+signs")))

	out := secrets.Writer(os.Stdout) // a text that comes in pieces
	fmt.Fprint(out, "the token is s3cr3t/")
	fmt.Fprint(out, "with+signs, they say\n")
	_ = out.Close()
	// Output:
	// GET /?key=[token]
	// the token is [token], they say
}
