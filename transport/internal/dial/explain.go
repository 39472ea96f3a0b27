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
	dns, named := errors.AsType[*net.DNSError](err)
	says, why := "the connection to %s failed: %s%s", err.Error()
	switch {
	case named && dns.IsNotFound:
		return messages.Errorf(messages.CauseTransportClosed,
			"there is no host %s, or no network to ask; check the spelling and the connection%s", host, hint())
	case named: // the resolver failed
		says, why = "the name %s could not be resolved: %s%s", dns.Err
	}
	failure := messages.Errorf(messages.CauseTransportClosed, says, host, words.Clip(words.OneLine(why), 300), hint())
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, roots := errors.AsType[x509.SystemRootsError](err)
	failure.Retryable = !certificate && !roots // another attempt would fail too
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
