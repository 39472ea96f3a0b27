package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
)

// Explain turns an error of a connection or a [Policy.Client] into an error for users: the cause of ctx if ctx has
// ended; the [messages.Error] in err if there is one; or else an error with the code transport_closed that names the
// host. It returns nil for nil.
func Explain(ctx context.Context, host string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return known
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok { // its text would repeat the URL
		err = wrapped.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return explainName(host, dns)
	}
	failure := messages.Errorf(messages.CauseTransportClosed,
		"the connection to %s failed: %s%s", host, words.Clip(words.OneLine(err.Error()), 300), hint())
	failure.Retryable = !isCertificate(err)
	return failure
}

// explainName says whether the name does not exist or the resolver failed. Only the latter is retryable.
func explainName(host string, err *net.DNSError) error {
	if err.IsNotFound {
		return messages.Errorf(messages.CauseTransportClosed,
			"there is no host %s, or no network to ask; check the spelling and the connection%s", host, hint())
	}
	failure := messages.Errorf(messages.CauseTransportClosed,
		"the name %s could not be resolved: %s%s", host, words.Clip(words.OneLine(err.Err), 300), hint())
	failure.Retryable = true
	return failure
}

// hint tells users behind a proxy why a connection may fail.
func hint() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(name) != "" {
			return " (" + name + " is set; it is used with --allow-private only)"
		}
	}
	return ""
}

// isCertificate reports whether a certificate caused the error, so that another attempt would fail too.
func isCertificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.SystemRootsError](err)
	return ok
}
